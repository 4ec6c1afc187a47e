package rpc_test

import (
	"context"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/timestamppb"

	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// change is a change as each service shows it.
type change struct {
	id       int64
	kind     typev1.ChangeKind
	revision int64
	parts    *typev1.PartRevisions
	// isShown says that it has the resource, whose title or name is title.
	isShown bool
	title   string
}

// changePage is a page of changes, or a batch of a stream.
type changePage struct {
	changes []change
	next    string
	hasMore bool
}

// feed is the feed of changes of a service.
type feed struct {
	list func(token string, size int32, withResources bool) (changePage, error)
	// since is list with a start_time.
	since func(start time.Time, token string) (changePage, error)
	watch func(ctx context.Context, token string) (receive func() (changePage, error), err error)
	// create, change and remove write a resource with a title, or a name.
	create func(title string) int64
	change func(id int64, title string) error
	remove func(id int64) error
}

// feeds returns the feeds of all services.
func (w *waybook) feeds(ctx context.Context, owner int64) map[string]feed {
	users := w.users().feed(ctx)
	users.create = w.newUser
	users.change = func(id int64, title string) error {
		return failed(w.Account.UpdateUser(ctx, &accountv1.UpdateUserRequest{UserId: id, Name: &title}))
	}
	users.remove = func(id int64) error {
		if err := failed(w.Account.UpdateUser(ctx, &accountv1.UpdateUserRequest{UserId: id, Disabled: new(true)})); err != nil {
			return err
		}
		return failed(w.Account.DeleteUser(ctx, &accountv1.DeleteUserRequest{UserId: id}))
	}
	all := map[string]feed{"User": users}
	for _, k := range w.kinds() {
		f := k.feed(ctx)
		f.create = func(title string) int64 { return k.create(owner, title) }
		f.change = func(id int64, title string) error {
			return failed(k.send(ctx, "Update", fields{"actor_id": owner, "id": id, "title": title}))
		}
		f.remove = func(id int64) error { return failed(k.send(ctx, "Delete", fields{"actor_id": owner, "id": id})) }
		all[k.name] = f
	}
	return all
}

// feed returns the feed of a kind without writes.
func (k kind) feed(ctx context.Context) feed {
	included := protoreflect.Name("include_" + k.lower())
	return feed{
		since: func(start time.Time, token string) (changePage, error) {
			reply, err := k.send(ctx, "List%sChanges", fields{"start_time": timestamppb.New(start), "page_token": token})
			return changePage{k.changesIn(reply), read[string](reply, "next_page_token"), read[bool](reply, "has_more")}, err
		},
		list: func(token string, size int32, with bool) (changePage, error) {
			reply, err := k.send(ctx, "List%sChanges", fields{"page_token": token, "page_size": size, included: with})
			return changePage{k.changesIn(reply), read[string](reply, "next_page_token"), read[bool](reply, "has_more")}, err
		},
		watch: func(ctx context.Context, token string) (func() (changePage, error), error) {
			stream, err := k.stream(ctx, "Watch%sChanges", fields{"page_token": token, included: true})
			return func() (changePage, error) {
				batch := newMessage(k.method("Watch%sChanges").Output())
				err := stream.RecvMsg(batch)
				return changePage{changes: k.changesIn(batch), next: read[string](batch, "next_page_token")}, err
			}, err
		},
	}
}

func (k kind) changesIn(page proto.Message) (all []change) {
	name := k.lower()
	for _, each := range readAll[proto.Message](page, "changes") {
		shown := each.ProtoReflect().Descriptor().Fields().ByName(protoreflect.Name(name))
		all = append(all, change{
			read[int64](each, string(k.field("id"))), typev1.ChangeKind(read[protoreflect.EnumNumber](each, "kind")), read[int64](each, "revision"),
			read[*typev1.PartRevisions](each, "parts"), each.ProtoReflect().Has(shown), read[string](each, name+"."+string(k.title)),
		})
	}
	return all
}

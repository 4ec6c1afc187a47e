package rpc_test

import (
	"context"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	changev1 "github.com/waybook/waybook/proto/gen/waybook/change/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// feed lists the changes of a kind, and makes some.
type feed struct {
	kind typev1.Kind
	list func(token string, size int32) (*changev1.ListChangesResponse, error)
	// since is list with a start_time.
	since func(start time.Time, token string) (*changev1.ListChangesResponse, error)
	// create, change and remove write a resource with a title, or a name.
	create func(title string) int64
	change func(id int64, title string) error
	remove func(id int64) error
}

// changeTypes are the latest changes of resources, by their identifiers.
type changeTypes = map[int64]changev1.Change_Type

// catchUp returns the changes after a token until now, and a token after which nothing is listed again.
func (f feed) catchUp(t *testing.T, token string, size int32) (all changeTypes, next string) {
	t.Helper()
	all = changeTypes{}
	for isNew := true; isNew; time.Sleep(settling) {
		isNew = false
		for hasMore := true; hasMore; {
			page := must(f.list(token, size))(t)
			if size > 0 && len(page.GetChanges()) > int(size) || page.GetNextPageToken() == "" {
				t.Fatalf("a page of %d has %d changes and the token %q", size, len(page.GetChanges()), page.GetNextPageToken())
			}
			for _, each := range page.GetChanges() {
				all[each.GetId()], isNew = each.GetType(), true
			}
			token, hasMore = page.GetNextPageToken(), page.GetHasMore()
		}
	}
	return all, token
}

// feeds returns the feeds of all services.
func (w *waybook) feeds(ctx context.Context, owner int64) map[string]feed {
	users := w.feed(ctx, typev1.Kind_KIND_USER)
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
	for i, k := range w.kinds() {
		f := w.feed(ctx, []typev1.Kind{typev1.Kind_KIND_ALBUM, typev1.Kind_KIND_BLOG, typev1.Kind_KIND_POI}[i])
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
func (w *waybook) feed(ctx context.Context, kind typev1.Kind) feed {
	return feed{
		kind: kind,
		since: func(start time.Time, token string) (*changev1.ListChangesResponse, error) {
			return w.Change.ListChanges(ctx, &changev1.ListChangesRequest{Kind: kind, StartTime: timestamppb.New(start), PageToken: token})
		},
		list: func(token string, size int32) (*changev1.ListChangesResponse, error) {
			return w.Change.ListChanges(ctx, &changev1.ListChangesRequest{Kind: kind, PageToken: token, PageSize: size})
		},
	}
}

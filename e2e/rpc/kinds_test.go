package rpc_test

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	commentv1 "github.com/waybook/waybook/proto/gen/waybook/comment/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// Kinds of resources.
const (
	aUser     = typev1.Kind_KIND_USER
	anAlbum   = typev1.Kind_KIND_ALBUM
	anEntry   = typev1.Kind_KIND_BLOG
	aLandmark = typev1.Kind_KIND_POI
)

// kind is one of albums, entries and landmarks. Their RPCs have one shape, so a test calls them by the
// names that they share. A kind of users has only what the services of content have in common with
// AccountService.
type kind struct {
	w *waybook
	// of is its number in the contracts.
	of typev1.Kind
	// service, name and plural are as in album.CreateAlbum and ListAlbums.
	service, name, plural string
	// owner, title and category are the fields that differ between the kinds.
	owner, title, category protoreflect.Name
	missing                string
	methods                map[string]protoreflect.MethodDescriptor
}

// kinds returns albums, entries and landmarks.
func (w *waybook) kinds() []kind {
	methods := everyMethod()
	return []kind{
		{w, anAlbum, "album", "Album", "Albums", "owner_id", "title", "category", "ALBUM_NOT_FOUND", methods},
		{w, anEntry, "blog", "Blog", "Blogs", "author_id", "title", "type", "BLOG_NOT_FOUND", methods},
		{w, aLandmark, "poi", "Poi", "Pois", "owner_id", "name", "category", "POI_NOT_FOUND", methods},
	}
}

// users returns the kind of users.
func (w *waybook) users() kind {
	return kind{w: w, of: aUser, service: "account", name: "User", plural: "Users", title: "name", missing: "USER_NOT_FOUND", methods: everyMethod()}
}

// hasPhotos reports whether content of the kind has photos.
func (k kind) hasPhotos() bool { return k.name != "Blog" }

// fields are values of fields of a message. The names id, after, owner, title and category stand for
// the field of each kind. A pointer to an identifier is the identifier that it points to when it is sent.
type fields map[protoreflect.Name]any

// and returns fields with others, which win.
func (f fields) and(others fields) fields {
	all := maps.Clone(f)
	maps.Copy(all, others)
	return all
}

func (k kind) field(name protoreflect.Name) protoreflect.Name {
	switch name {
	case "id", "ids":
		return protoreflect.Name(k.lower()+"_") + name
	case "after":
		return "after_" + k.field("id")
	case "owner":
		return k.owner
	case "title":
		return k.title
	case "category":
		return k.category
	}
	return name
}

// method returns a method by its name, which may lack the name of the kind: Get is GetAlbum, and List
// is ListAlbums. Comments, photos and recommendations have services of their own.
func (k kind) method(name string) protoreflect.MethodDescriptor {
	for _, whole := range []string{name, name + k.name, name + k.plural, fmt.Sprintf(name, k.name)} {
		for _, service := range []string{k.service, "comment", "photo", "recommendation"} {
			if found := k.methods[service+"."+whole]; found != nil {
				return found
			}
		}
	}
	panic(k.service + " has no " + name)
}

func (k kind) request(method string, values fields) proto.Message {
	request := newMessage(k.method(method).Input())
	k.set(request, values)
	return request
}

// set sets fields of a message.
func (k kind) set(message proto.Message, values fields) {
	to := message.ProtoReflect()
	for name, value := range values {
		field := to.Descriptor().Fields().ByName(k.field(name))
		if field == nil {
			panic(fmt.Sprint(to.Descriptor().FullName(), " has no ", k.field(name)))
		}
		switch value := value.(type) {
		case proto.Message:
			to.Set(field, protoreflect.ValueOfMessage(value.ProtoReflect()))
		case []int64:
			for _, each := range value {
				to.Mutable(field).List().Append(protoreflect.ValueOfInt64(each))
			}
		case *int64:
			to.Set(field, protoreflect.ValueOfInt64(*value))
		case int:
			to.Set(field, protoreflect.ValueOfEnum(protoreflect.EnumNumber(value)))
		default:
			to.Set(field, protoreflect.ValueOf(value))
		}
	}
}

// send calls a method that has one reply.
func (k kind) send(ctx context.Context, method string, values fields) (proto.Message, error) {
	called := k.method(method)
	reply := newMessage(called.Output())
	path := fmt.Sprintf("/%s/%s", called.Parent().FullName(), called.Name())
	return reply, k.w.Connection.Invoke(ctx, path, k.request(method, values), reply)
}

// calling returns a call of a method, whose replies it reads to the end.
func (k kind) calling(method string, values fields) func(context.Context) error {
	return func(ctx context.Context) error { return k.w.call(ctx, k.method(method), k.request(method, values)) }
}

// valid returns the fields of a valid Create, with changes.
func (k kind) valid(owner int64, title string, changes fields) fields {
	values := fields{"owner": owner, "title": title, "category": 1, "location": taipei}
	if k.name == "Blog" {
		entry := newBlogRequest(owner)
		values["category"], values["content"], values["post_date"] = int(entry.GetType()), entry.GetContent(), entry.GetPostDate()
		values["weather"], values["vote"] = int(blogv1.Weather_WEATHER_RAINBOW), entry.GetVote()
	}
	return values.and(changes)
}

// create creates content and returns its identifier.
func (k kind) create(owner int64, title string) int64 {
	k.w.t.Helper()
	return k.createWith(owner, title, nil)
}

// createWith creates content with some fields, and returns its identifier.
func (k kind) createWith(owner int64, title string, changes fields) int64 {
	k.w.t.Helper()
	return k.idIn(must(k.send(k.w.t.Context(), "Create", k.valid(owner, title, changes)))(k.w.t))
}

// get returns the reply of a Get.
func (k kind) get(id int64) proto.Message {
	k.w.t.Helper()
	return must(k.send(k.w.t.Context(), "Get", fields{"id": id}))(k.w.t)
}

// lower is the field of the resource in a reply, and lowers that of several.
func (k kind) lower() string  { return strings.ToLower(k.name) }
func (k kind) lowers() string { return strings.ToLower(k.plural) }

// shown returns the resource that a Get shows.
func (k kind) shown(id int64) proto.Message {
	k.w.t.Helper()
	return read[proto.Message](k.get(id), k.lower())
}

// idIn returns the identifier of the resource in a reply.
func (k kind) idIn(reply proto.Message) int64 {
	return read[int64](reply, k.lower()+"."+string(k.field("id")))
}

// by is the field of the profile of the owner, which a resource shows.
func (k kind) by() string { return strings.TrimSuffix(string(k.owner), "_id") }

// page returns a list of a method: items is the field of its replies, and id the path in an item.
func (k kind) page(method string, values fields, items, id string) page {
	return func(ctx context.Context, size int32, token string) ([]int64, string, error) {
		reply, err := k.send(ctx, method, fields{"page_size": size, "page_token": token}.and(values))
		return idsOf(readAll[proto.Message](reply, items), func(item proto.Message) int64 { return read[int64](item, id) }),
			read[string](reply, "next_page_token"), err
	}
}

// read returns what a message has at a path of fields, such as photo.photo_id.
func read[T any](from proto.Message, path string) T {
	at := protoreflect.ValueOfMessage(from.ProtoReflect())
	for name := range strings.SplitSeq(path, ".") {
		at = at.Message().Get(at.Message().Descriptor().Fields().ByName(protoreflect.Name(name)))
	}
	return valueAs[T](at)
}

// readAll returns the elements of a list at a path.
func readAll[T any](from proto.Message, path string) (all []T) {
	list := read[protoreflect.List](from, path)
	for i := range list.Len() {
		all = append(all, valueAs[T](list.Get(i)))
	}
	return all
}

func valueAs[T any](value protoreflect.Value) T {
	if message, ok := value.Interface().(protoreflect.Message); ok {
		return message.Interface().(T)
	}
	return value.Interface().(T)
}

func TestContentFailsAsTheContractsSay(t *testing.T) {
	t.Parallel()
	w := start(t)
	owner, other, third := w.newUser("a"), w.newUser("b"), w.newUser("c")
	for _, k := range w.kinds() {
		t.Run(k.service, func(t *testing.T) {
			id, elsewhere := k.create(owner, "x"), k.create(owner, "y")
			unknown := int64(1)
			added := must(k.send(t.Context(), "AddComment", fields{"author_id": other, "id": elsewhere, "text": "t"}))(t)
			written := read[*commentv1.Comment](added, "comment")
			comment := written.GetCommentId()
			if written.GetAuthor().GetName() != "b" || written.GetText() != "t" || written.GetReply() != nil {
				t.Errorf("added %v", written)
			}
			addComment := func(author, id int64) func(context.Context) error {
				return k.calling("AddComment", fields{"author_id": author, "id": id, "text": "t"})
			}
			reply := func(actor, id, comment int64) func(context.Context) error {
				return k.calling("ReplyToComment", fields{"actor_id": actor, "id": id, "comment_id": comment, "text": "t"})
			}
			removeComment := func(actor, id, comment int64) func(context.Context) error {
				return k.calling("RemoveComment", fields{"actor_id": actor, "id": id, "comment_id": comment})
			}
			expectFailures(t, []failure{
				{"Create for an unknown user", k.calling("Create", k.valid(unknown, "x", nil)), codes.NotFound, "USER_NOT_FOUND"},
				{"Update of unknown content", k.calling("Update", fields{"actor_id": owner, "id": unknown, "title": "z"}), codes.NotFound, k.missing},
				{"Update by another user", k.calling("Update", fields{"actor_id": other, "id": id, "title": "z"}), codes.PermissionDenied, "NOT_OWNER"},
				{"Delete of unknown content", k.calling("Delete", fields{"actor_id": owner, "id": unknown}), codes.NotFound, k.missing},
				{"Delete by another user", k.calling("Delete", fields{"actor_id": other, "id": id}), codes.PermissionDenied, "NOT_OWNER"},
				{"Get of unknown content", k.calling("Get", fields{"id": unknown}), codes.NotFound, k.missing},
				{"AddComment to unknown content", addComment(owner, unknown), codes.NotFound, k.missing},
				{"AddComment by an unknown user", addComment(unknown, id), codes.NotFound, "USER_NOT_FOUND"},
				{"ReplyToComment in unknown content", reply(owner, unknown, comment), codes.NotFound, k.missing},
				{"ReplyToComment by its author", reply(other, elsewhere, comment), codes.PermissionDenied, "NOT_OWNER"},
				{"ReplyToComment to an unknown comment", reply(owner, id, unknown), codes.NotFound, "COMMENT_NOT_FOUND"},
				{"ReplyToComment in other content", reply(owner, id, comment), codes.NotFound, "COMMENT_NOT_FOUND"},
				{"RemoveComment from unknown content", removeComment(owner, unknown, comment), codes.NotFound, k.missing},
				{"RemoveComment by a third user", removeComment(third, elsewhere, comment), codes.PermissionDenied, "NOT_OWNER"},
				{"RemoveComment of an unknown comment", removeComment(owner, id, unknown), codes.NotFound, "COMMENT_NOT_FOUND"},
				{"RemoveComment of another content's", removeComment(owner, id, comment), codes.NotFound, "COMMENT_NOT_FOUND"},
				{"ListComments of unknown content", k.calling("ListComments", fields{"id": unknown}), codes.NotFound, k.missing},
				{"Recommend unknown content", k.calling("Recommend", fields{"user_id": owner, "id": unknown}), codes.NotFound, k.missing},
				{"Recommend by an unknown user", k.calling("Recommend", fields{"user_id": unknown, "id": elsewhere}), codes.NotFound, "USER_NOT_FOUND"},
				{"Withdraw from unknown content", k.calling("Withdraw", fields{"user_id": owner, "id": unknown}), codes.NotFound, k.missing},
				{"ListRecommenders of unknown content", k.calling("ListRecommenders", fields{"id": unknown}), codes.NotFound, k.missing},
			})
			if k.name != "Poi" {
				expectFailures(t, []failure{
					{"List of an unknown user", k.calling("List", fields{"owner": unknown}), codes.NotFound, "USER_NOT_FOUND"},
					{"List of summaries of an unknown user", k.calling("List", fields{"owner": unknown, "view": 1}), codes.NotFound, "USER_NOT_FOUND"},
				})
			}
			if k.hasPhotos() {
				k.expectPhotoFailures(t, owner, other, id, elsewhere)
			}
			after := k.get(elsewhere)
			comments := readAll[*commentv1.Comment](after, "comments")
			if len(comments) != 1 || comments[0].GetReply() != nil || read[int64](after, k.lower()+".score") != 0 || k.hasPhotos() && len(readAll[proto.Message](after, "photos")) != 1 {
				t.Errorf("a failed call changed %v", after)
			}
		})
	}
}

func (k kind) expectPhotoFailures(t *testing.T, owner, other, id, elsewhere int64) {
	t.Helper()
	unknown := int64(1)
	photo := read[int64](must(k.send(t.Context(), "AddPhoto", fields{"actor_id": owner, "id": elsewhere, "url": "p"}))(t), "photo.photo_id")
	failures := []failure{
		{"AddPhoto to unknown content", k.calling("AddPhoto", fields{"actor_id": owner, "id": unknown, "url": "p"}), codes.NotFound, k.missing},
		{"AddPhoto by another user", k.calling("AddPhoto", fields{"actor_id": other, "id": id, "url": "p"}), codes.PermissionDenied, "NOT_OWNER"},
		{"ListPhotos of unknown content", k.calling("ListPhotos", fields{"id": unknown}), codes.NotFound, k.missing},
	}
	for _, method := range []string{"UpdatePhoto", "RemovePhoto"} {
		call := func(actor, id, photo int64) func(context.Context) error {
			return k.calling(method, fields{"actor_id": actor, "id": id, "photo_id": photo})
		}
		failures = append(failures,
			failure{method + " of unknown content", call(owner, unknown, photo), codes.NotFound, k.missing},
			failure{method + " by another user", call(other, elsewhere, photo), codes.PermissionDenied, "NOT_OWNER"},
			failure{method + " of an unknown photo", call(owner, id, unknown), codes.NotFound, "PHOTO_NOT_FOUND"},
			failure{method + " of another content's", call(owner, id, photo), codes.NotFound, "PHOTO_NOT_FOUND"})
	}
	expectFailures(t, failures)
}

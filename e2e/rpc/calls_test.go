package rpc_test

import (
	"context"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	moveinv1 "github.com/waybook/waybook/proto/gen/waybook/movein/v1"
	photov1 "github.com/waybook/waybook/proto/gen/waybook/photo/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	_ "github.com/waybook/waybook/proto/gen/waybook/store/v1" // registers its contract
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// everyCall returns a call of each RPC of the services, with a valid request about existing
// content. It reads the RPCs from the contracts. Names are those of everyTarget.
func (w *waybook) everyCall(user, album, blog, poi int64) map[string]func(context.Context) error {
	calls := map[string]func(context.Context) error{}
	for name, of := range everyTarget() {
		request := of.validRequest(user, album, blog, poi)
		calls[name] = func(ctx context.Context) error { return w.call(ctx, of.MethodDescriptor, request) }
	}
	return calls
}

// target is a method with the kind of content that a request is about, if the contract is shared: album, blog or poi.
type target struct {
	protoreflect.MethodDescriptor
	parent string
}

// everyTarget returns the methods of the services, those of shared contracts once for each kind of content. Names
// are as in album.GetAlbum and "comment.AddComment of album".
func everyTarget() map[string]target {
	all := map[string]target{}
	for name, method := range everyMethod() {
		fields := method.Input().Fields()
		isShared := fields.ByName("kind") != nil || strings.HasPrefix(name, "movein.")
		for _, parent := range []string{"album", "blog", "poi"} {
			if field := fields.ByName(protoreflect.Name(parent + "_id")); isShared || field != nil && isChoice(field) {
				all[name+" of "+parent] = target{method, parent}
			}
		}
		if all[name+" of album"].MethodDescriptor == nil {
			all[name] = target{method, ""}
		}
	}
	return all
}

// isChoice reports whether a field is one of several of which a message has one.
func isChoice(field protoreflect.FieldDescriptor) bool {
	return field.ContainingOneof() != nil && !field.ContainingOneof().IsSynthetic()
}

// has reports whether requests of a target have a field: of those that name the parent, they have one.
func (t target) has(field protoreflect.FieldDescriptor) bool {
	return !isChoice(field) || string(field.Name()) == t.parent+"_id"
}

// kind returns the kind of the content.
func (t target) kind() typev1.Kind {
	return typev1.Kind(typev1.Kind_value["KIND_"+strings.ToUpper(t.parent)])
}

// everyMethod returns the methods of the services.
func everyMethod() map[string]protoreflect.MethodDescriptor {
	all := map[string]protoreflect.MethodDescriptor{}
	for _, service := range services {
		found, err := protoregistry.GlobalFiles.FindDescriptorByName(protoreflect.FullName(service))
		if err != nil {
			panic(err)
		}
		methods := found.(protoreflect.ServiceDescriptor).Methods()
		for i := range methods.Len() {
			all[strings.Split(service, ".")[1]+"."+string(methods.Get(i).Name())] = methods.Get(i)
		}
	}
	return all
}

// call calls a method of any kind, and reads all its replies.
func (w *waybook) call(ctx context.Context, method protoreflect.MethodDescriptor, request proto.Message) error {
	raw, err := proto.Marshal(request)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	return w.send(ctx, method, raw)
}

func newMessage(of protoreflect.MessageDescriptor) proto.Message {
	found, err := protoregistry.GlobalTypes.FindMessageByName(of.FullName())
	if err != nil {
		panic(err)
	}
	return found.New().Interface()
}

// validRequest returns a request of a method about existing content: every field whose name has
// a value here, or a request of its own for the few methods that need one.
func (t target) validRequest(user, album, blog, poi int64) proto.Message {
	switch t.Name() {
	case "Authenticate":
		return &accountv1.AuthenticateRequest{Email: "x@waybook.example", Password: "x", ClientAddress: "x"}
	case "RegisterUser":
		return &accountv1.RegisterUserRequest{Name: "x", Email: "new@waybook.example", Password: "long enough", Invitation: "x"}
	case "ChangePassword":
		return &accountv1.ChangePasswordRequest{ActorId: user, Token: strings.Repeat("0", 32), OldPassword: "x", NewPassword: "long enough"}
	case "DeleteUser": // of one who is gone, because a user has to be disabled before
		return &accountv1.DeleteUserRequest{UserId: 1}
	case "CreateBlog":
		return newBlogRequest(user)
	case "GrantRewards":
		return &accountv1.GrantRewardsRequest{Grants: []*accountv1.Grant{{UserId: user, Source: "blog/1", Amount: 1}}}
	case "MoveIn":
		record := map[string]string{"album": "album", "blog": "entry", "poi": "landmark"}[t.parent]
		return &moveinv1.MoveInRequest{Records: whole(record, "1", user, 1)}
	case "ResolveOldIds":
		return &moveinv1.ResolveOldIdsRequest{OldIds: []*moveinv1.OldIdentifier{{Kind: t.kind(), OldId: "x"}}}
	case "Upload":
		return &photov1.UploadRequest{Part: &photov1.UploadRequest_Start{Start: ofAlbum(user, album)}}
	case "UploadIcon":
		return &accountv1.UploadIconRequest{Part: &accountv1.UploadIconRequest_Start{Start: &accountv1.UploadIconStart{ActorId: user}}}
	case "ImportPois":
		return batchOf(user, importedPoi("x", "x"))
	case "SearchNearby":
		request := newMessage(t.Input()).ProtoReflect()
		around := request.Descriptor().Fields().ByName("circle")
		center := request.NewField(around)
		center.Message().Set(around.Message().Fields().ByName("center"), protoreflect.ValueOfMessage(taipei.ProtoReflect()))
		request.Set(around, center)
		return request.Interface()
	case "ListAlbums":
		return &albumv1.ListAlbumsRequest{OwnerId: user}
	case "ListBlogs":
		return &blogv1.ListBlogsRequest{AuthorId: user}
	case "ListPois":
		return &poiv1.ListPoisRequest{Category: poiv1.PoiCategory_POI_CATEGORY_TENDER}
	}
	values := map[protoreflect.Name]any{
		"user_id": user, "owner_id": user, "author_id": user, "actor_id": user, "voter_id": user,
		"album_id": album, "blog_id": blog, "poi_id": poi, "photo_id": int64(1), "comment_id": int64(1),
		"name": "x", "title": "x", "text": "x", "url": "x", "key": "x", "kind": t.kind().Number(),
		"token": strings.Repeat("0", 32), "choice": int32(1), "icon": int64(1),
		"sha256": make([]byte, 32), "size": photov1.PhotoSize_PHOTO_SIZE_VIEW.Number(),
	}
	request := newMessage(t.Input()).ProtoReflect()
	fields := request.Descriptor().Fields()
	for i := range fields.Len() {
		field := fields.Get(i)
		switch value, has := values[field.Name()]; {
		case has && t.has(field):
			request.Set(field, protoreflect.ValueOf(value))
		case field.IsList() && strings.HasSuffix(string(field.Name()), "_ids"):
			one := values[protoreflect.Name(strings.TrimSuffix(string(field.Name()), "s"))]
			request.Mutable(field).List().Append(protoreflect.ValueOf(one))
		case field.Name() == "location":
			request.Set(field, protoreflect.ValueOfMessage(taipei.ProtoReflect()))
		case field.Name() == "category":
			request.Set(field, protoreflect.ValueOfEnum(1))
		}
	}
	return request.Interface()
}

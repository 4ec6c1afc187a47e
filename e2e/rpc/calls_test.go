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
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	_ "github.com/waybook/waybook/proto/gen/waybook/store/v1" // registers its contract
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// everyCall returns a call of each RPC of the services, with a valid request about existing
// content. It reads the RPCs from the contracts. Names consist of the service's package and the
// method.
func (w *waybook) everyCall(user, album, blog, poi int64) map[string]func(context.Context) error {
	calls := map[string]func(context.Context) error{}
	for name, method := range everyMethod() {
		request := validRequest(method, user, album, blog, poi)
		calls[name] = func(ctx context.Context) error { return w.call(ctx, method, request) }
	}
	return calls
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

// call calls a method of any kind, and reads all its replies; of one that watches, the first.
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
func validRequest(method protoreflect.MethodDescriptor, user, album, blog, poi int64) proto.Message {
	switch method.Name() {
	case "Authenticate":
		return &accountv1.AuthenticateRequest{Email: "x@waybook.example", Password: "x", ClientAddress: "x"}
	case "VerifySessions":
		return &accountv1.VerifySessionsRequest{Sessions: []*accountv1.VerifySessionRequest{{UserId: user, Token: strings.Repeat("0", 32)}}}
	case "FindUsers":
		return &accountv1.FindUsersRequest{By: &accountv1.FindUsersRequest_NamePrefix{NamePrefix: "x"}}
	case "DeleteUser": // of one who is gone, because a user has to be disabled before
		return &accountv1.DeleteUserRequest{UserId: 1}
	case "CreateBlog":
		return newBlogRequest(user)
	case "MoveIn":
		return &moveinv1.MoveInRequest{Records: whole("album", "1", user, 1)}
	case "ResolveOldIds":
		request := newMessage(method.Input()).ProtoReflect()
		oldIDs := request.Mutable(request.Descriptor().Fields().ByName("old_ids")).List()
		oldIDs.Append(protoreflect.ValueOfMessage((&typev1.OldIdentifier{Kind: typev1.Identifies_IDENTIFIES_CONTENT, OldId: "x"}).ProtoReflect()))
		return request.Interface()
	case "ImportPois":
		return batchOf(user, importedPoi("x", "x"))
	case "SearchNearby":
		request := newMessage(method.Input()).ProtoReflect()
		around := request.Descriptor().Fields().ByName("circle")
		center := request.NewField(around)
		center.Message().Set(around.Message().Fields().ByName("center"), protoreflect.ValueOfMessage(taipei.ProtoReflect()))
		request.Set(around, center)
		return request.Interface()
	case "ListAlbumsInBox":
		return &albumv1.ListAlbumsInBoxRequest{Box: &typev1.Box{South: 20, West: 120, North: 30, East: 130}}
	case "ListBlogsInBox":
		return &blogv1.ListBlogsInBoxRequest{Box: &typev1.Box{South: 20, West: 120, North: 30, East: 130}}
	case "ListPoisInBox":
		return &poiv1.ListPoisInBoxRequest{Box: &typev1.Box{South: 20, West: 120, North: 30, East: 130}}
	}
	values := map[protoreflect.Name]any{
		"user_id": user, "owner_id": user, "author_id": user, "actor_id": user, "voter_id": user,
		"album_id": album, "blog_id": blog, "poi_id": poi, "photo_id": int64(1), "comment_id": int64(1),
		"name": "x", "title": "x", "text": "x", "thumbnail_url": "x", "photo_url": "x", "key": "x",
		"token": strings.Repeat("0", 32), "choice": int32(1), "source": "blog/1", "amount": int64(1),
		"sha256": make([]byte, 32),
	}
	request := newMessage(method.Input()).ProtoReflect()
	fields := request.Descriptor().Fields()
	for i := range fields.Len() {
		field := fields.Get(i)
		switch value, has := values[field.Name()]; {
		case has:
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

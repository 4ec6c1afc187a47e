package rpc_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/waybook/waybook/internal/docstore"
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

// For any request, each RPC succeeds or fails with a stable reason that is not a server error. The
// second message is for RPCs that receive several.
func FuzzNoRequestIsTheServicesFault(f *testing.F) {
	w := start(f, settleFast)
	user := w.newUser("小旅人")
	ids := []int64{user, w.newAlbum(user, "x"), w.newBlog(user), w.newPoi(user, "x"), 0, -1, tooHigh}
	var methods []protoreflect.MethodDescriptor
	all := everyTarget()
	for i, name := range slices.Sorted(maps.Keys(all)) {
		methods = append(methods, all[name].MethodDescriptor)
		for _, id := range ids {
			raw := must(proto.Marshal(all[name].validRequest(id, id, id, id)))(f)
			f.Add(uint8(i), raw, raw)
			f.Add(uint8(i), []byte{}, raw)
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, first, second []byte) {
		method := methods[int(which)%len(methods)]
		for _, raw := range [][]byte{first, second} {
			if proto.Unmarshal(raw, dynamicpb.NewMessage(method.Input())) != nil {
				return // gRPC itself rejects it
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		messages := [][]byte{first, second}
		if !method.IsStreamingClient() {
			messages = messages[:1]
		}
		err := w.send(ctx, method, messages...)
		answer := status.Convert(err)
		switch answer.Code() {
		case codes.OK:
		case codes.InvalidArgument, codes.NotFound, codes.AlreadyExists, codes.PermissionDenied, codes.Unauthenticated,
			codes.FailedPrecondition, codes.ResourceExhausted, codes.Aborted:
			if len(answer.Details()) == 0 {
				t.Errorf("%s fails without a reason: %v", method.FullName(), err)
			}
		default:
			t.Errorf("%s: %v", method.FullName(), err)
		}
	})
}

// asIs is a codec that sends bytes unchanged and ignores received ones.
type asIs struct{}

// Name returns the name of the encoding of the bytes.
func (asIs) Name() string { return "proto" }

// Marshal returns the bytes unchanged.
func (asIs) Marshal(message any) ([]byte, error) { return message.([]byte), nil }

// Unmarshal ignores the reply.
func (asIs) Unmarshal([]byte, any) error { return nil }

// send calls a method and reads its replies to the end, or one of a method that watches.
func (w *waybook) send(ctx context.Context, method protoreflect.MethodDescriptor, messages ...[]byte) error {
	path := "/" + string(method.Parent().FullName()) + "/" + string(method.Name())
	description := &grpc.StreamDesc{ServerStreams: true, ClientStreams: method.IsStreamingClient()}
	stream, err := w.Connection.NewStream(ctx, description, path, grpc.ForceCodec(asIs{}))
	if err != nil {
		return err
	}
	for _, message := range messages {
		if err := stream.SendMsg(message); err != nil {
			break // RecvMsg returns the cause
		}
	}
	if err := stream.CloseSend(); err != nil {
		return err
	}
	for {
		if err := stream.RecvMsg(nil); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if strings.HasPrefix(string(method.Name()), "Watch") {
			return nil // it would go on for minutes
		}
	}
}

func TestEveryCallReportsABrokenStoreWithoutItsMessage(t *testing.T) {
	t.Parallel()
	p := startParts(t)
	user := p.newUser("a")
	calls := p.everyCall(user, p.newAlbum(user, "x"), p.newBlog(user), p.newPoi(user, "x"))
	for name, broken := range map[string]struct {
		cause  error
		code   codes.Code
		reason string
	}{
		"unavailable": {
			fmt.Errorf("%w: bolt: page 17 of /tmp/waybook.db", docstore.ErrUnavailable),
			codes.Unavailable, "STORE_UNAVAILABLE",
		},
		"conflict": {
			fmt.Errorf("%w: mongo: WriteConflict", docstore.ErrConflict),
			codes.Aborted, "CONFLICT",
		},
		"something else": {
			errors.New("bolt: page 17 of /tmp/waybook.db is torn"),
			codes.Internal, "INTERNAL",
		},
	} {
		p.store.fail(broken.cause)
		t.Run(name, func(t *testing.T) {
			for call, run := range calls {
				if call == "account.GetRegistration" { // a setting, which asks no store
					continue
				}
				t.Run(call, func(t *testing.T) {
					t.Parallel() // some calls pause between their tries
					isOwners := []string{"album.DeleteAlbum", "photo.AddPhoto of album", "photo.AddPhoto of poi", "album.UpdateAlbum", "blog.UpdateBlog", "poi.UpdatePoi"}
					if name == "conflict" && slices.Contains(isOwners, call) { // the store says that another owns it
						expectFault(t, run(t.Context()), codes.PermissionDenied, "NOT_OWNER")
						return
					}
					expectFault(t, run(t.Context()), broken.code, broken.reason)
				})
			}
		})
	}
	// After the store works again, every call works too. Calls that delete run last.
	p.store.fail(nil)
	names := slices.SortedFunc(maps.Keys(calls), func(a, b string) int { return deletes(a) - deletes(b) })
	for _, call := range names {
		switch err := calls[call](t.Context()); status.Code(err) {
		case codes.OK, codes.NotFound, codes.Unauthenticated: // photo 1 and that session do not exist
		case codes.PermissionDenied:
			if call != "account.RegisterUser" { // nor does that invitation
				t.Errorf("%s: %v", call, err)
			}
		case codes.FailedPrecondition:
			if call != "photo.Upload" && call != "account.UploadIcon" { // this store has no place for files
				t.Errorf("%s: %v", call, err)
			}
		default:
			t.Errorf("%s: %v", call, err)
		}
	}
}

// deletes orders calls: it returns 1 for calls that delete content.
func deletes(call string) int {
	if strings.Contains(call, ".Delete") {
		return 1
	}
	return 0
}

func TestASeparateServerRefusesTheContentOfOthers(t *testing.T) {
	t.Parallel()
	p := startParts(t)
	user := p.newUser("a")
	ids := map[string]int64{"album": p.newAlbum(user, "x"), "blog": p.newBlog(user), "poi": p.newPoi(user, "x")}
	p.moveAll(1, user)
	for _, one := range p.Services {
		w, of := &waybook{p.Apart(one), t}, one.Parts().Kind
		for name, to := range everyTarget() {
			if to.parent == "" {
				continue
			}
			t.Run(of.String()+" gets "+name, func(t *testing.T) {
				err := w.call(t.Context(), to.MethodDescriptor, to.validRequest(user, ids["album"], ids["blog"], ids["poi"]))
				method, hasNoPhotos := string(to.Name()), of == aUser || of == anEntry
				switch {
				case of == aUser && !strings.HasPrefix(name, "movein.") || hasNoPhotos && strings.HasPrefix(name, "photo."):
					if status.Code(err) != codes.Unimplemented {
						t.Errorf("got %v", err)
					}
				case to.kind() == of:
					if code := status.Code(err); code != codes.OK && code != codes.NotFound { // there is no photo 1
						t.Errorf("got %v", err)
					}
				default:
					field := to.parent + "_id"
					switch method {
					case "ListCommentsByAuthor", "ListChanges":
						field = "kind"
					case "ResolveOldIds":
						field = "old_ids[0]"
					case "MoveIn":
						field = "records[0]"
					}
					expectFault(t, err, codes.InvalidArgument, "INVALID_PARAMETER", field)
				}
			})
		}
	}
}

package service

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"sync/atomic"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/waybook/waybook/internal/parent"
	"github.com/waybook/waybook/internal/platform/apierror"
	changev1 "github.com/waybook/waybook/proto/gen/waybook/change/v1"
	commentv1 "github.com/waybook/waybook/proto/gen/waybook/comment/v1"
	moveinv1 "github.com/waybook/waybook/proto/gen/waybook/movein/v1"
	photov1 "github.com/waybook/waybook/proto/gen/waybook/photo/v1"
	recommendationv1 "github.com/waybook/waybook/proto/gen/waybook/recommendation/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// Parts are what a service serves of the contracts that it shares with others, for one kind of
// resource. A contract that it does not serve is nil.
type Parts struct {
	Kind            typev1.Kind
	Comments        commentv1.CommentServiceServer
	Photos          photov1.PhotoServiceServer
	Recommendations recommendationv1.RecommendationServiceServer
	Changes         changev1.ChangeServiceServer
	Records         moveinv1.MoveInServiceServer
	// Resolver resolves the old identifiers in requests.
	Resolver Resolver
}

// Register registers services, and each contract that several of them share once: it gives a
// request to the service that has what the request names.
func Register(registrar grpc.ServiceRegistrar, services ...Service) {
	all := make(kinds, len(services))
	for _, each := range services {
		each.Register(registrar)
		parts := each.Parts()
		all[parts.Kind] = parts
	}
	all.route(registrar, commentv1.CommentService_ServiceDesc, func(p Parts) any { return p.Comments })
	all.route(registrar, photov1.PhotoService_ServiceDesc, func(p Parts) any { return p.Photos })
	all.route(registrar, recommendationv1.RecommendationService_ServiceDesc,
		func(p Parts) any { return p.Recommendations })
	all.route(registrar, changev1.ChangeService_ServiceDesc, func(p Parts) any { return p.Changes })
	if slices.ContainsFunc(slices.Collect(maps.Values(all)), func(p Parts) bool { return p.Records != nil }) {
		moveinv1.RegisterMoveInServiceServer(registrar, recordServer{kinds: all})
	}
}

// kinds are the parts of a program's services.
type kinds map[typev1.Kind]Parts

// route registers a contract, if any service serves it. Each of its methods calls the server of
// the service that has the kind of resource that a request names.
func (k kinds) route(registrar grpc.ServiceRegistrar, contract grpc.ServiceDesc, of func(Parts) any) {
	if !slices.ContainsFunc(slices.Collect(maps.Values(k)), func(p Parts) bool { return of(p) != nil }) {
		return
	}
	contract.HandlerType = (*any)(nil)
	contract.Methods = slices.Clone(contract.Methods)
	for i, method := range contract.Methods {
		contract.Methods[i].Handler = k.routed(method.Handler, of)
	}
	contract.Streams = slices.Clone(contract.Streams)
	for i, stream := range contract.Streams {
		contract.Streams[i].Handler = func(_ any, opened grpc.ServerStream) error {
			return stream.Handler(photoStreams{kinds: k}, opened)
		}
	}
	registrar.RegisterService(&contract, k)
}

// routed returns the handler of a unary method. The generated one makes the request and its
// interceptor, and calls the server with the request that comes out of that.
func (k kinds) routed(handler grpc.MethodHandler, of func(Parts) any) grpc.MethodHandler {
	call := func(ctx context.Context, request any) (any, error) {
		kind, id := parent.Of(request)
		server := of(k[kind])
		if server == nil {
			return nil, otherServer(fieldOf(kind, id), kind)
		}
		return handler(server, ctx, func(into any) error { return Hand(into, request) }, nil)
	}
	return func(all any, ctx context.Context, decode func(any) error,
		interceptor grpc.UnaryServerInterceptor) (any, error) {
		return handler(all, ctx, decode,
			func(ctx context.Context, request any, info *grpc.UnaryServerInfo, _ grpc.UnaryHandler) (any, error) {
				if interceptor == nil {
					return call(ctx, request)
				}
				return interceptor(ctx, request, info, call)
			})
	}
}

// Hand makes a message equal to another of its type. The two share their parts.
func Hand(into, from any) error {
	target, source := reflect.ValueOf(into).Elem(), reflect.ValueOf(from).Elem()
	if target.Type() != source.Type() {
		return fmt.Errorf("got a %T, want a %T", from, into)
	}
	target.Set(source)
	return nil
}

func (k kinds) ResolveIDs(ctx context.Context, request proto.Message, foundNothing bool) (bool, error) {
	kind, _ := parent.Of(request)
	resolver := k[kind].Resolver
	if resolver == nil {
		return false, nil
	}
	return resolver.ResolveIDs(ctx, request, foundNothing)
}

// otherServer is the error of a request that names a kind of resource that this server does not
// have.
func otherServer(field string, kind typev1.Kind) error {
	return apierror.Invalid("INVALID_PARAMETER",
		apierror.Violation{Field: field, Message: fmt.Sprintf("%v is of another server", kind)})
}

// fieldOf returns the field of a request that names what parent.Of has found.
func fieldOf(kind typev1.Kind, id int64) string {
	switch {
	case id == 0:
		return "kind"
	case kind == typev1.Kind_KIND_ALBUM:
		return "album_id"
	case kind == typev1.Kind_KIND_BLOG:
		return "blog_id"
	}
	return "poi_id"
}

// photoStreams are the streams of photos, the only ones that services share.
type photoStreams struct {
	photov1.UnimplementedPhotoServiceServer
	kinds
}

// Upload gives a stream to the service that has what its start names.
func (s photoStreams) Upload(stream grpc.ClientStreamingServer[photov1.UploadRequest, photov1.UploadResponse]) error {
	first, err := stream.Recv()
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	start := first.GetStart()
	if start == nil {
		return apierror.Invalid("INVALID_PARAMETER",
			apierror.Violation{Field: "start", Message: "must be in the first message"})
	}
	if _, err := s.ResolveIDs(stream.Context(), start, false); err != nil {
		return err
	}
	kind, id := parent.Of(start)
	if s.kinds[kind].Photos == nil {
		return otherServer("start."+fieldOf(kind, id), kind)
	}
	begun := &begunUpload{ClientStreamingServer: stream, first: first}
	err = s.kinds[kind].Photos.Upload(begun)
	if status.Code(err) == codes.NotFound && !begun.hasChunks.Load() {
		if isChanged, _ := s.ResolveIDs(stream.Context(), start, true); isChanged {
			begun.first = first
			return s.kinds[kind].Photos.Upload(begun)
		}
	}
	return err
}

// begunUpload is a stream whose first message was read.
type begunUpload struct {
	grpc.ClientStreamingServer[photov1.UploadRequest, photov1.UploadResponse]
	first     *photov1.UploadRequest
	hasChunks atomic.Bool
}

func (b *begunUpload) Recv() (*photov1.UploadRequest, error) {
	if first := b.first; first != nil {
		b.first = nil
		return first, nil
	}
	b.hasChunks.Store(true)
	return b.ClientStreamingServer.Recv()
}

// Download gives a request to the service that has what it names.
func (s photoStreams) Download(r *photov1.DownloadRequest,
	stream grpc.ServerStreamingServer[photov1.DownloadResponse]) error {
	kind, id := parent.Of(r)
	server := s.kinds[kind].Photos
	if server == nil {
		return otherServer(fieldOf(kind, id), kind)
	}
	err := server.Download(r, stream)
	if status.Code(err) == codes.NotFound { // before its first message
		if isChanged, _ := s.ResolveIDs(stream.Context(), r, true); isChanged {
			return server.Download(r, stream)
		}
	}
	return err
}

type recordServer struct {
	moveinv1.UnimplementedMoveInServiceServer
	kinds
}

// MoveIn gives the records, which are all of one kind, to its service.
func (s recordServer) MoveIn(ctx context.Context, r *moveinv1.MoveInRequest) (*moveinv1.MoveInResponse, error) {
	first, _ := parent.OfRecord(r.GetRecords()[0])
	for i, record := range r.GetRecords() {
		field := fmt.Sprintf("records[%d]", i)
		kind, _ := parent.OfRecord(record)
		if s.kinds[kind].Records == nil {
			return nil, apierror.Invalid("INVALID_PARAMETER",
				apierror.Violation{Field: field, Message: "is of another server, or empty"})
		}
		if kind != first {
			return nil, apierror.Invalid("INVALID_PARAMETER",
				apierror.Violation{Field: field, Message: "is of another service than the records before"})
		}
	}
	return s.kinds[first].Records.MoveIn(ctx, r)
}

func (s recordServer) ResolveOldIds(ctx context.Context,
	r *moveinv1.ResolveOldIdsRequest) (*moveinv1.ResolveOldIdsResponse, error) {
	first, _ := parent.Of(r)
	for i, old := range r.GetOldIds() {
		if kind := parent.OfOldID(old); kind != first || s.kinds[kind].Records == nil {
			return nil, otherServer(fmt.Sprintf("old_ids[%d]", i), kind)
		}
	}
	return s.kinds[first].Records.ResolveOldIds(ctx, r)
}

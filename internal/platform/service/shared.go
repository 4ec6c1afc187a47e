package service

import (
	"context"
	"errors"
	"fmt"
	"io"
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

// Parts are what a service serves of the contracts that it shares with others, for one kind of resource. A contract that it
// does not serve is nil.
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

// Register registers services, and each contract that several of them share once: it gives a request to the service that
// has what the request names.
func Register(registrar grpc.ServiceRegistrar, services ...Service) {
	all := make(kinds, len(services))
	for _, each := range services {
		each.Register(registrar)
		parts := each.Parts()
		all[parts.Kind] = parts
	}
	if served(all, comments) {
		commentv1.RegisterCommentServiceServer(registrar, commentServer{kinds: all})
	}
	if served(all, photos) {
		photov1.RegisterPhotoServiceServer(registrar, photoServer{kinds: all})
	}
	if served(all, recommendations) {
		recommendationv1.RegisterRecommendationServiceServer(registrar, recommendationServer{kinds: all})
	}
	if served(all, changes) {
		changev1.RegisterChangeServiceServer(registrar, changeServer{kinds: all})
	}
	if served(all, records) {
		moveinv1.RegisterMoveInServiceServer(registrar, recordServer{kinds: all})
	}
}

func comments(p Parts) commentv1.CommentServiceServer                      { return p.Comments }
func photos(p Parts) photov1.PhotoServiceServer                            { return p.Photos }
func recommendations(p Parts) recommendationv1.RecommendationServiceServer { return p.Recommendations }
func changes(p Parts) changev1.ChangeServiceServer                         { return p.Changes }
func records(p Parts) moveinv1.MoveInServiceServer                         { return p.Records }

// kinds are the parts of a program's services.
type kinds map[typev1.Kind]Parts

// served reports whether any service serves a contract.
func served[Server any](all kinds, of func(Parts) Server) bool {
	for _, parts := range all {
		if any(of(parts)) != nil {
			return true
		}
	}
	return false
}

// ResolveIDs implements Resolver.
func (k kinds) ResolveIDs(ctx context.Context, request proto.Message, foundNothing bool) (bool, error) {
	kind, _ := parent.Of(request)
	resolver := k[kind].Resolver
	if resolver == nil {
		return false, nil
	}
	return resolver.ResolveIDs(ctx, request, foundNothing)
}

// pass calls a method of the service that has the kind of resource that a request names.
func pass[Server, Request, Reply any](
	ctx context.Context, all kinds, request Request, of func(Parts) Server, method func(Server, context.Context, Request) (Reply, error),
) (reply Reply, err error) {
	kind, id := parent.Of(request)
	server := of(all[kind])
	if any(server) == nil {
		return reply, otherServer(fieldOf(kind, id), kind)
	}
	return method(server, ctx, request)
}

// otherServer is the error of a request that names a kind of resource that this server does not have.
func otherServer(field string, kind typev1.Kind) error {
	return apierror.Invalid("INVALID_PARAMETER", apierror.Violation{Field: field, Message: fmt.Sprintf("%v is of another server", kind)})
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

type commentServer struct {
	commentv1.UnimplementedCommentServiceServer
	kinds
}

func (s commentServer) AddComment(ctx context.Context, r *commentv1.AddCommentRequest) (*commentv1.AddCommentResponse, error) {
	return pass(ctx, s.kinds, r, comments, commentv1.CommentServiceServer.AddComment)
}

func (s commentServer) ReplyToComment(ctx context.Context, r *commentv1.ReplyToCommentRequest) (*commentv1.ReplyToCommentResponse, error) {
	return pass(ctx, s.kinds, r, comments, commentv1.CommentServiceServer.ReplyToComment)
}

func (s commentServer) RemoveComment(ctx context.Context, r *commentv1.RemoveCommentRequest) (*commentv1.RemoveCommentResponse, error) {
	return pass(ctx, s.kinds, r, comments, commentv1.CommentServiceServer.RemoveComment)
}

func (s commentServer) ListComments(ctx context.Context, r *commentv1.ListCommentsRequest) (*commentv1.ListCommentsResponse, error) {
	return pass(ctx, s.kinds, r, comments, commentv1.CommentServiceServer.ListComments)
}

func (s commentServer) ListCommentsByAuthor(
	ctx context.Context, r *commentv1.ListCommentsByAuthorRequest,
) (*commentv1.ListCommentsByAuthorResponse, error) {
	return pass(ctx, s.kinds, r, comments, commentv1.CommentServiceServer.ListCommentsByAuthor)
}

func (s commentServer) RemoveCommentsByAuthor(
	ctx context.Context, r *commentv1.RemoveCommentsByAuthorRequest,
) (*commentv1.RemoveCommentsByAuthorResponse, error) {
	return pass(ctx, s.kinds, r, comments, commentv1.CommentServiceServer.RemoveCommentsByAuthor)
}

type photoServer struct {
	photov1.UnimplementedPhotoServiceServer
	kinds
}

func (s photoServer) AddPhoto(ctx context.Context, r *photov1.AddPhotoRequest) (*photov1.AddPhotoResponse, error) {
	return pass(ctx, s.kinds, r, photos, photov1.PhotoServiceServer.AddPhoto)
}

func (s photoServer) UpdatePhoto(ctx context.Context, r *photov1.UpdatePhotoRequest) (*photov1.UpdatePhotoResponse, error) {
	return pass(ctx, s.kinds, r, photos, photov1.PhotoServiceServer.UpdatePhoto)
}

func (s photoServer) RemovePhoto(ctx context.Context, r *photov1.RemovePhotoRequest) (*photov1.RemovePhotoResponse, error) {
	return pass(ctx, s.kinds, r, photos, photov1.PhotoServiceServer.RemovePhoto)
}

func (s photoServer) ListPhotos(ctx context.Context, r *photov1.ListPhotosRequest) (*photov1.ListPhotosResponse, error) {
	return pass(ctx, s.kinds, r, photos, photov1.PhotoServiceServer.ListPhotos)
}

// Upload gives a stream to the service that has what its start names.
func (s photoServer) Upload(stream grpc.ClientStreamingServer[photov1.UploadRequest, photov1.UploadResponse]) error {
	first, err := stream.Recv()
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	start := first.GetStart()
	if start == nil {
		return apierror.Invalid("INVALID_PARAMETER", apierror.Violation{Field: "start", Message: "must be in the first message"})
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
func (s photoServer) Download(r *photov1.DownloadRequest, stream grpc.ServerStreamingServer[photov1.DownloadResponse]) error {
	download := func() error {
		_, err := pass(stream.Context(), s.kinds, r, photos,
			func(server photov1.PhotoServiceServer, _ context.Context, r *photov1.DownloadRequest) (any, error) {
				return nil, server.Download(r, stream)
			})
		return err
	}
	err := download()
	if status.Code(err) == codes.NotFound { // before its first message
		if isChanged, _ := s.ResolveIDs(stream.Context(), r, true); isChanged {
			return download()
		}
	}
	return err
}

type recommendationServer struct {
	recommendationv1.UnimplementedRecommendationServiceServer
	kinds
}

func (s recommendationServer) Recommend(
	ctx context.Context, r *recommendationv1.RecommendRequest,
) (*recommendationv1.RecommendResponse, error) {
	return pass(ctx, s.kinds, r, recommendations, recommendationv1.RecommendationServiceServer.Recommend)
}

func (s recommendationServer) Withdraw(ctx context.Context, r *recommendationv1.WithdrawRequest) (*recommendationv1.WithdrawResponse, error) {
	return pass(ctx, s.kinds, r, recommendations, recommendationv1.RecommendationServiceServer.Withdraw)
}

func (s recommendationServer) ListRecommenders(
	ctx context.Context, r *recommendationv1.ListRecommendersRequest,
) (*recommendationv1.ListRecommendersResponse, error) {
	return pass(ctx, s.kinds, r, recommendations, recommendationv1.RecommendationServiceServer.ListRecommenders)
}

type changeServer struct {
	changev1.UnimplementedChangeServiceServer
	kinds
}

func (s changeServer) ListChanges(ctx context.Context, r *changev1.ListChangesRequest) (*changev1.ListChangesResponse, error) {
	return pass(ctx, s.kinds, r, changes, changev1.ChangeServiceServer.ListChanges)
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
			return nil, apierror.Invalid("INVALID_PARAMETER", apierror.Violation{Field: field, Message: "is of another server, or empty"})
		}
		if kind != first {
			return nil, apierror.Invalid("INVALID_PARAMETER", apierror.Violation{Field: field, Message: "is of another service than the records before"})
		}
	}
	return s.kinds[first].Records.MoveIn(ctx, r)
}

func (s recordServer) ResolveOldIds(ctx context.Context, r *moveinv1.ResolveOldIdsRequest) (*moveinv1.ResolveOldIdsResponse, error) {
	first, _ := parent.Of(r)
	for i, old := range r.GetOldIds() {
		if kind := parent.OfOldID(old); kind != first || s.kinds[kind].Records == nil {
			return nil, otherServer(fmt.Sprintf("old_ids[%d]", i), kind)
		}
	}
	return s.kinds[first].Records.ResolveOldIds(ctx, r)
}

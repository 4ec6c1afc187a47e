// Package clients has the clients of all contracts.
package clients

import (
	"context"
	"errors"

	"google.golang.org/grpc"

	"github.com/waybook/waybook/internal/parent"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	changev1 "github.com/waybook/waybook/proto/gen/waybook/change/v1"
	commentv1 "github.com/waybook/waybook/proto/gen/waybook/comment/v1"
	moveinv1 "github.com/waybook/waybook/proto/gen/waybook/movein/v1"
	photov1 "github.com/waybook/waybook/proto/gen/waybook/photo/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	recommendationv1 "github.com/waybook/waybook/proto/gen/waybook/recommendation/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// Clients are the clients of the contracts. Those of a contract that several servers share send
// each request to the server of what it names. They may be used concurrently.
type Clients struct {
	Account accountv1.AccountServiceClient
	Album   albumv1.AlbumServiceClient
	Blog    blogv1.BlogServiceClient
	Poi     poiv1.PoiServiceClient

	Comment        commentv1.CommentServiceClient
	Photo          photov1.PhotoServiceClient
	Recommendation recommendationv1.RecommendationServiceClient
	Change         changev1.ChangeServiceClient
	MoveIn         moveinv1.MoveInServiceClient
}

// Of returns the clients over the connections to the four servers, which may be one.
func Of(account, album, blog, poi grpc.ClientConnInterface) Clients {
	shared := byKind{
		typev1.Kind_KIND_USER: account, typev1.Kind_KIND_ALBUM: album, typev1.Kind_KIND_BLOG: blog,
		typev1.Kind_KIND_POI: poi,
	}
	return Clients{
		Account: accountv1.NewAccountServiceClient(account), Album: albumv1.NewAlbumServiceClient(album),
		Blog: blogv1.NewBlogServiceClient(blog), Poi: poiv1.NewPoiServiceClient(poi),
		Comment: commentv1.NewCommentServiceClient(shared), Photo: photov1.NewPhotoServiceClient(shared),
		Recommendation: recommendationv1.NewRecommendationServiceClient(shared),
		Change:         changev1.NewChangeServiceClient(shared),
		MoveIn:         moveinv1.NewMoveInServiceClient(shared),
	}
}

// byKind is a connection that sends each request to the server of what it names.
type byKind map[typev1.Kind]grpc.ClientConnInterface

func (b byKind) Invoke(ctx context.Context, method string, request, reply any, options ...grpc.CallOption) error {
	return b.of(request).Invoke(ctx, method, request, reply, options...)
}

// of returns the connection to the server of what a request names.
func (b byKind) of(request any) grpc.ClientConnInterface {
	kind, _ := parent.Of(request)
	if connection, ok := b[kind]; ok {
		return connection
	}
	return b[typev1.Kind_KIND_ALBUM] // which refuses it
}

// NewStream implements grpc.ClientConnInterface. The stream opens with its first message.
func (b byKind) NewStream(ctx context.Context, description *grpc.StreamDesc, method string,
	options ...grpc.CallOption) (grpc.ClientStream, error) {
	return &stream{open: func(first any) (grpc.ClientStream, error) {
		return b.of(first).NewStream(ctx, description, method, options...)
	}}, nil
}

// errNotOpen is the error of a stream without a message.
var errNotOpen = errors.New("the first message of a stream names its server, and none was sent")

// stream is a stream to the server of what its first message names.
type stream struct {
	grpc.ClientStream // nil until then
	open              func(first any) (grpc.ClientStream, error)
}

func (s *stream) SendMsg(message any) (err error) {
	if s.ClientStream == nil {
		if s.ClientStream, err = s.open(message); err != nil {
			return err
		}
	}
	return s.ClientStream.SendMsg(message)
}

func (s *stream) CloseSend() error {
	if s.ClientStream == nil {
		return errNotOpen
	}
	return s.ClientStream.CloseSend()
}

func (s *stream) RecvMsg(message any) error {
	if s.ClientStream == nil {
		return errNotOpen
	}
	return s.ClientStream.RecvMsg(message)
}

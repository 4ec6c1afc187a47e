// Package clients has the clients of all contracts.
package clients

import (
	"context"
	"fmt"

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

// Clients are the clients of the contracts. Those of a contract that several servers share send each request to the server
// of what it names. They may be used concurrently.
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
		typev1.Kind_KIND_USER: account, typev1.Kind_KIND_ALBUM: album, typev1.Kind_KIND_BLOG: blog, typev1.Kind_KIND_POI: poi,
	}
	return Clients{
		Account: accountv1.NewAccountServiceClient(account), Album: albumv1.NewAlbumServiceClient(album),
		Blog: blogv1.NewBlogServiceClient(blog), Poi: poiv1.NewPoiServiceClient(poi),
		Comment: commentv1.NewCommentServiceClient(shared), Photo: photov1.NewPhotoServiceClient(shared),
		Recommendation: recommendationv1.NewRecommendationServiceClient(shared), Change: changev1.NewChangeServiceClient(shared),
		MoveIn: moveinv1.NewMoveInServiceClient(shared),
	}
}

// byKind is a connection that sends each request to the server of what it names.
type byKind map[typev1.Kind]grpc.ClientConnInterface

// Invoke implements grpc.ClientConnInterface.
func (b byKind) Invoke(ctx context.Context, method string, request, reply any, options ...grpc.CallOption) error {
	kind, _ := parent.Of(request)
	connection, ok := b[kind]
	if !ok {
		connection = b[typev1.Kind_KIND_ALBUM] // which refuses it
	}
	return connection.Invoke(ctx, method, request, reply, options...)
}

// NewStream implements grpc.ClientConnInterface. No shared contract has streams.
func (b byKind) NewStream(_ context.Context, _ *grpc.StreamDesc, method string, _ ...grpc.CallOption) (grpc.ClientStream, error) {
	return nil, fmt.Errorf("%s: the server of a stream is not known before its first message", method)
}

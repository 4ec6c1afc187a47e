package operation

import (
	"github.com/waybook/waybook/edge/reply"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
)

// The functions below read the parameters of recommend and withdrawRecommendation for each kind of
// content (rule 17.12).

func recommendAlbumRequest(in *Input) *albumv1.RecommendRequest {
	return &albumv1.RecommendRequest{UserId: int64(in.User), AlbumId: ofAlbum(in)}
}

func withdrawAlbumRequest(in *Input) *albumv1.WithdrawRecommendationRequest {
	return &albumv1.WithdrawRecommendationRequest{UserId: int64(in.User), AlbumId: ofAlbum(in)}
}

func recommendBlogRequest(in *Input) *blogv1.RecommendRequest {
	return &blogv1.RecommendRequest{UserId: int64(in.User), BlogId: ofBlog(in)}
}

func withdrawBlogRequest(in *Input) *blogv1.WithdrawRecommendationRequest {
	return &blogv1.WithdrawRecommendationRequest{UserId: int64(in.User), BlogId: ofBlog(in)}
}

func recommendPoiRequest(in *Input) *poiv1.RecommendRequest {
	return &poiv1.RecommendRequest{UserId: int64(in.User), PoiId: ofPoi(in)}
}

func withdrawPoiRequest(in *Input) *poiv1.WithdrawRecommendationRequest {
	return &poiv1.WithdrawRecommendationRequest{UserId: int64(in.User), PoiId: ofPoi(in)}
}

// writeScore writes the number of recommendations as it is now.
func writeScore[Response interface{ GetScore() int64 }](out reply.Writer, response Response) {
	out.Integer("score", response.GetScore())
}

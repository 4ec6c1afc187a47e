package rpc_test

import (
	"context"
	"fmt"

	"google.golang.org/protobuf/proto"

	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
)

// everyCall returns a call of each RPC of the four services, with a valid request about existing
// content. Names consist of the service's package and the method.
func (w *waybook) everyCall(user, album, blog, poi int64) map[string]func(context.Context) error {
	token := fmt.Sprintf("%032d", 0)
	return map[string]func(context.Context) error{
		"account.CreateUser": func(c context.Context) error {
			return failed(w.account.CreateUser(c, &accountv1.CreateUserRequest{Name: "x"}))
		},
		"account.GetUser": func(c context.Context) error {
			return failed(w.account.GetUser(c, &accountv1.GetUserRequest{UserId: user}))
		},
		"account.BatchGetUsers": func(c context.Context) error {
			return failed(w.account.BatchGetUsers(c, &accountv1.BatchGetUsersRequest{UserIds: []int64{user}}))
		},
		"account.UpdateUser": func(c context.Context) error {
			return failed(w.account.UpdateUser(c, &accountv1.UpdateUserRequest{UserId: user, Name: proto.String("x")}))
		},
		"account.Authenticate": func(c context.Context) error {
			return failed(w.account.Authenticate(c, &accountv1.AuthenticateRequest{Email: "x@waybook.example", Password: "x", ClientAddress: "x"}))
		},
		"account.OpenSession": func(c context.Context) error {
			return failed(w.account.OpenSession(c, &accountv1.OpenSessionRequest{UserId: user}))
		},
		"account.VerifySession": func(c context.Context) error {
			return failed(w.account.VerifySession(c, &accountv1.VerifySessionRequest{UserId: user, Token: token}))
		},
		"account.CloseSession": func(c context.Context) error {
			return failed(w.account.CloseSession(c, &accountv1.CloseSessionRequest{UserId: user, Token: token}))
		},
		"account.ListSessions": func(c context.Context) error {
			return failed(w.account.ListSessions(c, &accountv1.ListSessionsRequest{UserId: user}))
		},
		"account.CloseAllSessions": func(c context.Context) error {
			return failed(w.account.CloseAllSessions(c, &accountv1.CloseAllSessionsRequest{UserId: user}))
		},
		"account.GrantReward": func(c context.Context) error {
			return failed(w.account.GrantReward(c, &accountv1.GrantRewardRequest{UserId: user, Source: "blog/1", Amount: 1}))
		},
		"account.GetRewardTotal": func(c context.Context) error {
			return failed(w.account.GetRewardTotal(c, &accountv1.GetRewardTotalRequest{UserId: user}))
		},
		"account.CreateApplication": func(c context.Context) error {
			return failed(w.account.CreateApplication(c, &accountv1.CreateApplicationRequest{Name: "x"}))
		},
		"account.GetApplication": func(c context.Context) error {
			return failed(w.account.GetApplication(c, &accountv1.GetApplicationRequest{Key: "x"}))
		},
		"account.ListApplications": func(c context.Context) error {
			return failed(w.account.ListApplications(c, &accountv1.ListApplicationsRequest{}))
		},
		"account.UpdateApplication": func(c context.Context) error {
			return failed(w.account.UpdateApplication(c, &accountv1.UpdateApplicationRequest{Key: "x", Name: proto.String("x")}))
		},
		"account.RotateApplicationSecret": func(c context.Context) error {
			return failed(w.account.RotateApplicationSecret(c, &accountv1.RotateApplicationSecretRequest{Key: "x"}))
		},
		"account.DeleteApplication": func(c context.Context) error {
			return failed(w.account.DeleteApplication(c, &accountv1.DeleteApplicationRequest{Key: "x"}))
		},
		"account.VerifySignature": func(c context.Context) error {
			return failed(w.account.VerifySignature(c, signatureOf("x", "x", 0, "x")))
		},

		"album.CreateAlbum": func(c context.Context) error {
			return failed(w.album.CreateAlbum(c, &albumv1.CreateAlbumRequest{OwnerId: user, Title: "x", Category: 1, Location: taipei}))
		},
		"album.UpdateAlbum": func(c context.Context) error {
			return failed(w.album.UpdateAlbum(c, &albumv1.UpdateAlbumRequest{ActorId: user, AlbumId: album}))
		},
		"album.DeleteAlbum": func(c context.Context) error {
			return failed(w.album.DeleteAlbum(c, &albumv1.DeleteAlbumRequest{ActorId: user, AlbumId: album}))
		},
		"album.GetAlbum": func(c context.Context) error {
			return failed(w.album.GetAlbum(c, &albumv1.GetAlbumRequest{AlbumId: album}))
		},
		"album.ListAlbums": func(c context.Context) error {
			return failed(w.album.ListAlbums(c, &albumv1.ListAlbumsRequest{OwnerId: user}))
		},
		"album.StreamAlbums": func(c context.Context) error {
			return failed(collect(w.album.StreamAlbums(c, &albumv1.StreamAlbumsRequest{OwnerId: user})))
		},
		"album.AddPhoto": func(c context.Context) error {
			return failed(w.album.AddPhoto(c, &albumv1.AddPhotoRequest{ActorId: user, AlbumId: album, ThumbnailUrl: "x"}))
		},
		"album.UpdatePhoto": func(c context.Context) error {
			return failed(w.album.UpdatePhoto(c, &albumv1.UpdatePhotoRequest{ActorId: user, AlbumId: album, PhotoId: 1}))
		},
		"album.RemovePhoto": func(c context.Context) error {
			return failed(w.album.RemovePhoto(c, &albumv1.RemovePhotoRequest{ActorId: user, AlbumId: album, PhotoId: 1}))
		},
		"album.ListPhotos": func(c context.Context) error {
			return failed(w.album.ListPhotos(c, &albumv1.ListPhotosRequest{AlbumId: album}))
		},
		"album.AddComment": func(c context.Context) error {
			return failed(w.album.AddComment(c, &albumv1.AddCommentRequest{AuthorId: user, AlbumId: album, Text: "x"}))
		},
		"album.ReplyToComment": func(c context.Context) error {
			return failed(w.album.ReplyToComment(c, &albumv1.ReplyToCommentRequest{ActorId: user, AlbumId: album, CommentId: 1, Text: "x"}))
		},
		"album.RemoveComment": func(c context.Context) error {
			return failed(w.album.RemoveComment(c, &albumv1.RemoveCommentRequest{ActorId: user, AlbumId: album, CommentId: 1}))
		},
		"album.ListComments": func(c context.Context) error {
			return failed(w.album.ListComments(c, &albumv1.ListCommentsRequest{AlbumId: album}))
		},
		"album.Recommend": func(c context.Context) error {
			return failed(w.album.Recommend(c, &albumv1.RecommendRequest{UserId: user, AlbumId: album}))
		},
		"album.WithdrawRecommendation": func(c context.Context) error {
			return failed(w.album.WithdrawRecommendation(c, &albumv1.WithdrawRecommendationRequest{UserId: user, AlbumId: album}))
		},

		"blog.CreateBlog": func(c context.Context) error { return failed(w.blog.CreateBlog(c, newBlogRequest(user))) },
		"blog.UpdateBlog": func(c context.Context) error {
			return failed(w.blog.UpdateBlog(c, &blogv1.UpdateBlogRequest{ActorId: user, BlogId: blog}))
		},
		"blog.DeleteBlog": func(c context.Context) error {
			return failed(w.blog.DeleteBlog(c, &blogv1.DeleteBlogRequest{ActorId: user, BlogId: blog}))
		},
		"blog.GetBlog": func(c context.Context) error { return failed(w.blog.GetBlog(c, &blogv1.GetBlogRequest{BlogId: blog})) },
		"blog.ListBlogs": func(c context.Context) error {
			return failed(w.blog.ListBlogs(c, &blogv1.ListBlogsRequest{AuthorId: user}))
		},
		"blog.CastBallot": func(c context.Context) error {
			return failed(w.blog.CastBallot(c, &blogv1.CastBallotRequest{VoterId: user, BlogId: blog, Choice: 1}))
		},
		"blog.AddComment": func(c context.Context) error {
			return failed(w.blog.AddComment(c, &blogv1.AddCommentRequest{AuthorId: user, BlogId: blog, Text: "x"}))
		},
		"blog.ReplyToComment": func(c context.Context) error {
			return failed(w.blog.ReplyToComment(c, &blogv1.ReplyToCommentRequest{ActorId: user, BlogId: blog, CommentId: 1, Text: "x"}))
		},
		"blog.RemoveComment": func(c context.Context) error {
			return failed(w.blog.RemoveComment(c, &blogv1.RemoveCommentRequest{ActorId: user, BlogId: blog, CommentId: 1}))
		},
		"blog.ListComments": func(c context.Context) error {
			return failed(w.blog.ListComments(c, &blogv1.ListCommentsRequest{BlogId: blog}))
		},
		"blog.Recommend": func(c context.Context) error {
			return failed(w.blog.Recommend(c, &blogv1.RecommendRequest{UserId: user, BlogId: blog}))
		},
		"blog.WithdrawRecommendation": func(c context.Context) error {
			return failed(w.blog.WithdrawRecommendation(c, &blogv1.WithdrawRecommendationRequest{UserId: user, BlogId: blog}))
		},

		"poi.CreatePoi": func(c context.Context) error {
			return failed(w.poi.CreatePoi(c, &poiv1.CreatePoiRequest{OwnerId: user, Name: "x", Category: 1, Location: taipei}))
		},
		"poi.UpdatePoi": func(c context.Context) error {
			return failed(w.poi.UpdatePoi(c, &poiv1.UpdatePoiRequest{ActorId: user, PoiId: poi}))
		},
		"poi.DeletePoi": func(c context.Context) error {
			return failed(w.poi.DeletePoi(c, &poiv1.DeletePoiRequest{ActorId: user, PoiId: poi}))
		},
		"poi.GetPoi":   func(c context.Context) error { return failed(w.poi.GetPoi(c, &poiv1.GetPoiRequest{PoiId: poi})) },
		"poi.ListPois": func(c context.Context) error { return failed(w.poi.ListPois(c, &poiv1.ListPoisRequest{Category: 1})) },
		"poi.StreamPois": func(c context.Context) error {
			return failed(collect(w.poi.StreamPois(c, &poiv1.StreamPoisRequest{Category: 1})))
		},
		"poi.ImportPois": func(c context.Context) error {
			return failed(w.importPois(c, batchOf(user, importedPoi("x", "x"))))
		},
		"poi.ExportPois": func(c context.Context) error {
			return failed(collect(w.poi.ExportPois(c, &poiv1.ExportPoisRequest{OwnerId: user})))
		},
		"poi.SearchNearby": func(c context.Context) error {
			return failed(w.poi.SearchNearby(c, circle(taipei.GetLat(), taipei.GetLng(), 10)))
		},
		"poi.AddPhoto": func(c context.Context) error {
			return failed(w.poi.AddPhoto(c, &poiv1.AddPhotoRequest{ActorId: user, PoiId: poi, PhotoUrl: "x"}))
		},
		"poi.RemovePhoto": func(c context.Context) error {
			return failed(w.poi.RemovePhoto(c, &poiv1.RemovePhotoRequest{ActorId: user, PoiId: poi, PhotoId: 1}))
		},
		"poi.ListPhotos": func(c context.Context) error {
			return failed(w.poi.ListPhotos(c, &poiv1.ListPhotosRequest{PoiId: poi}))
		},
		"poi.AddComment": func(c context.Context) error {
			return failed(w.poi.AddComment(c, &poiv1.AddCommentRequest{AuthorId: user, PoiId: poi, Text: "x"}))
		},
		"poi.ReplyToComment": func(c context.Context) error {
			return failed(w.poi.ReplyToComment(c, &poiv1.ReplyToCommentRequest{ActorId: user, PoiId: poi, CommentId: 1, Text: "x"}))
		},
		"poi.RemoveComment": func(c context.Context) error {
			return failed(w.poi.RemoveComment(c, &poiv1.RemoveCommentRequest{ActorId: user, PoiId: poi, CommentId: 1}))
		},
		"poi.ListComments": func(c context.Context) error {
			return failed(w.poi.ListComments(c, &poiv1.ListCommentsRequest{PoiId: poi}))
		},
		"poi.Recommend": func(c context.Context) error {
			return failed(w.poi.Recommend(c, &poiv1.RecommendRequest{UserId: user, PoiId: poi}))
		},
		"poi.WithdrawRecommendation": func(c context.Context) error {
			return failed(w.poi.WithdrawRecommendation(c, &poiv1.WithdrawRecommendationRequest{UserId: user, PoiId: poi}))
		},
	}
}

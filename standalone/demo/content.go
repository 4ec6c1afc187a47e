package demo

import (
	"context"
	"fmt"

	"google.golang.org/grpc"

	"github.com/waybook/waybook/internal/clients"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	commentv1 "github.com/waybook/waybook/proto/gen/waybook/comment/v1"
	photov1 "github.com/waybook/waybook/proto/gen/waybook/photo/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// filler makes calls, until one fails.
type filler struct {
	clients.Clients
	ctx      context.Context
	requests int
	err      error
}

// requestID returns the id of the next create. The creates come in the same order each time.
func (f *filler) requestID() string {
	f.requests++
	return fmt.Sprintf("77617962-6f6f-4b00-8000-%012d", f.requests)
}

// call makes a call and returns its reply; an empty one if a call has failed.
func call[Q, R any](f *filler, method func(context.Context, Q, ...grpc.CallOption) (R, error), request Q) (reply R) {
	if f.err == nil {
		reply, f.err = method(f.ctx, request)
	}
	return reply
}

// fill creates the content and returns the demo user's id. The demo user can log in with the
// password. The friend cannot log in.
func (f *filler) fill(password string) (int64, error) {
	me := call(f, f.Account.CreateUser, &accountv1.CreateUserRequest{
		RequestId: f.requestID(), Name: "小旅人", IconUrl: "upload/icon/demo1.jpg", Email: Email, Password: password,
	}).GetUser().GetUserId()
	friend := call(f, f.Account.CreateUser, &accountv1.CreateUserRequest{
		RequestId: f.requestID(), Name: "阿海", IconUrl: "upload/icon/demo2.jpg",
	}).GetUser().GetUserId()
	f.fillAlbum(me, friend)
	f.fillBlog(me, friend)
	f.fillPois(me, friend)
	return me, f.err
}

func (f *filler) fillAlbum(me, friend int64) {
	id := call(f, f.Album.CreateAlbum, &albumv1.CreateAlbumRequest{
		RequestId: f.requestID(), OwnerId: me, Title: "東北角一日遊",
		Category: albumv1.AlbumCategory_ALBUM_CATEGORY_DOMESTIC_TRAVEL, Location: &typev1.Location{Lat: 25.1099, Lng: 121.8452},
	}).GetAlbum().GetAlbumId()
	for i, description := range []string{"九份的石階", "陰陽海", "黃金瀑布", ""} {
		call(f, f.Photo.AddPhoto, &photov1.AddPhotoRequest{
			RequestId: f.requestID(), ActorId: me, Parent: &photov1.AddPhotoRequest_AlbumId{AlbumId: id},
			Url: fmt.Sprintf("upload/album/demo/thumb_%d.jpg", i+1), Description: description,
		})
	}
	var asked int64
	for _, text := range []string{"好美的海!下次一起去 & 再吃芋圓。", "第三張在哪裡拍的?"} {
		asked = call(f, f.Comment.AddComment, &commentv1.AddCommentRequest{
			RequestId: f.requestID(), AuthorId: friend, Parent: &commentv1.AddCommentRequest_AlbumId{AlbumId: id}, Text: text,
		}).GetComment().GetCommentId()
	}
	call(f, f.Comment.ReplyToComment, &commentv1.ReplyToCommentRequest{ActorId: me, Parent: &commentv1.ReplyToCommentRequest_AlbumId{AlbumId: id}, CommentId: asked, Text: "在金瓜石的黃金瀑布 😊"})
}

func (f *filler) fillBlog(me, friend int64) {
	id := call(f, f.Blog.CreateBlog, &blogv1.CreateBlogRequest{
		RequestId: f.requestID(), AuthorId: me, Type: blogv1.BlogType_BLOG_TYPE_TRAVEL,
		Location: &typev1.Location{Lat: 23.8519, Lng: 120.9028},
		Title:    "日月潭環湖", Content: "清晨六點從向山出發。\r\n湖面起霧,什麼都看不見;\r\n過了水社霧就散了。",
		PostDate: &typev1.Date{Year: 2026, Month: 11, Day: 1}, Weather: blogv1.Weather_WEATHER_CLEARING,
		Vote: &blogv1.NewVote{Description: "下一站去哪裡?", Choices: []string{"阿里山", "太魯閣", "蘭嶼"}},
	}).GetBlog().GetBlogId()
	call(f, f.Blog.CastBallot, &blogv1.CastBallotRequest{VoterId: me, BlogId: id, Choice: 1})
	call(f, f.Blog.CastBallot, &blogv1.CastBallotRequest{VoterId: friend, BlogId: id, Choice: 2})
	call(f, f.Comment.AddComment, &commentv1.AddCommentRequest{RequestId: f.requestID(), AuthorId: friend, Parent: &commentv1.AddCommentRequest_BlogId{BlogId: id}, Text: "我投太魯閣!"})
}

func (f *filler) fillPois(me, friend int64) {
	var first int64
	// Real places in Taiwan, in WGS 84.
	for i, place := range []struct {
		name     string
		category poiv1.PoiCategory
		lat, lng float64
	}{
		{"淡水漁人碼頭", poiv1.PoiCategory_POI_CATEGORY_TENDER, 25.1836, 121.4112},
		{"日月潭向山遊客中心", poiv1.PoiCategory_POI_CATEGORY_TENDER, 23.8519, 120.9028},
		{"貓空纜車貓空站", poiv1.PoiCategory_POI_CATEGORY_TENDER, 24.9683, 121.5878},
		{"士林夜市", poiv1.PoiCategory_POI_CATEGORY_BARGAIN, 25.0881, 121.5242},
		{"饒河街觀光夜市", poiv1.PoiCategory_POI_CATEGORY_BARGAIN, 25.0510, 121.5775},
		{"基隆廟口夜市", poiv1.PoiCategory_POI_CATEGORY_BARGAIN, 25.1283, 121.7433},
		{"九份老街", poiv1.PoiCategory_POI_CATEGORY_PRIVATE, 25.1099, 121.8452},
		{"蘭嶼", poiv1.PoiCategory_POI_CATEGORY_PRIVATE, 22.0480, 121.5481},
		{"國立故宮博物院", poiv1.PoiCategory_POI_CATEGORY_COMMUNITY, 25.1024, 121.5485},
		{"中正紀念堂", poiv1.PoiCategory_POI_CATEGORY_COMMUNITY, 25.0347, 121.5217},
		{"艋舺龍山寺", poiv1.PoiCategory_POI_CATEGORY_COMMUNITY, 25.0371, 121.4999},
		{"台北101", poiv1.PoiCategory_POI_CATEGORY_COMMUNITY, 25.0340, 121.5645},
		{"臺中國家歌劇院", poiv1.PoiCategory_POI_CATEGORY_COMMUNITY, 24.1627, 120.6405},
		{"六福村主題遊樂園", poiv1.PoiCategory_POI_CATEGORY_THRILL, 24.8226, 121.1817},
		{"太魯閣國家公園遊客中心", poiv1.PoiCategory_POI_CATEGORY_THRILL, 24.1580, 121.6220},
	} {
		created := call(f, f.Poi.CreatePoi, &poiv1.CreatePoiRequest{
			RequestId: f.requestID(), OwnerId: me, Name: place.name, Category: place.category,
			Location: &typev1.Location{Lat: place.lat, Lng: place.lng},
		})
		if i == 0 {
			first = created.GetPoi().GetPoiId()
		}
	}
	call(f, f.Photo.AddPhoto, &photov1.AddPhotoRequest{
		RequestId: f.requestID(), ActorId: me, Parent: &photov1.AddPhotoRequest_PoiId{PoiId: first}, Url: "http://images.example/poi/demo.jpg", Description: "夕陽下的情人橋",
	})
	call(f, f.Comment.AddComment, &commentv1.AddCommentRequest{RequestId: f.requestID(), AuthorId: friend, Parent: &commentv1.AddCommentRequest_PoiId{PoiId: first}, Text: "傍晚去最好。"})
}

package demo

import (
	"cmp"
	"context"
	"embed"
	"fmt"

	"google.golang.org/grpc"

	"github.com/waybook/waybook/internal/clients"
	"github.com/waybook/waybook/internal/platform/apierror"
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

// photos are drawings.
//
//go:embed photos
var photos embed.FS

// upload adds one of the photos.
func (f *filler) upload(name string, start *photov1.UploadStart) {
	file, err := photos.ReadFile(name)
	if f.err = cmp.Or(f.err, err); f.err != nil {
		return
	}
	stream, err := f.Photo.Upload(f.ctx)
	if err != nil {
		f.err = err
		return
	}
	// A Send that fails has no reason; the reply has it.
	_ = stream.Send(&photov1.UploadRequest{Part: &photov1.UploadRequest_Start{Start: start}})
	_ = stream.Send(&photov1.UploadRequest{Part: &photov1.UploadRequest_Chunk{Chunk: file}})
	_, f.err = stream.CloseAndRecv()
	if failed := apierror.From(f.err); failed != nil && failed.Reason == "UPLOADS_OFF" {
		f.err = nil // the album has no photos then
	}
}

// landmarks are real places in Taiwan, in WGS 84.
var landmarks = []struct {
	name     string
	category poiv1.PoiCategory
	lat, lng float64
}{
	{"淡水漁人碼頭", poiv1.PoiCategory_POI_CATEGORY_TENDER, 25.1836, 121.4112},
	{"士林夜市", poiv1.PoiCategory_POI_CATEGORY_BARGAIN, 25.0881, 121.5242},
	{"饒河街觀光夜市", poiv1.PoiCategory_POI_CATEGORY_BARGAIN, 25.0510, 121.5775},
	{"基隆廟口夜市", poiv1.PoiCategory_POI_CATEGORY_BARGAIN, 25.1283, 121.7433},
	{"蘭嶼", poiv1.PoiCategory_POI_CATEGORY_PRIVATE, 22.0480, 121.5481},
	{"國立故宮博物院", poiv1.PoiCategory_POI_CATEGORY_COMMUNITY, 25.1024, 121.5485},
	{"臺中國家歌劇院", poiv1.PoiCategory_POI_CATEGORY_COMMUNITY, 24.1627, 120.6405},
	{"太魯閣國家公園遊客中心", poiv1.PoiCategory_POI_CATEGORY_THRILL, 24.1580, 121.6220},
}

// fill creates the content and returns the id of the demo user, who can log in with the password.
func (f *filler) fill(password string) (int64, error) {
	me := call(f, f.Account.CreateUser, &accountv1.CreateUserRequest{
		RequestId: f.requestID(), Name: "小旅人", Email: Email, Password: password,
	}).GetUser().GetUserId()
	friend := call(f, f.Account.CreateUser, &accountv1.CreateUserRequest{
		RequestId: f.requestID(), Name: "阿海",
	}).GetUser().GetUserId()

	album := call(f, f.Album.CreateAlbum, &albumv1.CreateAlbumRequest{
		RequestId: f.requestID(), OwnerId: me, Title: "東北角一日遊",
		Location: &typev1.Location{Lat: 25.1099, Lng: 121.8452},
		Category: albumv1.AlbumCategory_ALBUM_CATEGORY_DOMESTIC_TRAVEL,
	}).GetAlbum().GetAlbumId()
	for i, description := range []string{"九份的石階", "陰陽海", "黃金瀑布", ""} {
		f.upload(fmt.Sprintf("photos/%d.jpg", i+1), &photov1.UploadStart{
			RequestId: f.requestID(), ActorId: me, Parent: &photov1.UploadStart_AlbumId{AlbumId: album},
			Description: description,
		})
	}
	asked := call(f, f.Comment.AddComment, &commentv1.AddCommentRequest{
		RequestId: f.requestID(), AuthorId: friend, Parent: &commentv1.AddCommentRequest_AlbumId{AlbumId: album},
		Text: "好美的海!第三張在哪裡拍的?",
	}).GetComment().GetCommentId()
	call(f, f.Comment.ReplyToComment, &commentv1.ReplyToCommentRequest{
		ActorId: me, Parent: &commentv1.ReplyToCommentRequest_AlbumId{AlbumId: album}, CommentId: asked,
		Text: "在金瓜石的黃金瀑布 😊",
	})

	entry := call(f, f.Blog.CreateBlog, &blogv1.CreateBlogRequest{
		RequestId: f.requestID(), AuthorId: me, Type: blogv1.BlogType_BLOG_TYPE_TRAVEL,
		Weather:  blogv1.Weather_WEATHER_CLEARING,
		Location: &typev1.Location{Lat: 23.8519, Lng: 120.9028}, PostDate: &typev1.Date{Year: 2026, Month: 11, Day: 1},
		Title: "日月潭環湖", Content: "清晨六點從向山出發。\r\n湖面起霧,什麼都看不見;\r\n過了水社霧就散了。",
		Vote: &blogv1.NewVote{Description: "下一站去哪裡?", Choices: []string{"阿里山", "太魯閣", "蘭嶼"}},
	}).GetBlog().GetBlogId()
	call(f, f.Blog.CastBallot, &blogv1.CastBallotRequest{VoterId: friend, BlogId: entry, Choice: 2})

	for _, each := range landmarks {
		call(f, f.Poi.CreatePoi, &poiv1.CreatePoiRequest{
			RequestId: f.requestID(), OwnerId: me, Name: each.name, Category: each.category,
			Location: &typev1.Location{Lat: each.lat, Lng: each.lng},
		})
	}
	return me, f.err
}

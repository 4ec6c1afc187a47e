// Package content creates the content that the cases read.
package content

import (
	"context"
	"errors"
	"fmt"
	"io"

	"google.golang.org/grpc"

	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

const (
	// children is the number of photos and of comments of a resource with children.
	children = 10
	// listed is the number of albums in the list of albums.
	listed = 50
	text   = "從捷運站出口右轉，沿著河邊的小路走十分鐘就到了；傍晚的光線最美，記得帶傘。"
)

// ListCategory is the category of the listed landmarks. SingleCategory is the category of
// the landmark that is read by itself.
const (
	ListCategory   = poiv1.PoiCategory_POI_CATEGORY_THRILL
	SingleCategory = poiv1.PoiCategory_POI_CATEGORY_BARGAIN
)

// Content identifies the created content.
type Content struct {
	// Owner owns all content except the albums of Lister, who also writes the comments.
	// Cookie is the session cookie of Owner.
	Owner  int64
	Cookie string
	// BareAlbum has no photos and no comments. FullAlbum has ten of each.
	BareAlbum, FullAlbum int64
	// Lister has 50 albums.
	Lister    int64
	Blog, Poi int64
}

// Services are connections to the services. All may be the same connection.
type Services struct{ Account, Album, Blog, Poi grpc.ClientConnInterface }

// Fill creates the content of the cases, with the given number of listed landmarks.
func Fill(ctx context.Context, on Services, landmarks int) (c Content, err error) {
	accounts := accountv1.NewAccountServiceClient(on.Account)
	if c.Owner, err = newUser(ctx, accounts, "小旅人"); err != nil {
		return c, err
	}
	if c.Lister, err = newUser(ctx, accounts, "收藏家"); err != nil {
		return c, err
	}
	session, err := accounts.OpenSession(ctx, &accountv1.OpenSessionRequest{UserId: c.Owner})
	if err != nil {
		return c, err
	}
	c.Cookie = fmt.Sprintf("id=%d; idrand=%s", c.Owner, session.GetToken())
	albums := albumv1.NewAlbumServiceClient(on.Album)
	if c.BareAlbum, err = newAlbum(ctx, albums, c.Owner); err != nil {
		return c, err
	}
	if c.FullAlbum, err = newAlbum(ctx, albums, c.Owner); err != nil {
		return c, err
	}
	for range listed {
		if _, err = newAlbum(ctx, albums, c.Lister); err != nil {
			return c, err
		}
	}
	pois := poiv1.NewPoiServiceClient(on.Poi)
	made, err := pois.CreatePoi(ctx, &poiv1.CreatePoiRequest{
		OwnerId: c.Owner, Name: "太魯閣國家公園遊客中心", Category: SingleCategory, Location: Place(),
	})
	if err != nil {
		return c, err
	}
	c.Poi = made.GetPoi().GetPoiId()
	blogs := blogv1.NewBlogServiceClient(on.Blog)
	posted, err := blogs.CreateBlog(ctx, NewBlog(c.Owner))
	if err != nil {
		return c, err
	}
	c.Blog = posted.GetBlog().GetBlogId()
	if err := addChildren(ctx, c, albums, blogs, pois); err != nil {
		return c, err
	}
	return c, Import(ctx, pois, c.Owner, landmarks)
}

// addChildren adds photos and comments. Every other comment on the album has a reply.
func addChildren(
	ctx context.Context, c Content, albums albumv1.AlbumServiceClient, blogs blogv1.BlogServiceClient, pois poiv1.PoiServiceClient,
) error {
	for n := range children {
		_, photo := albums.AddPhoto(ctx, &albumv1.AddPhotoRequest{
			ActorId: c.Owner, AlbumId: c.FullAlbum, ThumbnailUrl: fmt.Sprintf("upload/photo/%d_t.jpg", n), Description: text,
		})
		_, poiPhoto := pois.AddPhoto(ctx, &poiv1.AddPhotoRequest{
			ActorId: c.Owner, PoiId: c.Poi, PhotoUrl: fmt.Sprintf("https://img.example/poi/%d.jpg", n), Description: text,
		})
		comment, err := albums.AddComment(ctx, &albumv1.AddCommentRequest{AuthorId: c.Lister, AlbumId: c.FullAlbum, Text: text})
		_, blogComment := blogs.AddComment(ctx, &blogv1.AddCommentRequest{AuthorId: c.Lister, BlogId: c.Blog, Text: text})
		_, poiComment := pois.AddComment(ctx, &poiv1.AddCommentRequest{AuthorId: c.Lister, PoiId: c.Poi, Text: text})
		if err := errors.Join(photo, poiPhoto, err, blogComment, poiComment); err != nil {
			return err
		}
		if n%2 == 1 {
			continue
		}
		if _, err := albums.ReplyToComment(ctx, &albumv1.ReplyToCommentRequest{
			ActorId: c.Owner, AlbumId: c.FullAlbum, CommentId: comment.GetComment().GetCommentId(), Text: "謝謝！",
		}); err != nil {
			return err
		}
	}
	return nil
}

// importBatch is how many landmarks are imported at a time.
const importBatch = 1000

// Import creates landmarks of ListCategory.
func Import(ctx context.Context, pois poiv1.PoiServiceClient, owner int64, count int) error {
	stream, err := pois.ImportPois(ctx)
	if err != nil {
		return err
	}
	for made := 0; made < count && err == nil; {
		batch := &poiv1.ImportPoisRequest{OwnerId: owner}
		for range min(importBatch, count-made) {
			made++
			batch.Pois = append(batch.Pois, &poiv1.ImportedPoi{
				Key: fmt.Sprint(made), Name: fmt.Sprintf("太魯閣步道 %07d", made), Category: ListCategory,
				Location: &typev1.Location{Lat: 22 + float64(made%3500)/1000, Lng: 120 + float64(made%1999)/1000},
			})
		}
		err = stream.Send(batch)
	}
	if err != nil && !errors.Is(err, io.EOF) { // after io.EOF the reply has the cause
		return err
	}
	reply, err := stream.CloseAndRecv()
	if err == nil && reply.GetCreatedCount() != int64(count) {
		err = fmt.Errorf("imported %d of %d landmarks: %v", reply.GetCreatedCount(), count, reply.GetFailures())
	}
	return err
}

// NewUser creates a user.
func NewUser(ctx context.Context, account grpc.ClientConnInterface, name string) (int64, error) {
	return newUser(ctx, accountv1.NewAccountServiceClient(account), name)
}

func newUser(ctx context.Context, accounts accountv1.AccountServiceClient, name string) (int64, error) {
	made, err := accounts.CreateUser(ctx, &accountv1.CreateUserRequest{Name: name, IconUrl: "upload/icon/7.jpg"})
	return made.GetUser().GetUserId(), err
}

func newAlbum(ctx context.Context, albums albumv1.AlbumServiceClient, owner int64) (int64, error) {
	made, err := albums.CreateAlbum(ctx, NewAlbum(owner))
	return made.GetAlbum().GetAlbumId(), err
}

// NewAlbum returns a request to create an album.
func NewAlbum(owner int64) *albumv1.CreateAlbumRequest {
	return &albumv1.CreateAlbumRequest{
		OwnerId: owner, Title: "台北 101 與象山", Category: albumv1.AlbumCategory_ALBUM_CATEGORY_LANDSCAPES, Location: Place(),
	}
}

// NewBlog returns a request to create an entry.
func NewBlog(author int64) *blogv1.CreateBlogRequest {
	return &blogv1.CreateBlogRequest{
		AuthorId: author, Type: blogv1.BlogType_BLOG_TYPE_LOVE, Location: Place(), Title: "河岸散步", Content: text + "\n" + text,
		PostDate: &typev1.Date{Year: 2026, Month: 2, Day: 3}, Weather: blogv1.Weather_WEATHER_CLEAR,
	}
}

// Place returns the location of all content except the listed landmarks.
func Place() *typev1.Location { return &typev1.Location{Lat: 25.034, Lng: 121.5645} }

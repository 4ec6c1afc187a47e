package run

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/grpc"

	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	commentv1 "github.com/waybook/waybook/proto/gen/waybook/comment/v1"
	photov1 "github.com/waybook/waybook/proto/gen/waybook/photo/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

const (
	// children is the number of photos and of comments of an album with children.
	children = 10
	// listedLandmarks is the number of landmarks in the list of them. A page of ListPois, of 128
	// KiB, holds them all.
	listedLandmarks = 800
	// listCategory is their category.
	listCategory = poiv1.PoiCategory_POI_CATEGORY_THRILL
	title        = "台北 101 與象山"
	text         = "從捷運站出口右轉，沿著河邊的小路走十分鐘就到了；傍晚的光線最美，記得帶傘。"
)

// content identifies the created content.
type content struct {
	// owner owns all content. cookie is the session cookie of owner.
	owner  int64
	cookie string
	// bareAlbum has no photos and no comments. fullAlbum has ten of each.
	bareAlbum, fullAlbum int64
}

// fill creates the content of the cases, with the given number of listed landmarks. channels are
// connections to the services.
func fill(ctx context.Context, channels map[string][]*grpc.ClientConn, landmarks int) (c content, err error) {
	accounts := accountv1.NewAccountServiceClient(channels[accountService][0])
	if c.owner, err = newUser(ctx, accounts, "小旅人"); err != nil {
		return c, err
	}
	session, err := accounts.OpenSession(ctx, &accountv1.OpenSessionRequest{UserId: c.owner})
	if err != nil {
		return c, err
	}
	c.cookie = fmt.Sprintf("id=%d; idrand=%s", c.owner, session.GetToken())
	albums := albumv1.NewAlbumServiceClient(channels[albumService][0])
	if c.bareAlbum, err = newAlbum(ctx, albums, c.owner); err != nil {
		return c, err
	}
	if c.fullAlbum, err = newAlbum(ctx, albums, c.owner); err != nil {
		return c, err
	}
	visitor, err := newUser(ctx, accounts, "收藏家")
	if err != nil {
		return c, err
	}
	if err := addChildren(ctx, c, channels[albumService][0], visitor); err != nil {
		return c, err
	}
	if landmarks == 0 {
		return c, nil
	}
	return c, importLandmarks(ctx, poiv1.NewPoiServiceClient(channels[poiService][0]), c.owner, landmarks)
}

// addChildren adds photos, and comments of a visitor. Every other comment has a reply.
func addChildren(ctx context.Context, c content, album *grpc.ClientConn, visitor int64) error {
	photos, comments := photov1.NewPhotoServiceClient(album), commentv1.NewCommentServiceClient(album)
	for n := range children {
		_, failed := photos.AddPhoto(ctx, &photov1.AddPhotoRequest{
			ActorId: c.owner, Parent: &photov1.AddPhotoRequest_AlbumId{AlbumId: c.fullAlbum},
			Url: fmt.Sprintf("upload/photo/%d_t.jpg", n), Description: text,
		})
		comment, err := comments.AddComment(ctx, &commentv1.AddCommentRequest{
			AuthorId: visitor, Parent: &commentv1.AddCommentRequest_AlbumId{AlbumId: c.fullAlbum}, Text: text,
		})
		if err := errors.Join(failed, err); err != nil {
			return err
		}
		if n%2 == 1 {
			continue
		}
		if _, err := comments.ReplyToComment(ctx, &commentv1.ReplyToCommentRequest{
			ActorId: c.owner, Parent: &commentv1.ReplyToCommentRequest_AlbumId{AlbumId: c.fullAlbum},
			CommentId: comment.GetComment().GetCommentId(), Text: "謝謝！",
		}); err != nil {
			return err
		}
	}
	return nil
}

// importLandmarks creates landmarks of listCategory.
func importLandmarks(ctx context.Context, pois poiv1.PoiServiceClient, owner int64, count int) error {
	batch := &poiv1.ImportPoisRequest{OwnerId: owner}
	for n := range count {
		batch.Pois = append(batch.Pois, &poiv1.ImportedPoi{
			Key: fmt.Sprint(n), Name: fmt.Sprintf("太魯閣步道 %04d", n), Category: listCategory,
			Location: &typev1.Location{Lat: 22 + float64(n%3500)/1000, Lng: 120 + float64(n%1999)/1000},
		})
	}
	reply, err := pois.ImportPois(ctx, batch)
	if err == nil && reply.GetCreatedCount() != int64(count) {
		err = fmt.Errorf("imported %d of %d landmarks: %v", reply.GetCreatedCount(), count, reply.GetFailures())
	}
	return err
}

func newUser(ctx context.Context, accounts accountv1.AccountServiceClient, name string) (int64, error) {
	made, err := accounts.CreateUser(ctx, &accountv1.CreateUserRequest{Name: name, IconUrl: "upload/icon/7.jpg"})
	return made.GetUser().GetUserId(), err
}

func newAlbum(ctx context.Context, albums albumv1.AlbumServiceClient, owner int64) (int64, error) {
	made, err := albums.CreateAlbum(ctx, albumBy(owner))
	return made.GetAlbum().GetAlbumId(), err
}

// albumBy returns a request to create an album.
func albumBy(owner int64) *albumv1.CreateAlbumRequest {
	return &albumv1.CreateAlbumRequest{
		OwnerId: owner, Title: title, Category: albumv1.AlbumCategory_ALBUM_CATEGORY_LANDSCAPES, Location: place(),
	}
}

// blogBy returns a request to create an entry.
func blogBy(author int64) *blogv1.CreateBlogRequest {
	return &blogv1.CreateBlogRequest{
		AuthorId: author, Type: blogv1.BlogType_BLOG_TYPE_LOVE, Location: place(), Title: "河岸散步",
		Content:  text + "\n" + text,
		PostDate: &typev1.Date{Year: 2026, Month: 2, Day: 3}, Weather: blogv1.Weather_WEATHER_CLEAR,
	}
}

// place returns the location of all content except landmarks.
func place() *typev1.Location { return &typev1.Location{Lat: 25.034, Lng: 121.5645} }

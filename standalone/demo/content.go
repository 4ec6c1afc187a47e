package demo

import (
	"context"
	"fmt"

	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// requestID returns the fixed request id of the n-th create.
func requestID(n int) string {
	return fmt.Sprintf("77617962-6f6f-4b00-8000-%012d", n)
}

// Each kind of content numbers its request ids from its own start.
const (
	firstUser = 100 + iota*100
	firstAlbumPart
	firstBlogPart
	firstPoi
	firstPoiPart
)

// fill creates the content and returns the demo user's id. The demo user can log in with the
// password. The friend cannot log in.
func fill(ctx context.Context, clients Clients, password string) (int64, error) {
	var users [2]int64
	for i, user := range []*accountv1.CreateUserRequest{
		{Name: "小旅人", IconUrl: "upload/icon/demo1.jpg", Email: Email, Password: password},
		{Name: "阿海", IconUrl: "upload/icon/demo2.jpg"},
	} {
		user.RequestId = requestID(firstUser + i)
		created, err := clients.Account.CreateUser(ctx, user)
		if err != nil {
			return 0, err
		}
		users[i] = created.GetUser().GetUserId()
	}
	me, friend := users[0], users[1]
	for _, step := range []func(context.Context, Clients, int64, int64) error{fillAlbum, fillBlog, fillPois} {
		if err := step(ctx, clients, me, friend); err != nil {
			return 0, err
		}
	}
	return me, nil
}

func fillAlbum(ctx context.Context, clients Clients, me, friend int64) error {
	created, err := clients.Album.CreateAlbum(ctx, &albumv1.CreateAlbumRequest{
		RequestId: requestID(firstAlbumPart), OwnerId: me, Title: "東北角一日遊",
		Category: albumv1.AlbumCategory_ALBUM_CATEGORY_DOMESTIC_TRAVEL,
		Location: &typev1.Location{Lat: 25.1099, Lng: 121.8452},
	})
	if err != nil {
		return err
	}
	id := created.GetAlbum().GetAlbumId()
	for i, description := range []string{"九份的石階", "陰陽海", "黃金瀑布", ""} {
		if _, err := clients.Album.AddPhoto(ctx, &albumv1.AddPhotoRequest{
			RequestId: requestID(firstAlbumPart + 10 + i), ActorId: me, AlbumId: id,
			ThumbnailUrl: fmt.Sprintf("upload/album/demo/thumb_%d.jpg", i+1), Description: description,
		}); err != nil {
			return err
		}
	}
	for i, text := range []string{"好美的海!下次一起去 & 再吃芋圓。", "第三張在哪裡拍的?"} {
		added, err := clients.Album.AddComment(ctx, &albumv1.AddCommentRequest{
			RequestId: requestID(firstAlbumPart + 20 + i), AuthorId: friend, AlbumId: id, Text: text,
		})
		if err != nil {
			return err
		}
		if i == 1 {
			_, err = clients.Album.ReplyToComment(ctx, &albumv1.ReplyToCommentRequest{
				ActorId: me, AlbumId: id, CommentId: added.GetComment().GetCommentId(), Text: "在金瓜石的黃金瀑布 😊",
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func fillBlog(ctx context.Context, clients Clients, me, friend int64) error {
	created, err := clients.Blog.CreateBlog(ctx, &blogv1.CreateBlogRequest{
		RequestId: requestID(firstBlogPart), AuthorId: me,
		Type:     blogv1.BlogType_BLOG_TYPE_TRAVEL,
		Location: &typev1.Location{Lat: 23.8519, Lng: 120.9028},
		Title:    "日月潭環湖",
		Content:  "清晨六點從向山出發。\r\n湖面起霧,什麼都看不見;\r\n過了水社霧就散了。",
		PostDate: &typev1.Date{Year: 2026, Month: 11, Day: 1},
		Weather:  blogv1.Weather_WEATHER_CLEARING,
		Vote:     &blogv1.NewVote{Description: "下一站去哪裡?", Choices: []string{"阿里山", "太魯閣", "蘭嶼"}},
	})
	if err != nil {
		return err
	}
	id := created.GetBlog().GetBlogId()
	for i, voter := range []int64{me, friend} {
		if _, err := clients.Blog.CastBallot(ctx, &blogv1.CastBallotRequest{VoterId: voter, BlogId: id, Choice: int32(i + 1)}); err != nil {
			return err
		}
	}
	_, err = clients.Blog.AddComment(ctx, &blogv1.AddCommentRequest{
		RequestId: requestID(firstBlogPart + 20), AuthorId: friend, BlogId: id, Text: "我投太魯閣!",
	})
	return err
}

func fillPois(ctx context.Context, clients Clients, me, friend int64) error {
	for i, place := range landmarks() {
		created, err := clients.Poi.CreatePoi(ctx, &poiv1.CreatePoiRequest{
			RequestId: requestID(firstPoi + i), OwnerId: me, Name: place.name, Category: place.category,
			Location: &typev1.Location{Lat: place.lat, Lng: place.lng},
		})
		if err != nil {
			return err
		}
		if i > 0 {
			continue
		}
		id := created.GetPoi().GetPoiId()
		if _, err := clients.Poi.AddPhoto(ctx, &poiv1.AddPhotoRequest{
			RequestId: requestID(firstPoiPart), ActorId: me, PoiId: id,
			PhotoUrl: "http://images.example/poi/demo.jpg", Description: "夕陽下的情人橋",
		}); err != nil {
			return err
		}
		if _, err := clients.Poi.AddComment(ctx, &poiv1.AddCommentRequest{
			RequestId: requestID(firstPoiPart + 1), AuthorId: friend, PoiId: id, Text: "傍晚去最好。",
		}); err != nil {
			return err
		}
	}
	return nil
}

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

// landmark is a real place.
type landmark struct {
	name     string
	category poiv1.PoiCategory
	lat, lng float64
}

// landmarks are real places in Taiwan, in WGS 84.
func landmarks() []landmark {
	const (
		tender    = poiv1.PoiCategory_POI_CATEGORY_TENDER
		bargain   = poiv1.PoiCategory_POI_CATEGORY_BARGAIN
		private   = poiv1.PoiCategory_POI_CATEGORY_PRIVATE
		community = poiv1.PoiCategory_POI_CATEGORY_COMMUNITY
		thrill    = poiv1.PoiCategory_POI_CATEGORY_THRILL
	)
	return []landmark{
		{"淡水漁人碼頭", tender, 25.1836, 121.4112},
		{"日月潭向山遊客中心", tender, 23.8519, 120.9028},
		{"貓空纜車貓空站", tender, 24.9683, 121.5878},
		{"陽明山擎天崗", tender, 25.1676, 121.5743},
		{"碧潭吊橋", tender, 24.9569, 121.5366},
		{"愛河之心", tender, 22.6498, 120.3030},
		{"士林夜市", bargain, 25.0881, 121.5242},
		{"饒河街觀光夜市", bargain, 25.0510, 121.5775},
		{"逢甲夜市", bargain, 24.1797, 120.6463},
		{"六合觀光夜市", bargain, 22.6320, 120.3010},
		{"台南花園夜市", bargain, 23.0113, 120.2005},
		{"基隆廟口夜市", bargain, 25.1283, 121.7433},
		{"羅東夜市", bargain, 24.6765, 121.7693},
		{"九份老街", private, 25.1099, 121.8452},
		{"十分瀑布", private, 25.0489, 121.7877},
		{"奮起湖車站", private, 23.5045, 120.6944},
		{"司馬庫斯", private, 24.5789, 121.3350},
		{"蘭嶼", private, 22.0480, 121.5481},
		{"國立故宮博物院", community, 25.1024, 121.5485},
		{"中正紀念堂", community, 25.0347, 121.5217},
		{"艋舺龍山寺", community, 25.0371, 121.4999},
		{"台北101", community, 25.0340, 121.5645},
		{"赤崁樓", community, 22.9975, 120.2025},
		{"安平古堡", community, 23.0015, 120.1606},
		{"鹿港龍山寺", community, 24.0502, 120.4357},
		{"國立自然科學博物館", community, 24.1572, 120.6660},
		{"臺中國家歌劇院", community, 24.1627, 120.6405},
		{"六福村主題遊樂園", thrill, 24.8226, 121.1817},
		{"劍湖山世界", thrill, 23.6190, 120.5786},
		{"義大遊樂世界", thrill, 22.7322, 120.4095},
		{"麗寶樂園", thrill, 24.3236, 120.6976},
		{"九族文化村", thrill, 23.8680, 120.9505},
		{"太魯閣國家公園遊客中心", thrill, 24.1580, 121.6220},
		{"清水斷崖", thrill, 24.2189, 121.6894},
	}
}

package moving_test

import (
	"fmt"
	"testing"

	"github.com/waybook/waybook/e2e/launch"
	"github.com/waybook/waybook/e2e/oldserver"
	"github.com/waybook/waybook/internal/waybooktest"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// world is a running Waybook and the content that both servers have.
type world struct {
	t       *testing.T
	content oldserver.Content
	// albums, landmarks and entries are the identifiers in the order of creation.
	albums, landmarks, entries []int64
	user                       int64
	// albumPort is the gRPC port of the album service.
	albumPort string
}

// ugly is a text that tries the writers of both servers.
const ugly = "<b>\"&amp;\" 'x'</b> ]]> 文字 😊\r\nzweite Zeile\tx"

// newWorld fills a Waybook, whose services have gRPC ports, and copies its content for an old server.
func newWorld(t *testing.T, account, album, blog, poi string) *world {
	t.Helper()
	w := &world{t: t, albumPort: album, content: oldserver.Content{
		Albums: map[int64]*oldserver.Place{}, Landmarks: map[int64]*oldserver.Place{}, Entries: map[int64]*oldserver.Entry{},
		AlbumsOf: map[int64][]int64{}, LandmarksOf: map[int64][]int64{}, Own: map[oldserver.Kind]map[int64]int64{},
	}}
	accounts := launch.Dial(t, account)
	w.user = launch.CreateUser(t, accounts, "小旅人 & co.")
	friend := launch.CreateUser(t, accounts, "阿海")
	w.fillAlbums(albumv1.NewAlbumServiceClient(launch.Dial(t, album)), friend)
	w.fillEntries(blogv1.NewBlogServiceClient(launch.Dial(t, blog)), friend)
	w.fillLandmarks(poiv1.NewPoiServiceClient(launch.Dial(t, poi)), friend)
	return w
}

// exists reports whether Waybook has an album.
func (w *world) exists(album int64) bool {
	w.t.Helper()
	_, err := albumv1.NewAlbumServiceClient(launch.Dial(w.t, w.albumPort)).GetAlbum(w.t.Context(), &albumv1.GetAlbumRequest{AlbumId: album})
	return err == nil
}

// own gives the next identifier of the old server to an identifier of Waybook.
func (w *world) own(kind oldserver.Kind, id int64) int64 {
	if w.content.Own[kind] == nil {
		w.content.Own[kind] = map[int64]int64{}
	}
	w.content.Own[kind][id] = int64(len(w.content.Own[kind]) + 1)
	return id
}

func place(n int) *typev1.Location {
	return &typev1.Location{Lat: 25.033 + float64(n)/1000, Lng: 121.5645}
}

func (w *world) fillAlbums(albums albumv1.AlbumServiceClient, friend int64) {
	ctx := w.t.Context()
	for i, title := range []string{"東北角一日遊", "貓 & 狗", "未命名", "未命名"} {
		id := waybooktest.Must(albums.CreateAlbum(ctx, &albumv1.CreateAlbumRequest{
			OwnerId: w.user, Title: title, Category: albumv1.AlbumCategory(i + 1), Location: place(i),
		}))(w.t).GetAlbum().GetAlbumId()
		for n := range i {
			waybooktest.Must(albums.AddPhoto(ctx, &albumv1.AddPhotoRequest{
				ActorId: w.user, AlbumId: id, ThumbnailUrl: fmt.Sprintf("upload/%d/thumb_%d.jpg", i, n), Description: []string{"", "陰陽海"}[n%2],
			}))(w.t)
			added := waybooktest.Must(albums.AddComment(ctx, &albumv1.AddCommentRequest{
				AuthorId: friend, AlbumId: id, Text: fmt.Sprintf("%s %d", ugly, n),
			}))(w.t)
			if n == 1 {
				waybooktest.Must(albums.ReplyToComment(ctx, &albumv1.ReplyToCommentRequest{
					ActorId: w.user, AlbumId: id, CommentId: added.GetComment().GetCommentId(), Text: "謝謝",
				}))(w.t)
			}
		}
		got := waybooktest.Must(albums.GetAlbum(ctx, &albumv1.GetAlbumRequest{AlbumId: id}))(w.t)
		copied := &oldserver.Place{
			Title: got.GetAlbum().GetTitle(), Category: int64(got.GetAlbum().GetCategory()), Lat: got.GetAlbum().GetLocation().GetLat(),
			Lng: got.GetAlbum().GetLocation().GetLng(), Owner: person(got.GetAlbum().GetOwner()), Updated: got.GetAlbum().GetUpdateTime().AsTime(),
			Score: got.GetAlbum().GetScore(), Comments: comments(got.GetComments()),
		}
		for _, photo := range got.GetPhotos() {
			copied.Photos = append(copied.Photos, oldserver.Photo{ID: w.own(oldserver.PhotoID, photo.GetPhotoId()), Address: photo.GetThumbnailUrl(), Description: photo.GetDescription()})
		}
		w.content.Albums[w.own(oldserver.AlbumID, id)] = copied
		w.albums = append(w.albums, id)
	}
	w.content.AlbumsOf[w.user] = w.albums
}

func (w *world) fillLandmarks(pois poiv1.PoiServiceClient, friend int64) {
	ctx := w.t.Context()
	for i, name := range []string{"中正紀念堂", "艋舺龍山寺"} {
		id := waybooktest.Must(pois.CreatePoi(ctx, &poiv1.CreatePoiRequest{
			OwnerId: w.user, Name: name, Category: 4, Location: place(i),
		}))(w.t).GetPoi().GetPoiId()
		waybooktest.Must(pois.AddPhoto(ctx, &poiv1.AddPhotoRequest{
			ActorId: w.user, PoiId: id, PhotoUrl: "http://images.example/poi/demo.jpg?size=2", Description: "夕陽",
		}))(w.t)
		waybooktest.Must(pois.AddComment(ctx, &poiv1.AddCommentRequest{AuthorId: friend, PoiId: id, Text: "傍晚去最好。"}))(w.t)
		got := waybooktest.Must(pois.GetPoi(ctx, &poiv1.GetPoiRequest{PoiId: id}))(w.t)
		copied := &oldserver.Place{
			Title: got.GetPoi().GetName(), Category: int64(got.GetPoi().GetCategory()), Lat: got.GetPoi().GetLocation().GetLat(),
			Lng: got.GetPoi().GetLocation().GetLng(), Owner: person(got.GetPoi().GetOwner()), Updated: got.GetPoi().GetUpdateTime().AsTime(),
			Score: got.GetPoi().GetScore(), Comments: comments(got.GetComments()),
		}
		for _, photo := range got.GetPhotos() {
			copied.Photos = append(copied.Photos, oldserver.Photo{Address: photo.GetPhotoUrl(), Description: photo.GetDescription()})
		}
		w.content.Landmarks[w.own(oldserver.LandmarkID, id)] = copied
		w.landmarks = append(w.landmarks, id)
	}
	w.content.LandmarksOf[4] = w.landmarks
}

func (w *world) fillEntries(blogs blogv1.BlogServiceClient, friend int64) {
	ctx := w.t.Context()
	for i, title := range []string{"日月潭環湖", "隔天"} {
		made := &blogv1.CreateBlogRequest{
			AuthorId: w.user, Type: blogv1.BlogType_BLOG_TYPE_TRAVEL, Location: place(i), Title: title, Content: ugly,
			PostDate: &typev1.Date{Year: 2026, Month: 3, Day: int32(i + 1)}, Weather: blogv1.Weather_WEATHER_CLEARING,
		}
		if i == 0 {
			made.Vote = &blogv1.NewVote{Description: "下一站去哪裡?", Choices: []string{"阿里山", "太魯閣"}}
		} else {
			made.ReplyBlogId, made.ZoomLevel, made.MapType = w.entries[0], new(int32(9)), blogv1.MapType_MAP_TYPE_HYBRID
		}
		id := waybooktest.Must(blogs.CreateBlog(ctx, made))(w.t).GetBlog().GetBlogId()
		waybooktest.Must(blogs.AddComment(ctx, &blogv1.AddCommentRequest{AuthorId: friend, BlogId: id, Text: "我投太魯閣!"}))(w.t)
		if i == 0 {
			waybooktest.Must(blogs.CastBallot(ctx, &blogv1.CastBallotRequest{VoterId: friend, BlogId: id, Choice: 2}))(w.t)
		}
		got := waybooktest.Must(blogs.GetBlog(ctx, &blogv1.GetBlogRequest{BlogId: id}))(w.t)
		blog := got.GetBlog()
		copied := &oldserver.Entry{
			Author: person(blog.GetAuthor()), Type: "0_8", Lat: blog.GetLocation().GetLat(), Lng: blog.GetLocation().GetLng(),
			Title: blog.GetTitle(), Text: blog.GetContent(), Year: int(blog.GetPostDate().GetYear()), Month: int(blog.GetPostDate().GetMonth()),
			Day: int(blog.GetPostDate().GetDay()), Weather: "雨過天晴", Quoted: blog.GetReplyBlogId(), Zoom: int64(blog.GetZoomLevel()),
			Map: int64(blog.GetMapType()), Score: blog.GetScore(), Question: blog.GetVote().GetDescription(), Comments: comments(got.GetComments()),
		}
		for _, choice := range blog.GetVote().GetChoices() {
			copied.Choices = append(copied.Choices, oldserver.Choice{Text: choice.GetDescription(), Votes: choice.GetVotes()})
		}
		w.content.Entries[w.own(oldserver.EntryID, id)] = copied
		w.entries = append(w.entries, id)
	}
}

func person(p *typev1.Profile) oldserver.Person {
	return oldserver.Person{Name: p.GetName(), Icon: p.GetIconUrl()}
}

func comments(all []*typev1.Comment) (copied []oldserver.Comment) {
	for _, each := range all {
		copied = append(copied, oldserver.Comment{
			At: each.GetCreateTime().AsTime(), By: person(each.GetAuthor()), Text: each.GetText(),
			RepliedAt: each.GetReply().GetCreateTime().AsTime(), Reply: each.GetReply().GetText(),
		})
	}
	return copied
}

// ids returns a list of everything that the servers have, and of things that they don't have.
func (w *world) ids() string {
	list := fmt.Sprintf("# everything\nuserID %d\ncategory=4\ncategory 5\nalbumID 1\nPOIID 99\nblogID 99\n", w.user)
	for name, ids := range map[string][]int64{"albumID": w.albums, "POIID": w.landmarks, "blogID": w.entries} {
		for _, id := range ids {
			list += fmt.Sprintf("%s %d\n", name, id)
		}
	}
	return list
}

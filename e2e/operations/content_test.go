package operations_test

import (
	"testing"

	"github.com/waybook/waybook/internal/waybooktest"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	commentv1 "github.com/waybook/waybook/proto/gen/waybook/comment/v1"
	photov1 "github.com/waybook/waybook/proto/gen/waybook/photo/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	recommendationv1 "github.com/waybook/waybook/proto/gen/waybook/recommendation/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// filled is the content that fill writes: two items of each kind, of which tests keep the first
// intact. Each album and landmark has two photos. Every item has three comments and two
// recommendations, and each entry has two ballots.
type filled struct {
	users, albums, blogs, pois [2]int64
}

// fill writes content through the services.
func (s store) fill() (made filled) {
	s.t.Helper()
	s.serve(func(running *waybooktest.Waybook) {
		w := writer{running, s.t}
		for i := range made.users {
			user, err := w.Account.CreateUser(s.t.Context(), &accountv1.CreateUserRequest{Name: "x"})
			s.must(err)
			made.users[i] = user.GetUser().GetUserId()
		}
		_, err := w.Account.OpenSession(s.t.Context(), &accountv1.OpenSessionRequest{UserId: made.users[0]})
		s.must(err)
		for i := range 2 {
			made.albums[i], made.blogs[i], made.pois[i] = w.album(made.users), w.blog(made.users), w.poi(made.users)
		}
	})
	return made
}

// writer writes one item of each kind, with children of all kinds.
type writer struct {
	*waybooktest.Waybook
	t *testing.T
}

func place() *typev1.Location { return &typev1.Location{Lat: 25.034, Lng: 121.5645} }

func (w writer) album(users [2]int64) int64 {
	ctx := w.t.Context()
	created, err := w.Album.CreateAlbum(ctx, &albumv1.CreateAlbumRequest{
		OwnerId: users[0], Title: "x", Category: albumv1.AlbumCategory_ALBUM_CATEGORY_FOOD, Location: place(),
	})
	waybooktest.OK(w.t, err)
	id := created.GetAlbum().GetAlbumId()
	w.attach(typev1.Kind_KIND_ALBUM, id, users)
	return id
}

func (w writer) blog(users [2]int64) int64 {
	ctx := w.t.Context()
	created, err := w.Blog.CreateBlog(ctx, &blogv1.CreateBlogRequest{
		AuthorId: users[0], Type: blogv1.BlogType_BLOG_TYPE_MOOD, Location: place(), Title: "x", Content: "x",
		PostDate: &typev1.Date{Year: 2026, Month: 2, Day: 28}, Weather: blogv1.Weather_WEATHER_RAINBOW,
		Vote: &blogv1.NewVote{Description: "x", Choices: []string{"a", "b"}},
	})
	waybooktest.OK(w.t, err)
	id := created.GetBlog().GetBlogId()
	w.attach(typev1.Kind_KIND_BLOG, id, users)
	for i, user := range users {
		waybooktest.OK(w.t, failed(w.Blog.CastBallot(ctx, &blogv1.CastBallotRequest{VoterId: user, BlogId: id, Choice: int32(i) + 1})))
	}
	return id
}

func (w writer) poi(users [2]int64) int64 {
	ctx := w.t.Context()
	created, err := w.Poi.CreatePoi(ctx, &poiv1.CreatePoiRequest{
		OwnerId: users[0], Name: "x", Category: poiv1.PoiCategory_POI_CATEGORY_TENDER, Location: place(),
	})
	waybooktest.OK(w.t, err)
	id := created.GetPoi().GetPoiId()
	w.attach(typev1.Kind_KIND_POI, id, users)
	return id
}

// attach adds photos, if content of the kind has them, comments and recommendations.
func (w writer) attach(kind typev1.Kind, id int64, users [2]int64) {
	ctx := w.t.Context()
	for range 2 {
		if kind != typev1.Kind_KIND_BLOG {
			photo := waybooktest.On(kind, id, &photov1.AddPhotoRequest{ActorId: users[0], Url: "x"})
			waybooktest.OK(w.t, failed(w.Photo.AddPhoto(ctx, photo)))
		}
	}
	for range 3 {
		comment := waybooktest.On(kind, id, &commentv1.AddCommentRequest{AuthorId: users[1], Text: "x"})
		waybooktest.OK(w.t, failed(w.Comment.AddComment(ctx, comment)))
	}
	for _, user := range users {
		recommendation := waybooktest.On(kind, id, &recommendationv1.RecommendRequest{UserId: user})
		waybooktest.OK(w.t, failed(w.Recommendation.Recommend(ctx, recommendation)))
	}
}

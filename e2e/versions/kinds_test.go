package versions

import (
	"context"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/waybook/waybook/e2e/launch"
	"github.com/waybook/waybook/internal/clients"
	"github.com/waybook/waybook/internal/waybooktest"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	commentv1 "github.com/waybook/waybook/proto/gen/waybook/comment/v1"
	photov1 "github.com/waybook/waybook/proto/gen/waybook/photo/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	recommendationv1 "github.com/waybook/waybook/proto/gen/waybook/recommendation/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// program is a running program of either version.
type program struct {
	*launch.Process
	isOlder bool
	clients.Clients
}

// start starts a program of one of the versions on a store.
func start(t *testing.T, binary, uri string) *program {
	t.Helper()
	process := launch.Start(t, binary, t.TempDir(), "-mongodb-uri", uri, "-demo=false")
	connection := launch.Dial(t, process.GRPC)
	return &program{Process: process, isOlder: binary == programs.older, Clients: clients.Of(connection, connection, connection, connection)}
}

// shown is what a program shows of a document.
type shown struct {
	title    string
	score    int64
	votes    []int64
	comments map[int64]string
	photos   map[int64]string
}

// kind is what albums, entries and landmarks have in common.
type kind struct {
	// name is the prefix of the collections of attachments; documents is the name of the collection.
	name, documents string
	// number is that of the kind in the contracts.
	number typev1.Kind
	create func(ctx context.Context, p *program, owner int64, title string) (int64, error)
	rename func(ctx context.Context, p *program, owner, id int64, title string) error
	remove func(ctx context.Context, p *program, owner, id int64) error
	// head is the title, the score and the votes of a document.
	head func(ctx context.Context, p *program, id int64) (shown, error)
	// hasNoPhotos says that documents have no photos.
	hasNoPhotos bool
	// vote is nil if documents have no vote.
	vote func(ctx context.Context, p *program, user, id int64, choice int32) error
}

// pageSize is more than the attachments of any document of these tests.
const pageSize = 1000

func place() *typev1.Location { return &typev1.Location{Lat: 25.034, Lng: 121.5645} }

func failed[T any](_ T, err error) error { return err }

func (k *kind) show(ctx context.Context, p *program, id int64) (shown, error) {
	all, err := k.head(ctx, p, id)
	if err != nil {
		return shown{}, err
	}
	comments, err := p.Comment.ListComments(ctx, waybooktest.On(k.number, id, &commentv1.ListCommentsRequest{PageSize: pageSize}))
	if err != nil {
		return shown{}, err
	}
	all.comments, all.photos = map[int64]string{}, map[int64]string{}
	for _, each := range comments.GetComments() {
		all.comments[each.GetCommentId()] = each.GetText()
	}
	if k.hasNoPhotos {
		return all, nil
	}
	photos, err := p.Photo.ListPhotos(ctx, waybooktest.On(k.number, id, &photov1.ListPhotosRequest{PageSize: pageSize}))
	for _, each := range photos.GetPhotos() {
		all.photos[each.GetPhotoId()] = each.GetUrl()
	}
	return all, err
}

func (k *kind) comment(ctx context.Context, p *program, author, id int64, text string) (int64, error) {
	r, err := p.Comment.AddComment(ctx, waybooktest.On(k.number, id, &commentv1.AddCommentRequest{AuthorId: author, Text: text}))
	return r.GetComment().GetCommentId(), err
}

func (k *kind) uncomment(ctx context.Context, p *program, author, id, comment int64) error {
	return failed(p.Comment.RemoveComment(ctx, waybooktest.On(k.number, id, &commentv1.RemoveCommentRequest{ActorId: author, CommentId: comment})))
}

func (k *kind) recommend(ctx context.Context, p *program, user, id int64) error {
	return failed(p.Recommendation.Recommend(ctx, waybooktest.On(k.number, id, &recommendationv1.RecommendRequest{UserId: user})))
}

func (k *kind) withdraw(ctx context.Context, p *program, user, id int64) error {
	return failed(p.Recommendation.Withdraw(ctx, waybooktest.On(k.number, id, &recommendationv1.WithdrawRequest{UserId: user})))
}

func (k *kind) photo(ctx context.Context, p *program, owner, id int64, url string) (int64, error) {
	r, err := p.Photo.AddPhoto(ctx, waybooktest.On(k.number, id, &photov1.AddPhotoRequest{ActorId: owner, Url: url}))
	return r.GetPhoto().GetPhotoId(), err
}

func (k *kind) unphoto(ctx context.Context, p *program, owner, id, photo int64) error {
	return failed(p.Photo.RemovePhoto(ctx, waybooktest.On(k.number, id, &photov1.RemovePhotoRequest{ActorId: owner, PhotoId: photo})))
}

func albumKind() *kind {
	return &kind{
		number: typev1.Kind_KIND_ALBUM, name: "album", documents: "albums",
		create: func(ctx context.Context, p *program, owner int64, title string) (int64, error) {
			r, err := p.Album.CreateAlbum(ctx, &albumv1.CreateAlbumRequest{OwnerId: owner, Title: title, Category: 1, Location: place()})
			return r.GetAlbum().GetAlbumId(), err
		},
		rename: func(ctx context.Context, p *program, owner, id int64, title string) error {
			return failed(p.Album.UpdateAlbum(ctx, &albumv1.UpdateAlbumRequest{ActorId: owner, AlbumId: id, Title: proto.String(title)}))
		},
		remove: func(ctx context.Context, p *program, owner, id int64) error {
			return failed(p.Album.DeleteAlbum(ctx, &albumv1.DeleteAlbumRequest{ActorId: owner, AlbumId: id}))
		},
		head: func(ctx context.Context, p *program, id int64) (shown, error) {
			album, err := p.Album.GetAlbum(ctx, &albumv1.GetAlbumRequest{AlbumId: id})
			return shown{title: album.GetAlbum().GetTitle(), score: album.GetAlbum().GetScore()}, err
		},
	}
}

// choiceCount is the number of choices of each vote.
const choiceCount = 3

func blogKind() *kind {
	return &kind{
		number: typev1.Kind_KIND_BLOG, name: "blog", documents: "blogs", hasNoPhotos: true,
		create: func(ctx context.Context, p *program, owner int64, title string) (int64, error) {
			r, err := p.Blog.CreateBlog(ctx, &blogv1.CreateBlogRequest{
				AuthorId: owner, Type: blogv1.BlogType_BLOG_TYPE_MOOD, Location: place(), Title: title, Content: "x",
				PostDate: &typev1.Date{Year: 2026, Month: 2, Day: 28}, Weather: blogv1.Weather_WEATHER_RAINBOW,
				Vote: &blogv1.NewVote{Description: "x", Choices: []string{"a", "b", "c"}},
			})
			return r.GetBlog().GetBlogId(), err
		},
		rename: func(ctx context.Context, p *program, owner, id int64, title string) error {
			return failed(p.Blog.UpdateBlog(ctx, &blogv1.UpdateBlogRequest{ActorId: owner, BlogId: id, Title: proto.String(title)}))
		},
		remove: func(ctx context.Context, p *program, owner, id int64) error {
			return failed(p.Blog.DeleteBlog(ctx, &blogv1.DeleteBlogRequest{ActorId: owner, BlogId: id}))
		},
		head: func(ctx context.Context, p *program, id int64) (shown, error) {
			blog, err := p.Blog.GetBlog(ctx, &blogv1.GetBlogRequest{BlogId: id})
			var votes []int64
			for _, choice := range blog.GetBlog().GetVote().GetChoices() {
				votes = append(votes, choice.GetVotes())
			}
			return shown{title: blog.GetBlog().GetTitle(), score: blog.GetBlog().GetScore(), votes: votes}, err
		},
		vote: func(ctx context.Context, p *program, user, id int64, choice int32) error {
			return failed(p.Blog.CastBallot(ctx, &blogv1.CastBallotRequest{VoterId: user, BlogId: id, Choice: choice}))
		},
	}
}

// category is the category of the landmarks of these tests.
const category = poiv1.PoiCategory_POI_CATEGORY_THRILL

func poiKind() *kind {
	return &kind{
		number: typev1.Kind_KIND_POI, name: "poi", documents: "pois",
		create: func(ctx context.Context, p *program, owner int64, title string) (int64, error) {
			r, err := p.Poi.CreatePoi(ctx, &poiv1.CreatePoiRequest{OwnerId: owner, Name: title, Category: category, Location: place()})
			return r.GetPoi().GetPoiId(), err
		},
		rename: func(ctx context.Context, p *program, owner, id int64, title string) error {
			return failed(p.Poi.UpdatePoi(ctx, &poiv1.UpdatePoiRequest{ActorId: owner, PoiId: id, Name: proto.String(title)}))
		},
		remove: func(ctx context.Context, p *program, owner, id int64) error {
			return failed(p.Poi.DeletePoi(ctx, &poiv1.DeletePoiRequest{ActorId: owner, PoiId: id}))
		},
		head: func(ctx context.Context, p *program, id int64) (shown, error) {
			poi, err := p.Poi.GetPoi(ctx, &poiv1.GetPoiRequest{PoiId: id})
			return shown{title: poi.GetPoi().GetName(), score: poi.GetPoi().GetScore()}, err
		},
	}
}

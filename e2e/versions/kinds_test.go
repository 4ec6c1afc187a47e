package versions

import (
	"context"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/waybook/waybook/e2e/launch"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
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
	isOlder  bool
	accounts accountv1.AccountServiceClient
	albums   albumv1.AlbumServiceClient
	blogs    blogv1.BlogServiceClient
	pois     poiv1.PoiServiceClient
}

// start starts a program of one of the versions on a store.
func start(t *testing.T, binary, uri string) *program {
	t.Helper()
	process := launch.Start(t, binary, t.TempDir(), "-mongodb-uri", uri, "-demo=false")
	connection := launch.Dial(t, process.GRPC)
	return &program{
		Process: process, isOlder: binary == programs.older,
		accounts: accountv1.NewAccountServiceClient(connection), albums: albumv1.NewAlbumServiceClient(connection),
		blogs: blogv1.NewBlogServiceClient(connection), pois: poiv1.NewPoiServiceClient(connection),
	}
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
	create          func(ctx context.Context, p *program, owner int64, title string) (int64, error)
	rename          func(ctx context.Context, p *program, owner, id int64, title string) error
	remove          func(ctx context.Context, p *program, owner, id int64) error
	show            func(ctx context.Context, p *program, id int64) (shown, error)
	comment         func(ctx context.Context, p *program, author, id int64, text string) (int64, error)
	uncomment       func(ctx context.Context, p *program, author, id, comment int64) error
	recommend       func(ctx context.Context, p *program, user, id int64) error
	withdraw        func(ctx context.Context, p *program, user, id int64) error
	// photo and unphoto are nil if documents have no photos.
	photo   func(ctx context.Context, p *program, owner, id int64, url string) (int64, error)
	unphoto func(ctx context.Context, p *program, owner, id, photo int64) error
	// vote is nil if documents have no vote.
	vote func(ctx context.Context, p *program, user, id int64, choice int32) error
}

// pageSize is more than the attachments of any document of these tests.
const pageSize = 1000

func place() *typev1.Location { return &typev1.Location{Lat: 25.034, Lng: 121.5645} }

func failed[T any](_ T, err error) error { return err }

func texts(comments []*commentv1.Comment) map[int64]string {
	all := map[int64]string{}
	for _, each := range comments {
		all[each.GetCommentId()] = each.GetText()
	}
	return all
}

func albumKind() *kind {
	return &kind{
		name: "album", documents: "albums",
		create: func(ctx context.Context, p *program, owner int64, title string) (int64, error) {
			r, err := p.albums.CreateAlbum(ctx, &albumv1.CreateAlbumRequest{OwnerId: owner, Title: title, Category: 1, Location: place()})
			return r.GetAlbum().GetAlbumId(), err
		},
		rename: func(ctx context.Context, p *program, owner, id int64, title string) error {
			return failed(p.albums.UpdateAlbum(ctx, &albumv1.UpdateAlbumRequest{ActorId: owner, AlbumId: id, Title: proto.String(title)}))
		},
		remove: func(ctx context.Context, p *program, owner, id int64) error {
			return failed(p.albums.DeleteAlbum(ctx, &albumv1.DeleteAlbumRequest{ActorId: owner, AlbumId: id}))
		},
		show: func(ctx context.Context, p *program, id int64) (shown, error) {
			album, err := p.albums.GetAlbum(ctx, &albumv1.GetAlbumRequest{AlbumId: id})
			if err != nil {
				return shown{}, err
			}
			comments, err := p.albums.ListComments(ctx, &commentv1.ListCommentsRequest{Parent: &commentv1.ListCommentsRequest_AlbumId{AlbumId: id}, PageSize: pageSize})
			if err != nil {
				return shown{}, err
			}
			photos, err := p.albums.ListPhotos(ctx, &photov1.ListPhotosRequest{Parent: &photov1.ListPhotosRequest_AlbumId{AlbumId: id}, PageSize: pageSize})
			urls := map[int64]string{}
			for _, each := range photos.GetPhotos() {
				urls[each.GetPhotoId()] = each.GetUrl()
			}
			return shown{album.GetAlbum().GetTitle(), album.GetAlbum().GetScore(), nil, texts(comments.GetComments()), urls}, err
		},
		comment: func(ctx context.Context, p *program, author, id int64, text string) (int64, error) {
			r, err := p.albums.AddComment(ctx, &commentv1.AddCommentRequest{AuthorId: author, Parent: &commentv1.AddCommentRequest_AlbumId{AlbumId: id}, Text: text})
			return r.GetComment().GetCommentId(), err
		},
		uncomment: func(ctx context.Context, p *program, author, id, comment int64) error {
			return failed(p.albums.RemoveComment(ctx, &commentv1.RemoveCommentRequest{ActorId: author, Parent: &commentv1.RemoveCommentRequest_AlbumId{AlbumId: id}, CommentId: comment}))
		},
		recommend: func(ctx context.Context, p *program, user, id int64) error {
			return failed(p.albums.Recommend(ctx, &recommendationv1.RecommendRequest{UserId: user, Parent: &recommendationv1.RecommendRequest_AlbumId{AlbumId: id}}))
		},
		withdraw: func(ctx context.Context, p *program, user, id int64) error {
			return failed(p.albums.WithdrawRecommendation(ctx, &recommendationv1.WithdrawRequest{UserId: user, Parent: &recommendationv1.WithdrawRequest_AlbumId{AlbumId: id}}))
		},
		photo: func(ctx context.Context, p *program, owner, id int64, url string) (int64, error) {
			r, err := p.albums.AddPhoto(ctx, &photov1.AddPhotoRequest{ActorId: owner, Parent: &photov1.AddPhotoRequest_AlbumId{AlbumId: id}, Url: url})
			return r.GetPhoto().GetPhotoId(), err
		},
		unphoto: func(ctx context.Context, p *program, owner, id, photo int64) error {
			return failed(p.albums.RemovePhoto(ctx, &photov1.RemovePhotoRequest{ActorId: owner, Parent: &photov1.RemovePhotoRequest_AlbumId{AlbumId: id}, PhotoId: photo}))
		},
	}
}

// choiceCount is the number of choices of each vote.
const choiceCount = 3

func blogKind() *kind {
	return &kind{
		name: "blog", documents: "blogs",
		create: func(ctx context.Context, p *program, owner int64, title string) (int64, error) {
			r, err := p.blogs.CreateBlog(ctx, &blogv1.CreateBlogRequest{
				AuthorId: owner, Type: blogv1.BlogType_BLOG_TYPE_MOOD, Location: place(), Title: title, Content: "x",
				PostDate: &typev1.Date{Year: 2026, Month: 2, Day: 28}, Weather: blogv1.Weather_WEATHER_RAINBOW,
				Vote: &blogv1.NewVote{Description: "x", Choices: []string{"a", "b", "c"}},
			})
			return r.GetBlog().GetBlogId(), err
		},
		rename: func(ctx context.Context, p *program, owner, id int64, title string) error {
			return failed(p.blogs.UpdateBlog(ctx, &blogv1.UpdateBlogRequest{ActorId: owner, BlogId: id, Title: proto.String(title)}))
		},
		remove: func(ctx context.Context, p *program, owner, id int64) error {
			return failed(p.blogs.DeleteBlog(ctx, &blogv1.DeleteBlogRequest{ActorId: owner, BlogId: id}))
		},
		show: func(ctx context.Context, p *program, id int64) (shown, error) {
			blog, err := p.blogs.GetBlog(ctx, &blogv1.GetBlogRequest{BlogId: id})
			if err != nil {
				return shown{}, err
			}
			comments, err := p.blogs.ListComments(ctx, &commentv1.ListCommentsRequest{Parent: &commentv1.ListCommentsRequest_BlogId{BlogId: id}, PageSize: pageSize})
			var votes []int64
			for _, choice := range blog.GetBlog().GetVote().GetChoices() {
				votes = append(votes, choice.GetVotes())
			}
			return shown{blog.GetBlog().GetTitle(), blog.GetBlog().GetScore(), votes, texts(comments.GetComments()), map[int64]string{}}, err
		},
		comment: func(ctx context.Context, p *program, author, id int64, text string) (int64, error) {
			r, err := p.blogs.AddComment(ctx, &commentv1.AddCommentRequest{AuthorId: author, Parent: &commentv1.AddCommentRequest_BlogId{BlogId: id}, Text: text})
			return r.GetComment().GetCommentId(), err
		},
		uncomment: func(ctx context.Context, p *program, author, id, comment int64) error {
			return failed(p.blogs.RemoveComment(ctx, &commentv1.RemoveCommentRequest{ActorId: author, Parent: &commentv1.RemoveCommentRequest_BlogId{BlogId: id}, CommentId: comment}))
		},
		recommend: func(ctx context.Context, p *program, user, id int64) error {
			return failed(p.blogs.Recommend(ctx, &recommendationv1.RecommendRequest{UserId: user, Parent: &recommendationv1.RecommendRequest_BlogId{BlogId: id}}))
		},
		withdraw: func(ctx context.Context, p *program, user, id int64) error {
			return failed(p.blogs.WithdrawRecommendation(ctx, &recommendationv1.WithdrawRequest{UserId: user, Parent: &recommendationv1.WithdrawRequest_BlogId{BlogId: id}}))
		},
		vote: func(ctx context.Context, p *program, user, id int64, choice int32) error {
			return failed(p.blogs.CastBallot(ctx, &blogv1.CastBallotRequest{VoterId: user, BlogId: id, Choice: choice}))
		},
	}
}

// category is the category of the landmarks of these tests.
const category = poiv1.PoiCategory_POI_CATEGORY_THRILL

func poiKind() *kind {
	return &kind{
		name: "poi", documents: "pois",
		create: func(ctx context.Context, p *program, owner int64, title string) (int64, error) {
			r, err := p.pois.CreatePoi(ctx, &poiv1.CreatePoiRequest{OwnerId: owner, Name: title, Category: category, Location: place()})
			return r.GetPoi().GetPoiId(), err
		},
		rename: func(ctx context.Context, p *program, owner, id int64, title string) error {
			return failed(p.pois.UpdatePoi(ctx, &poiv1.UpdatePoiRequest{ActorId: owner, PoiId: id, Name: proto.String(title)}))
		},
		remove: func(ctx context.Context, p *program, owner, id int64) error {
			return failed(p.pois.DeletePoi(ctx, &poiv1.DeletePoiRequest{ActorId: owner, PoiId: id}))
		},
		show: func(ctx context.Context, p *program, id int64) (shown, error) {
			poi, err := p.pois.GetPoi(ctx, &poiv1.GetPoiRequest{PoiId: id})
			if err != nil {
				return shown{}, err
			}
			comments, err := p.pois.ListComments(ctx, &commentv1.ListCommentsRequest{Parent: &commentv1.ListCommentsRequest_PoiId{PoiId: id}, PageSize: pageSize})
			if err != nil {
				return shown{}, err
			}
			photos, err := p.pois.ListPhotos(ctx, &photov1.ListPhotosRequest{Parent: &photov1.ListPhotosRequest_PoiId{PoiId: id}, PageSize: pageSize})
			urls := map[int64]string{}
			for _, each := range photos.GetPhotos() {
				urls[each.GetPhotoId()] = each.GetUrl()
			}
			return shown{poi.GetPoi().GetName(), poi.GetPoi().GetScore(), nil, texts(comments.GetComments()), urls}, err
		},
		comment: func(ctx context.Context, p *program, author, id int64, text string) (int64, error) {
			r, err := p.pois.AddComment(ctx, &commentv1.AddCommentRequest{AuthorId: author, Parent: &commentv1.AddCommentRequest_PoiId{PoiId: id}, Text: text})
			return r.GetComment().GetCommentId(), err
		},
		uncomment: func(ctx context.Context, p *program, author, id, comment int64) error {
			return failed(p.pois.RemoveComment(ctx, &commentv1.RemoveCommentRequest{ActorId: author, Parent: &commentv1.RemoveCommentRequest_PoiId{PoiId: id}, CommentId: comment}))
		},
		recommend: func(ctx context.Context, p *program, user, id int64) error {
			return failed(p.pois.Recommend(ctx, &recommendationv1.RecommendRequest{UserId: user, Parent: &recommendationv1.RecommendRequest_PoiId{PoiId: id}}))
		},
		withdraw: func(ctx context.Context, p *program, user, id int64) error {
			return failed(p.pois.WithdrawRecommendation(ctx, &recommendationv1.WithdrawRequest{UserId: user, Parent: &recommendationv1.WithdrawRequest_PoiId{PoiId: id}}))
		},
		photo: func(ctx context.Context, p *program, owner, id int64, url string) (int64, error) {
			r, err := p.pois.AddPhoto(ctx, &photov1.AddPhotoRequest{ActorId: owner, Parent: &photov1.AddPhotoRequest_PoiId{PoiId: id}, Url: url})
			return r.GetPhoto().GetPhotoId(), err
		},
		unphoto: func(ctx context.Context, p *program, owner, id, photo int64) error {
			return failed(p.pois.RemovePhoto(ctx, &photov1.RemovePhotoRequest{ActorId: owner, Parent: &photov1.RemovePhotoRequest_PoiId{PoiId: id}, PhotoId: photo}))
		},
	}
}

package world

import (
	"context"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/waybook/waybook/internal/waybooktest"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	recommendationv1 "github.com/waybook/waybook/proto/gen/waybook/recommendation/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// kind is a kind of content, with the names that clients use for it.
type kind struct {
	// name is what errors call it, id the parameter with its identifier, and title that with its title.
	name, id, title string
	// add, get, update and list are operations; added are the other parameters of an add. Landmarks have no add
	// and no update.
	add, get, update, list string
	added, updated         []string
	// isShared: a list has what all users have added.
	isShared bool
	// photo is the parameter with a photo, and files is in the paths of the files of photos; empty if there are none.
	photo, files string
	// items is the element with the items of a list.
	items, notFound string
	// create returns the identifier of what it created, or had created before by the same request.
	create func(ctx context.Context, p *program, by *user, title, requestID string) (int64, error)
	rename func(ctx context.Context, p *program, by *user, id int64, title string) error
	remove func(ctx context.Context, p *program, by *user, id int64) error
	// read returns the titles of those that exist of some contents.
	read func(p *program, ids []int64) (map[int64]string, error)
	// number is that of the kind in the contracts.
	number typev1.Kind
}

// recommenders returns how many users recommend content, as their list has it.
func (k *kind) recommenders(p *program, id int64) (int, error) {
	page, err := p.Recommendation.ListRecommenders(
		context.Background(), waybooktest.On(k.number, id, &recommendationv1.ListRecommendersRequest{}))
	return len(page.GetRecommenders()), err
}

// A diary entry, whose vote has two choices.
var entry = []string{
	"type", "0_0", "lat", "25", "lng", "121", "blogContent", "text", "year", "2026", "month", "1", "day", "1", "weather", "晴空萬里",
}

var kinds = []*kind{
	{
		number: typev1.Kind_KIND_ALBUM, name: "album", id: "albumID", title: "albumTitle", photo: "thumbnail", files: "album", items: "albumList", notFound: "ALBUM NOT FOUND",
		add: "addAlbum", get: "getAlbum", update: "updateAlbum", list: "getUserAlbumList",
		added: []string{"category", "5", "lat", "25", "lng", "121"},
		create: func(ctx context.Context, p *program, by *user, title, requestID string) (int64, error) {
			created, err := p.Album.CreateAlbum(ctx, &albumv1.CreateAlbumRequest{
				RequestId: requestID, OwnerId: by.id, Title: title, Category: albumv1.AlbumCategory_ALBUM_CATEGORY_FOOD, Location: here(),
			})
			return created.GetAlbum().GetAlbumId(), err
		},
		rename: func(ctx context.Context, p *program, by *user, id int64, title string) error {
			_, err := p.Album.UpdateAlbum(ctx, &albumv1.UpdateAlbumRequest{ActorId: by.id, AlbumId: id, Title: &title})
			return err
		},
		remove: func(ctx context.Context, p *program, by *user, id int64) error {
			_, err := p.Album.DeleteAlbum(ctx, &albumv1.DeleteAlbumRequest{ActorId: by.id, AlbumId: id})
			return err
		},
		read: func(p *program, ids []int64) (map[int64]string, error) {
			found, err := p.Album.BatchGetAlbums(context.Background(), &albumv1.BatchGetAlbumsRequest{AlbumIds: ids})
			titles := map[int64]string{}
			for _, each := range found.GetAlbums() {
				titles[each.GetAlbumId()] = each.GetTitle()
			}
			return titles, err
		},
	},
	{
		number: typev1.Kind_KIND_BLOG, name: "blog", id: "blogID", title: "blogTitle", items: "blogList", notFound: "BLOG NOT FOUND",
		add: "postBlog", get: "getBlog", update: "updateBlog", list: "getUserBlogList",
		added: append([]string{"voteDescription", "which", "choice1", "one", "choice2", "two"}, entry...), updated: entry,
		create: func(ctx context.Context, p *program, by *user, title, requestID string) (int64, error) {
			created, err := p.Blog.CreateBlog(ctx, &blogv1.CreateBlogRequest{
				RequestId: requestID, AuthorId: by.id, Type: blogv1.BlogType_BLOG_TYPE_FOOD, Location: here(), Title: title,
				Content: "text", PostDate: &typev1.Date{Year: 2026, Month: 1, Day: 1}, Weather: blogv1.Weather(1),
				Vote: &blogv1.NewVote{Description: "which", Choices: []string{"one", "two"}},
			})
			return created.GetBlog().GetBlogId(), err
		},
		rename: func(ctx context.Context, p *program, by *user, id int64, title string) error {
			_, err := p.Blog.UpdateBlog(ctx, &blogv1.UpdateBlogRequest{ActorId: by.id, BlogId: id, Title: &title})
			return err
		},
		remove: func(ctx context.Context, p *program, by *user, id int64) error {
			_, err := p.Blog.DeleteBlog(ctx, &blogv1.DeleteBlogRequest{ActorId: by.id, BlogId: id})
			return err
		},
		read: func(p *program, ids []int64) (map[int64]string, error) {
			found, err := p.Blog.BatchGetBlogs(context.Background(), &blogv1.BatchGetBlogsRequest{BlogIds: ids})
			titles := map[int64]string{}
			for _, each := range found.GetBlogs() {
				titles[each.GetBlogId()] = each.GetTitle()
			}
			return titles, err
		},
	}, {
		number: typev1.Kind_KIND_POI, name: "landmark", id: "POIID", title: "name", photo: "photo", files: "poi", items: "POIList", notFound: "POI NOT FOUND",
		get: "getPOI", list: "getCategoryPOIList", isShared: true,
		create: func(ctx context.Context, p *program, by *user, title, requestID string) (int64, error) {
			created, err := p.Poi.CreatePoi(ctx, &poiv1.CreatePoiRequest{
				RequestId: requestID, OwnerId: by.id, Name: title, Category: category, Location: here(),
			})
			return created.GetPoi().GetPoiId(), err
		},
		rename: func(ctx context.Context, p *program, by *user, id int64, title string) error {
			_, err := p.Poi.UpdatePoi(ctx, &poiv1.UpdatePoiRequest{ActorId: by.id, PoiId: id, Name: &title})
			return err
		},
		remove: func(ctx context.Context, p *program, by *user, id int64) error {
			_, err := p.Poi.DeletePoi(ctx, &poiv1.DeletePoiRequest{ActorId: by.id, PoiId: id})
			return err
		},
		read: func(p *program, ids []int64) (map[int64]string, error) {
			found, err := p.Poi.BatchGetPois(context.Background(), &poiv1.BatchGetPoisRequest{PoiIds: ids})
			titles := map[int64]string{}
			for _, each := range found.GetPois() {
				titles[each.GetPoiId()] = each.GetName()
			}
			return titles, err
		},
	},
}

// category is that of all landmarks.
const category = poiv1.PoiCategory_POI_CATEGORY_TENDER

func here() *typev1.Location { return &typev1.Location{Lat: 25, Lng: 121} }

// retitled changes the title of content by a form or by gRPC, and returns what came back as a form would.
func (w *world) retitled(c *item, as *user, title string) reply {
	if c.kind.update != "" && w.random.IntN(2) == 0 {
		return w.sendAbout(c, as, c.kind.update, append([]string{c.kind.title, title}, c.kind.updated...)...)
	}
	p := w.anyProgram()
	err := c.kind.rename(as.context(), p, as, c.id, title)
	return w.answered(p, as, c.kind.replyOf(err), "makes %q the title of %s %d by gRPC", title, c.kind.name, c.id)
}

// removed removes content in the same ways.
func (w *world) removed(c *item, as *user) reply {
	if c.kind.update != "" && w.random.IntN(2) == 0 {
		return w.sendAbout(c, as, c.kind.update, "delete", "true")
	}
	p := w.anyProgram()
	err := c.kind.remove(as.context(), p, as, c.id)
	return w.answered(p, as, c.kind.replyOf(err), "removes %s %d by gRPC", c.kind.name, c.id)
}

// replyOf returns the reply to a form for the result of a call.
func (k *kind) replyOf(err error) reply {
	r := reply{isDone: err == nil}
	switch status.Code(err) {
	case codes.NotFound:
		r.info = k.notFound
	case codes.PermissionDenied:
		r.info = "NOT OWNER"
	}
	return r
}

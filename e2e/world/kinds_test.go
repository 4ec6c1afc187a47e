package world

import (
	"context"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// kind is a kind of content, with the names that clients use for it.
type kind struct {
	// name is what errors call it, id the parameter with its identifier, and title that with its title.
	name, id, title string
	// add, get, update and list are operations; added are the other parameters of an add.
	add, get, update, list string
	added, updated         []string
	// items is the element with the items of a list.
	items, notFound string
	remove          func(p *program, by *user, id int64) error
	changes         func(p *program, token string) (changes, error)
}

// changes is a page of a feed.
type changes struct {
	titles  map[int64]string
	deleted []int64
	token   string
	hasMore bool
}

// A diary entry, whose vote has two choices.
var entry = []string{
	"type", "0_0", "lat", "25", "lng", "121", "blogContent", "text", "year", "2026", "month", "1", "day", "1", "weather", "晴空萬里",
}

var kinds = []*kind{
	{
		name: "album", id: "albumID", title: "albumTitle", items: "albumList", notFound: "ALBUM NOT FOUND",
		add: "addAlbum", get: "getAlbum", update: "updateAlbum", list: "getUserAlbumList",
		added: []string{"category", "5", "lat", "25", "lng", "121"},
		remove: func(p *program, by *user, id int64) error {
			_, err := p.album.DeleteAlbum(context.Background(), &albumv1.DeleteAlbumRequest{ActorId: by.id, AlbumId: id})
			return err
		},
		changes: func(p *program, token string) (changes, error) {
			page, err := p.album.ListAlbumChanges(context.Background(), &albumv1.ListAlbumChangesRequest{PageToken: token, IncludeAlbum: true})
			c := changes{titles: map[int64]string{}, token: page.GetNextPageToken(), hasMore: page.GetHasMore()}
			for _, each := range page.GetChanges() {
				c.add(each.GetAlbumId(), each.GetKind(), each.GetAlbum().GetTitle())
			}
			return c, err
		},
	},
	{
		name: "blog", id: "blogID", title: "blogTitle", items: "blogList", notFound: "BLOG NOT FOUND",
		add: "postBlog", get: "getBlog", update: "updateBlog", list: "getUserBlogList",
		added: append([]string{"voteDescription", "which", "choice1", "one", "choice2", "two"}, entry...), updated: entry,
		remove: func(p *program, by *user, id int64) error {
			_, err := p.blog.DeleteBlog(context.Background(), &blogv1.DeleteBlogRequest{ActorId: by.id, BlogId: id})
			return err
		},
		changes: func(p *program, token string) (changes, error) {
			page, err := p.blog.ListBlogChanges(context.Background(), &blogv1.ListBlogChangesRequest{PageToken: token, IncludeBlog: true})
			c := changes{titles: map[int64]string{}, token: page.GetNextPageToken(), hasMore: page.GetHasMore()}
			for _, each := range page.GetChanges() {
				c.add(each.GetBlogId(), each.GetKind(), each.GetBlog().GetTitle())
			}
			return c, err
		},
	},
}

func (c *changes) add(id int64, kind typev1.ChangeKind, title string) {
	if kind == typev1.ChangeKind_CHANGE_KIND_DELETED {
		c.deleted = append(c.deleted, id)
	} else {
		c.titles[id] = title
	}
}

// removed removes content by gRPC and returns what came back as a form would.
func (w *world) removed(c *item) reply {
	err := c.kind.remove(w.running, c.owner, c.id)
	r := reply{isDone: err == nil}
	if status.Code(err) == codes.NotFound {
		r.info = c.kind.notFound
	}
	return w.answered(r, "%s removes %s %d by gRPC", c.owner.name, c.kind.name, c.id)
}

package cli

import (
	"context"

	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	"github.com/waybook/waybook/waybookctl/output"
)

type albumRecent struct {
	limit `embed:""`

	Category word[albumv1.AlbumCategory] `placeholder:"CATEGORY" help:"Only albums of this category."`
}

// Run lists the albums.
func (c *albumRecent) Run(ctx context.Context, call *services, out *output.Printer) error {
	return output.Items(out, "albums", albumColumns(), pages(c.limit, func(page pageOf) ([]*albumv1.Album, string, error) {
		listed, err := call.album.ListRecentAlbums(ctx, &albumv1.ListRecentAlbumsRequest{
			Category: c.Category.value, PageSize: page.size, PageToken: page.token,
		})
		return listed.GetAlbums(), listed.GetNextPageToken(), err
	}))
}

type entryRecent struct {
	limit `embed:""`

	Type word[blogv1.BlogType] `placeholder:"TYPE" help:"Only entries of this type."`
}

// Run lists the entries.
func (c *entryRecent) Run(ctx context.Context, call *services, out *output.Printer) error {
	return output.Items(out, "entries", entryColumns(), pages(c.limit, func(page pageOf) ([]*blogv1.Blog, string, error) {
		listed, err := call.blog.ListRecentBlogs(ctx, &blogv1.ListRecentBlogsRequest{
			Type: c.Type.value, PageSize: page.size, PageToken: page.token,
		})
		return listed.GetBlogs(), listed.GetNextPageToken(), err
	}))
}

package cli

import (
	"context"

	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
	"github.com/waybook/waybook/waybookctl/output"
)

type albumCommands struct {
	List   albumList   `cmd:"" help:"List a user's albums in creation order."`
	Show   albumShow   `cmd:"" help:"Show an album with its first photos and comments."`
	Delete albumDelete `cmd:"" help:"Delete an album with its photos and comments."`
}

type entryCommands struct {
	List   entryList   `cmd:"" help:"List a user's entries in creation order; tables leave out their texts."`
	Show   entryShow   `cmd:"" help:"Show an entry with its text, vote and first comments, even before its planned date."`
	Delete entryDelete `cmd:"" help:"Delete an entry with its vote and comments."`
}

type landmarkCommands struct {
	List   landmarkList   `cmd:"" help:"List the landmarks of a user or of a category."`
	Show   landmarkShow   `cmd:"" help:"Show a landmark with its first photos and comments."`
	Update landmarkUpdate `cmd:"" help:"Change a landmark's name, category or location."`
	Delete landmarkDelete `cmd:"" help:"Delete a landmark with its photos and comments."`
	Import landmarkImport `cmd:"" help:"Import landmarks from a file: GeoJSON, NDJSON or CSV."`
	Export landmarkExport `cmd:"" help:"Export landmarks to a file."`
}

// owned is a list of what one user has.
type owned struct {
	limit
	Owner int64 `required:"" placeholder:"USER" help:"The owner."`
}

// contentID selects an album, an entry or a landmark.
type contentID struct {
	ID int64 `arg:"" help:"The identifier."`
}

// changed selects what to change or delete. The owner, who alone may do it, is looked up.
type changed struct {
	contentID
	Etag string `placeholder:"ETAG" help:"Only if the etag is still this one, which show -o json prints."`
}

type albumList struct{ owned }

// Run lists the albums.
func (c *albumList) Run(ctx context.Context, call *services, out *output.Printer) error {
	return albums.list(out, c.limit, func(page pageOf) ([]*albumv1.Album, string, error) {
		reply, err := call.Album.ListAlbums(ctx, &albumv1.ListAlbumsRequest{
			OwnerId: c.Owner, WithHidden: true, PageSize: page.size, PageToken: page.token,
		})
		return reply.GetAlbums(), reply.GetNextPageToken(), err
	})
}

type albumShow struct{ contentID }

// Run shows the album.
func (c *albumShow) Run(ctx context.Context, call *services, out *output.Printer) error {
	reply, err := call.Album.GetAlbum(ctx, &albumv1.GetAlbumRequest{AlbumId: c.ID})
	if err != nil {
		return err
	}
	noteMore(out, "PhotoService/ListPhotos", reply.GetNextPhotosToken())
	noteMore(out, "CommentService/ListComments", reply.GetNextCommentsToken())
	return out.Value(output.FromProto(reply), func(page *output.Page) {
		albums.record(page, reply.GetAlbum())
		albumPhotos.rows(page, reply.GetPhotos())
		comments.rows(page, reply.GetComments())
	})
}

// noteMore reports that a list in a reply continues, and the method that returns all of it.
func noteMore(out *output.Printer, method, token string) {
	if token != "" {
		out.Note("there are more; %s returns all, see docs/grpc.md", method)
	}
}

type albumDelete struct{ changed }

// Run deletes the album.
func (c *albumDelete) Run(ctx context.Context, call *services, out *output.Printer) error {
	found, err := call.Album.GetAlbum(ctx, &albumv1.GetAlbumRequest{AlbumId: c.ID})
	if err != nil {
		return err
	}
	_, err = call.Album.DeleteAlbum(ctx, &albumv1.DeleteAlbumRequest{ActorId: found.GetAlbum().GetOwner().GetUserId(), AlbumId: c.ID, Etag: c.Etag})
	return c.noteDeleted(out, err)
}

// noteDeleted reports a deletion, unless it failed.
func (c *changed) noteDeleted(out *output.Printer, err error) error {
	if err == nil {
		out.Note("deleted %d", c.ID)
	}
	return err
}

type entryList struct{ owned }

// Run lists the entries.
func (c *entryList) Run(ctx context.Context, call *services, out *output.Printer) error {
	return entries.list(out, c.limit, func(page pageOf) ([]*blogv1.Blog, string, error) {
		reply, err := call.Blog.ListBlogs(ctx, &blogv1.ListBlogsRequest{
			AuthorId: c.Owner, WithHidden: true, PageSize: page.size, PageToken: page.token,
		})
		return reply.GetBlogs(), reply.GetNextPageToken(), err
	})
}

type entryShow struct{ contentID }

// Run shows the entry.
func (c *entryShow) Run(ctx context.Context, call *services, out *output.Printer) error {
	reply, err := call.Blog.GetBlog(ctx, &blogv1.GetBlogRequest{BlogId: c.ID})
	if err != nil {
		return err
	}
	noteMore(out, "CommentService/ListComments", reply.GetNextCommentsToken())
	return out.Value(output.FromProto(reply), func(page *output.Page) {
		entries.record(page, reply.GetBlog())
		page.Text(reply.GetBlog().GetContent())
		if vote := reply.GetBlog().GetVote(); vote != nil {
			page.Text(vote.GetDescription())
			choices.rows(page, vote.GetChoices())
		}
		comments.rows(page, reply.GetComments())
	})
}

type entryDelete struct{ changed }

// Run deletes the entry.
func (c *entryDelete) Run(ctx context.Context, call *services, out *output.Printer) error {
	found, err := call.Blog.GetBlog(ctx, &blogv1.GetBlogRequest{BlogId: c.ID})
	if err != nil {
		return err
	}
	author := found.GetBlog().GetAuthor().GetUserId()
	_, err = call.Blog.DeleteBlog(ctx, &blogv1.DeleteBlogRequest{ActorId: author, BlogId: c.ID, Etag: c.Etag})
	return c.noteDeleted(out, err)
}

type landmarkList struct {
	limit
	Owner    int64                   `required:"" xor:"of" placeholder:"USER" help:"The owner; the order is that of the keys."`
	Category word[poiv1.PoiCategory] `required:"" xor:"of" placeholder:"CATEGORY" help:"The category; the order is that of creation."`
}

// Run lists the landmarks.
func (c *landmarkList) Run(ctx context.Context, call *services, out *output.Printer) error {
	return landmarks.list(out, c.limit, func(page pageOf) ([]*poiv1.Poi, string, error) {
		reply, err := call.Poi.ListPois(ctx, &poiv1.ListPoisRequest{
			OwnerId: c.Owner, Category: c.Category.value, WithHidden: true, PageSize: page.size, PageToken: page.token,
		})
		return reply.GetPois(), reply.GetNextPageToken(), err
	})
}

type landmarkShow struct{ contentID }

// Run shows the landmark.
func (c *landmarkShow) Run(ctx context.Context, call *services, out *output.Printer) error {
	reply, err := call.Poi.GetPoi(ctx, &poiv1.GetPoiRequest{PoiId: c.ID})
	if err != nil {
		return err
	}
	noteMore(out, "PhotoService/ListPhotos", reply.GetNextPhotosToken())
	noteMore(out, "CommentService/ListComments", reply.GetNextCommentsToken())
	return out.Value(output.FromProto(reply), func(page *output.Page) {
		landmarks.record(page, reply.GetPoi())
		landmarkPhotos.rows(page, reply.GetPhotos())
		comments.rows(page, reply.GetComments())
	})
}

type landmarkUpdate struct {
	changed
	Name     *string                 `placeholder:"NAME" help:"New name, 1 to 200 characters."`
	Category word[poiv1.PoiCategory] `placeholder:"CATEGORY" help:"New category."`
	Lat      *float64                `and:"location" placeholder:"DEGREES" help:"New latitude."`
	Lng      *float64                `and:"location" placeholder:"DEGREES" help:"New longitude."`
}

// Run changes the landmark.
func (c *landmarkUpdate) Run(ctx context.Context, call *services, out *output.Printer) error {
	if c.Name == nil && c.Category.value == 0 && c.Lat == nil {
		return usageError("nothing to change: give --name, --category, or --lat and --lng")
	}
	found, err := call.Poi.GetPoi(ctx, &poiv1.GetPoiRequest{PoiId: c.ID})
	if err != nil {
		return err
	}
	request := &poiv1.UpdatePoiRequest{ActorId: found.GetPoi().GetOwner().GetUserId(), PoiId: c.ID, Name: c.Name, Etag: c.Etag}
	if c.Category.value != 0 {
		request.Category = &c.Category.value
	}
	if c.Lat != nil {
		request.Location = &typev1.Location{Lat: *c.Lat, Lng: *c.Lng}
	}
	updated, err := call.Poi.UpdatePoi(ctx, request)
	if err != nil {
		return err
	}
	return landmarks.print(out, updated.GetPoi())
}

type landmarkDelete struct{ changed }

// Run deletes the landmark.
func (c *landmarkDelete) Run(ctx context.Context, call *services, out *output.Printer) error {
	found, err := call.Poi.GetPoi(ctx, &poiv1.GetPoiRequest{PoiId: c.ID})
	if err != nil {
		return err
	}
	_, err = call.Poi.DeletePoi(ctx, &poiv1.DeletePoiRequest{ActorId: found.GetPoi().GetOwner().GetUserId(), PoiId: c.ID, Etag: c.Etag})
	return c.noteDeleted(out, err)
}

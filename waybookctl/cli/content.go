package cli

import (
	"context"

	"google.golang.org/protobuf/proto"

	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	commentv1 "github.com/waybook/waybook/proto/gen/waybook/comment/v1"
	photov1 "github.com/waybook/waybook/proto/gen/waybook/photo/v1"
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

func (c *albumList) Run(ctx context.Context, call *services, out *output.Printer) error {
	request := &albumv1.ListAlbumsRequest{OwnerId: c.Owner, WithHidden: true}
	return albums.list(out, pages(ctx, c.limit, call.Album.ListAlbums, request,
		(*albumv1.ListAlbumsResponse).GetAlbums))
}

type albumShow struct{ contentID }

func (c *albumShow) Run(ctx context.Context, call *services, out *output.Printer) error {
	reply, err := call.Album.GetAlbum(ctx, &albumv1.GetAlbumRequest{AlbumId: c.ID})
	return show(out, reply, err, func(page *output.Page) { albums.record(page, reply.GetAlbum()) })
}

// withComments is a content in a reply, with its first comments.
type withComments interface {
	proto.Message
	GetComments() []*commentv1.Comment
	GetNextCommentsToken() string
}

// show prints a content that begins with what first lays out, with its first photos and comments.
func show(out *output.Printer, reply withComments, err error, first func(*output.Page)) error {
	if err != nil {
		return err
	}
	withPhotos, hasPhotos := reply.(interface {
		GetPhotos() []*photov1.Photo
		GetNextPhotosToken() string
	})
	if hasPhotos {
		noteMore(out, "PhotoService/ListPhotos", withPhotos.GetNextPhotosToken())
	}
	noteMore(out, "CommentService/ListComments", reply.GetNextCommentsToken())
	return out.Value(output.FromProto(reply), func(page *output.Page) {
		first(page)
		if hasPhotos {
			photos.rows(page, withPhotos.GetPhotos())
		}
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

func (c *albumDelete) Run(ctx context.Context, call *services, out *output.Printer) error {
	return c.delete(ctx, call, out, albumKind)
}

func (c *changed) delete(ctx context.Context, call *services, out *output.Printer, of *kind) error {
	owner, err := of.owner(ctx, call, c.ID)
	if err != nil {
		return err
	}
	if err := of.delete(ctx, call, owner, c.ID, c.Etag); err != nil {
		return err
	}
	out.Note("deleted %d", c.ID)
	return nil
}

type entryList struct{ owned }

func (c *entryList) Run(ctx context.Context, call *services, out *output.Printer) error {
	request := &blogv1.ListBlogsRequest{AuthorId: c.Owner, WithHidden: true}
	return entries.list(out, pages(ctx, c.limit, call.Blog.ListBlogs, request, (*blogv1.ListBlogsResponse).GetBlogs))
}

type entryShow struct{ contentID }

func (c *entryShow) Run(ctx context.Context, call *services, out *output.Printer) error {
	reply, err := call.Blog.GetBlog(ctx, &blogv1.GetBlogRequest{BlogId: c.ID})
	return show(out, reply, err, func(page *output.Page) {
		entries.record(page, reply.GetBlog())
		page.Text(reply.GetBlog().GetContent())
		if vote := reply.GetBlog().GetVote(); vote != nil {
			page.Text(vote.GetDescription())
			choices.rows(page, vote.GetChoices())
		}
	})
}

type entryDelete struct{ changed }

func (c *entryDelete) Run(ctx context.Context, call *services, out *output.Printer) error {
	return c.delete(ctx, call, out, entryKind)
}

type landmarkList struct {
	limit
	Owner    int64                   `required:"" xor:"of" placeholder:"USER" help:"The owner; the order is that of the keys."`
	Category word[poiv1.PoiCategory] `required:"" xor:"of" placeholder:"CATEGORY" help:"The category; the order is that of creation."`
}

func (c *landmarkList) Run(ctx context.Context, call *services, out *output.Printer) error {
	request := &poiv1.ListPoisRequest{OwnerId: c.Owner, Category: c.Category.value, WithHidden: true}
	return landmarks.list(out, pages(ctx, c.limit, call.Poi.ListPois, request, (*poiv1.ListPoisResponse).GetPois))
}

type landmarkShow struct{ contentID }

func (c *landmarkShow) Run(ctx context.Context, call *services, out *output.Printer) error {
	reply, err := call.Poi.GetPoi(ctx, &poiv1.GetPoiRequest{PoiId: c.ID})
	return show(out, reply, err, func(page *output.Page) { landmarks.record(page, reply.GetPoi()) })
}

type landmarkUpdate struct {
	changed
	Name     *string                 `placeholder:"NAME" help:"New name, 1 to 200 characters."`
	Category word[poiv1.PoiCategory] `placeholder:"CATEGORY" help:"New category."`
	Lat      *float64                `and:"location" placeholder:"DEGREES" help:"New latitude."`
	Lng      *float64                `and:"location" placeholder:"DEGREES" help:"New longitude."`
}

func (c *landmarkUpdate) Run(ctx context.Context, call *services, out *output.Printer) error {
	if c.Name == nil && c.Category.value == 0 && c.Lat == nil {
		return usageError("nothing to change: give --name, --category, or --lat and --lng")
	}
	owner, err := landmarkKind.owner(ctx, call, c.ID)
	if err != nil {
		return err
	}
	request := &poiv1.UpdatePoiRequest{ActorId: owner, PoiId: c.ID, Name: c.Name, Etag: c.Etag}
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

func (c *landmarkDelete) Run(ctx context.Context, call *services, out *output.Printer) error {
	return c.delete(ctx, call, out, landmarkKind)
}

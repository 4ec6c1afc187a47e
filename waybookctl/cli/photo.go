package cli

import (
	"context"

	"google.golang.org/protobuf/proto"

	"github.com/waybook/waybook/waybookctl/output"
)

// pictured is content that has photos of type P.
type pictured[P proto.Message] interface {
	content
	photos(ctx context.Context, call *services, id int64, page pageOf) ([]P, string, error)
	addPhoto(ctx context.Context, call *services, actor, id int64, url, description string) (P, error)
	removePhoto(ctx context.Context, call *services, actor, id, photo int64) error
	photoColumns() []output.Column[P]
}

type photoCommands[K pictured[P], P proto.Message] struct {
	Add    photoAdd[K, P]    `cmd:"" help:"Add a photo."`
	List   photoList[K, P]   `cmd:"" help:"List the photos in the order in which they were added."`
	Remove photoRemove[K, P] `cmd:"" help:"Remove a photo."`
}

type photoAdd[K pictured[P], P proto.Message] struct {
	acting[K] `embed:""`

	ID          int64  `arg:"" help:"The ${noun}'s identifier."`
	URL         string `arg:"" help:"URL of the image, absolute or relative."`
	Description string `placeholder:"TEXT" help:"Description, at most 2,000 characters."`
}

// Run adds the photo.
func (c *photoAdd[K, P]) Run(ctx context.Context, call *services, out *output.Printer) error {
	actor, err := c.actor(ctx, call, c.ID)
	if err != nil {
		return err
	}
	var kind K
	added, err := kind.addPhoto(ctx, call, actor, c.ID, c.URL, c.Description)
	if err != nil {
		return err
	}
	return out.Value(output.FromProto(added), func(page *output.Page) { output.Record(page, kind.photoColumns(), added) })
}

type photoList[K pictured[P], P proto.Message] struct {
	limit `embed:""`

	ID int64 `arg:"" help:"The ${noun}'s identifier."`
}

// Run lists the photos.
func (c *photoList[K, P]) Run(ctx context.Context, call *services, out *output.Printer) error {
	var kind K
	return output.Items(out, "photos", kind.photoColumns(), pages(c.limit, func(page pageOf) ([]P, string, error) {
		return kind.photos(ctx, call, c.ID, page)
	}))
}

type photoRemove[K pictured[P], P proto.Message] struct {
	acting[K] `embed:""`

	ID    int64 `arg:"" help:"The ${noun}'s identifier."`
	Photo int64 `arg:"" help:"The photo's identifier."`
}

// Run removes the photo.
func (c *photoRemove[K, P]) Run(ctx context.Context, call *services, out *output.Printer) error {
	actor, err := c.actor(ctx, call, c.ID)
	if err != nil {
		return err
	}
	var kind K
	if err := kind.removePhoto(ctx, call, actor, c.ID, c.Photo); err != nil {
		return err
	}
	out.Note("removed %d", c.Photo)
	return nil
}

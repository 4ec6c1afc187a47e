package cli

import (
	"context"
	"iter"

	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
	"github.com/waybook/waybook/waybookctl/listing"
	"github.com/waybook/waybook/waybookctl/output"
)

// content is one kind of thing that belongs to a user: albums, entries or landmarks.
// Implementations have no state; their zero values are ready for use.
type content interface {
	// owner returns the user who owns a thing.
	owner(ctx context.Context, call *services, id int64) (int64, error)
	delete(ctx context.Context, call *services, actor, id int64) error
	recommend(ctx context.Context, call *services, user, id int64) (score int64, err error)
	withdraw(ctx context.Context, call *services, user, id int64) (score int64, err error)

	comments(ctx context.Context, call *services, id int64, page pageOf) ([]*typev1.Comment, string, error)
	addComment(ctx context.Context, call *services, author, id int64, text string) (*typev1.Comment, error)
	reply(ctx context.Context, call *services, actor, id, comment int64, text string) (*typev1.Comment, error)
	removeComment(ctx context.Context, call *services, actor, id, comment int64) error
}

// acting selects the user on whose behalf a restricted command runs. An operator is not a user, so
// the default is the owner of the thing.
type acting[K content] struct {
	As int64 `placeholder:"USER" help:"Act as this user, not as the owner."`
}

func (a acting[K]) actor(ctx context.Context, call *services, id int64) (int64, error) {
	if a.As != 0 {
		return a.As, nil
	}
	var kind K
	return kind.owner(ctx, call, id)
}

type deleteContent[K content] struct {
	acting[K] `embed:""`

	ID int64 `arg:"" help:"The ${noun}'s identifier."`
}

// Run deletes.
func (c *deleteContent[K]) Run(ctx context.Context, call *services, out *output.Printer) error {
	actor, err := c.actor(ctx, call, c.ID)
	if err != nil {
		return err
	}
	var kind K
	if err := kind.delete(ctx, call, actor, c.ID); err != nil {
		return err
	}
	out.Note("deleted %d", c.ID)
	return nil
}

type recommendContent[K content] struct {
	ID int64 `arg:"" help:"The ${noun}'s identifier."`
	As int64 `required:"" placeholder:"USER" help:"User who recommends it."`
}

// Run recommends.
func (c *recommendContent[K]) Run(ctx context.Context, call *services, out *output.Printer) error {
	var kind K
	score, err := kind.recommend(ctx, call, c.As, c.ID)
	return printScore(out, score, err)
}

type withdrawContent[K content] struct {
	ID int64 `arg:"" help:"The ${noun}'s identifier."`
	As int64 `required:"" placeholder:"USER" help:"User who withdraws the recommendation."`
}

// Run withdraws the recommendation.
func (c *withdrawContent[K]) Run(ctx context.Context, call *services, out *output.Printer) error {
	var kind K
	score, err := kind.withdraw(ctx, call, c.As, c.ID)
	return printScore(out, score, err)
}

func printScore(out *output.Printer, score int64, err error) error {
	if err != nil {
		return err
	}
	return out.Value(output.Object{{Name: "score", Value: score}}, func(page *output.Page) {
		page.Line("score " + number(score))
	})
}

// limit is the flag that bounds the length of a list.
type limit struct {
	Limit uint `placeholder:"COUNT" help:"Maximum number of items; all when not given."`
}

// pageOf selects a page of a list.
type pageOf struct {
	size  int32
	token string
}

// pageSize is the number of items on a page: few enough for a fast first page, enough for a long
// list to need few calls. Every list allows it.
const pageSize = 100

// pages reads a list page by page, up to its limit. It fetches a page only when its caller asks for
// the first item of that page.
func pages[T any](most limit, fetch func(pageOf) ([]T, string, error)) iter.Seq2[T, error] {
	if most.Limit == 0 {
		return listing.Pages(func(token string) ([]T, string, error) { return fetch(pageOf{pageSize, token}) })
	}
	return func(yield func(T, error) bool) {
		left := most.Limit
		listing.Pages(func(token string) ([]T, string, error) {
			items, next, err := fetch(pageOf{int32(min(left, pageSize)), token})
			left -= uint(len(items))
			if left == 0 {
				next = ""
			}
			return items, next, err
		})(yield)
	}
}

package cli

import (
	"context"
	"io"

	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
	"github.com/waybook/waybook/waybookctl/output"
)

type entryCreate struct {
	place `embed:""`

	Title   string                `arg:"" help:"Title, 1 to 200 characters."`
	Content string                `arg:"" help:"Text, 1 to 100,000 characters; - reads it from standard input."`
	Author  int64                 `required:"" placeholder:"USER" help:"Author of the entry."`
	Type    word[blogv1.BlogType] `required:"" placeholder:"TYPE" help:"Type of the entry."`
	Weather word[blogv1.Weather]  `required:"" placeholder:"WEATHER" help:"The weather."`
	Date    day                   `required:"" placeholder:"YYYY-MM-DD" help:"Planned publication date."`
	Quote   int64                 `placeholder:"ENTRY" help:"The entry that this one quotes."`
	Zoom    *int32                `placeholder:"LEVEL" help:"Map zoom level, from 0 to 21; 14 when not given."`
	Map     word[blogv1.MapType]  `placeholder:"TYPE" help:"Map type; map when not given."`
	Vote    string                `and:"vote" placeholder:"QUESTION" help:"Question of a vote inside the entry."`
	Choice  []string              `and:"vote" sep:"none" placeholder:"TEXT" help:"A choice of the vote; repeat the flag for 2 to 20 choices."`
}

// Run creates the entry.
func (c *entryCreate) Run(ctx context.Context, call *services, out *output.Printer, in io.Reader) error {
	text, err := textOrInput(ctx, c.Content, in)
	if err != nil {
		return err
	}
	request := &blogv1.CreateBlogRequest{
		AuthorId: c.Author, Type: c.Type.value, Location: c.location(), Title: c.Title, Content: text,
		PostDate: c.Date.date, Weather: c.Weather.value, ReplyBlogId: c.Quote, ZoomLevel: c.Zoom, MapType: c.Map.value,
	}
	if c.Vote != "" {
		request.Vote = &blogv1.NewVote{Description: c.Vote, Choices: c.Choice}
	}
	created, err := call.blog.CreateBlog(ctx, request)
	return printEntry(out, created.GetBlog(), err)
}

type entryUpdate struct {
	acting[entries] `embed:""`

	ID      int64                  `arg:"" help:"The entry's identifier."`
	Title   *string                `help:"New title, 1 to 200 characters."`
	Content *string                `placeholder:"TEXT" help:"New text, 1 to 100,000 characters; - reads it from standard input."`
	Type    *word[blogv1.BlogType] `placeholder:"TYPE" help:"New type."`
	Weather *word[blogv1.Weather]  `placeholder:"WEATHER" help:"The weather."`
	Date    day                    `placeholder:"YYYY-MM-DD" help:"New planned publication date."`
	Lat     *float64               `and:"location" placeholder:"DEGREES" help:"New latitude, from -90 to 90."`
	Lng     *float64               `and:"location" placeholder:"DEGREES" help:"New longitude, from -180 to 180."`
	Quote   *int64                 `placeholder:"ENTRY" help:"The entry that this one now quotes; 0 for none."`
	Zoom    *int32                 `placeholder:"LEVEL" help:"Map zoom level, from 0 to 21."`
	Map     *word[blogv1.MapType]  `placeholder:"TYPE" help:"New map type."`
}

// Run changes the entry.
func (c *entryUpdate) Run(ctx context.Context, call *services, out *output.Printer, in io.Reader) error {
	actor, err := c.actor(ctx, call, c.ID)
	if err != nil {
		return err
	}
	request := &blogv1.UpdateBlogRequest{
		ActorId: actor, BlogId: c.ID, Title: c.Title, PostDate: c.Date.date, ReplyBlogId: c.Quote, ZoomLevel: c.Zoom,
	}
	if c.Content != nil {
		text, err := textOrInput(ctx, *c.Content, in)
		if err != nil {
			return err
		}
		request.Content = &text
	}
	if c.Type != nil {
		request.Type = &c.Type.value
	}
	if c.Weather != nil {
		request.Weather = &c.Weather.value
	}
	if c.Map != nil {
		request.MapType = &c.Map.value
	}
	if c.Lat != nil {
		request.Location = &typev1.Location{Lat: *c.Lat, Lng: *c.Lng}
	}
	updated, err := call.blog.UpdateBlog(ctx, request)
	return printEntry(out, updated.GetBlog(), err)
}

type entryVote struct {
	ID     int64 `arg:"" help:"The entry's identifier."`
	Choice int32 `arg:"" help:"Position of the choice, from 1."`
	As     int64 `required:"" placeholder:"USER" help:"User who votes."`
}

// Run votes.
func (c *entryVote) Run(ctx context.Context, call *services, out *output.Printer) error {
	cast, err := call.blog.CastBallot(ctx, &blogv1.CastBallotRequest{VoterId: c.As, BlogId: c.ID, Choice: c.Choice})
	if err != nil {
		return err
	}
	return out.Value(output.FromProto(cast.GetVote()), func(page *output.Page) {
		output.Rows(page, choiceColumns(), cast.GetVote().GetChoices())
	})
}

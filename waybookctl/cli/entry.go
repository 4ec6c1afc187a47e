package cli

import (
	"context"

	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	"github.com/waybook/waybook/waybookctl/output"
)

type entryCommands struct {
	Create    entryCreate                            `cmd:"" help:"Create an entry."`
	Show      entryShow                              `cmd:"" help:"Show an entry with its text, vote and first comments, even before its planned date."`
	List      entryList                              `cmd:"" help:"List entries; tables leave out their texts."`
	Recent    entryRecent                            `cmd:"" help:"List the published entries of all users, newest first; tables leave out their texts."`
	Nearby    entryNearby                            `cmd:"" help:"List the entries around a point, nearest first."`
	Changes   changesOf[entries, *blogv1.BlogChange] `cmd:"" help:"List what was created, changed or deleted until two seconds ago, oldest first."`
	Update    entryUpdate                            `cmd:"" help:"Change an entry; fields without a flag keep their values."`
	Vote      entryVote                              `cmd:"" help:"Vote for a choice of an entry's vote."`
	Export    entryExport                            `cmd:"" help:"Export a user's entries to a file that move import reads."`
	Delete    deleteContent[entries]                 `cmd:"" set:"noun=entry" help:"Delete an entry with its vote and comments."`
	Recommend recommendContent[entries]              `cmd:"" set:"noun=entry" help:"Recommend an entry."`
	Withdraw  withdrawContent[entries]               `cmd:"" set:"noun=entry" help:"Withdraw a recommendation of an entry."`
	Comment   commentCommands[entries]               `cmd:"" set:"noun=entry" help:"Comments on an entry."`
}

type entryShow struct {
	ID int64 `arg:"" help:"The entry's identifier."`
}

// Run shows the entry.
func (c *entryShow) Run(ctx context.Context, call *services, out *output.Printer) error {
	found, err := call.blog.GetBlog(ctx, &blogv1.GetBlogRequest{BlogId: c.ID})
	if err != nil {
		return err
	}
	noteMore(out, "entry comment", c.ID, found.GetNextCommentsToken())
	return out.Value(output.FromProto(found), func(page *output.Page) {
		layOutEntry(page, found.GetBlog())
		output.Rows(page, commentColumns(), found.GetComments())
	})
}

// The orders of a list of entries.
const (
	byCreation = "creation"
	byPlan     = "plan"
)

type entryList struct {
	limit `embed:""`

	Author    int64  `placeholder:"USER" help:"Author of the entries; all authors when not given."`
	Order     string `enum:"creation,plan," default:"" placeholder:"ORDER" help:"Order of the entries: by creation, or by planned date (plan). creation requires --author and excludes --published, --from and --to; it is the default where it is allowed. Otherwise, the default is plan."`
	Published bool   `help:"Only entries whose planned date is not in the future."`
	From      day    `placeholder:"YYYY-MM-DD" help:"Only entries planned for this day or later."`
	To        day    `placeholder:"YYYY-MM-DD" help:"Only entries planned for this day or earlier."`
}

// Run lists the entries.
func (c *entryList) Run(ctx context.Context, call *services, out *output.Printer) error {
	request := &blogv1.ListBlogsRequest{AuthorId: c.Author, PostDateFrom: c.From.date, PostDateTo: c.To.date}
	if c.Published {
		request.Publication = blogv1.BlogPublication_BLOG_PUBLICATION_PUBLISHED
	}
	needsPlan := c.Author == 0 || c.Published || c.From.date != nil || c.To.date != nil
	if needsPlan && c.Order == byCreation {
		return usageError("--order=creation requires --author and excludes --published, --from and --to")
	}
	if needsPlan || c.Order == byPlan {
		request.Order = blogv1.BlogOrder_BLOG_ORDER_POST_DATE
	}
	return output.Items(out, "entries", entryColumns(), pages(c.limit, func(page pageOf) ([]*blogv1.Blog, string, error) {
		request.PageSize, request.PageToken = page.size, page.token
		listed, err := call.blog.ListBlogs(ctx, request)
		return listed.GetBlogs(), listed.GetNextPageToken(), err
	}))
}

func printEntry(out *output.Printer, entry *blogv1.Blog, err error) error {
	if err != nil {
		return err
	}
	return out.Value(output.FromProto(entry), func(page *output.Page) { layOutEntry(page, entry) })
}

// layOutEntry prints an entry with its text and its vote.
func layOutEntry(page *output.Page, entry *blogv1.Blog) {
	output.Record(page, entryColumns(), entry)
	page.Text(entry.GetContent())
	if vote := entry.GetVote(); vote != nil {
		page.Text(vote.GetDescription())
		output.Rows(page, choiceColumns(), vote.GetChoices())
	}
}

func choiceColumns() []output.Column[*blogv1.Choice] {
	return []output.Column[*blogv1.Choice]{
		{Head: "VOTES", Cell: func(c *blogv1.Choice) string { return number(c.GetVotes()) }},
		{Head: "CHOICE", Cell: (*blogv1.Choice).GetDescription},
	}
}

func entryColumns() []output.Column[*blogv1.Blog] {
	return []output.Column[*blogv1.Blog]{
		{Head: "ENTRY", Cell: func(b *blogv1.Blog) string { return number(b.GetBlogId()) }},
		{Head: "PLANNED", Cell: func(b *blogv1.Blog) string { return dateText(b.GetPostDate()) }},
		{Head: "TYPE", Cell: func(b *blogv1.Blog) string { return inWord(b.GetType()) }},
		{Head: "WEATHER", Cell: func(b *blogv1.Blog) string { return inWord(b.GetWeather()) }},
		{Head: "LAT,LNG", Cell: func(b *blogv1.Blog) string { return placeText(b.GetLocation()) }},
		{Head: "SCORE", Cell: func(b *blogv1.Blog) string { return number(b.GetScore()) }},
		{Head: "REWARD", Cell: func(b *blogv1.Blog) string { return number(b.GetReward()) }},
		{Head: "QUOTES", Cell: quoted},
		{Head: "AUTHOR", Cell: func(b *blogv1.Blog) string { return profileText(b.GetAuthor()) }},
		{Head: "TITLE", Cell: (*blogv1.Blog).GetTitle},
	}
}

func quoted(entry *blogv1.Blog) string {
	if entry.GetReplyBlogId() == 0 {
		return ""
	}
	return number(entry.GetReplyBlogId())
}

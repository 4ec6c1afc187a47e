package cli

import (
	"context"

	"github.com/alecthomas/kong"

	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	"github.com/waybook/waybook/waybookctl/output"
)

// The nouns of content have generated commands, and those that are more than a call.

type albumCommands struct {
	Generated kong.Plugins `embed:""`
	Export    albumExport  `cmd:"" help:"Export a user's albums to a file that move import reads."`
}

type entryCommands struct {
	Generated kong.Plugins `embed:""`
	List      entryList    `cmd:"" rpc:"ListBlogs" help:"List entries; tables leave out their texts."`
	Export    entryExport  `cmd:"" help:"Export a user's entries to a file that move import reads."`
}

type landmarkCommands struct {
	Generated kong.Plugins   `embed:""`
	Import    landmarkImport `cmd:"" help:"Import landmarks from a file: GeoJSON, NDJSON or CSV."`
	Export    landmarkExport `cmd:"" help:"Export landmarks to a file."`
}

// The orders of a list of entries.
const (
	byCreation = "creation"
	byPlan     = "plan"
)

type entryList struct {
	limit
	Author    int64  `field:"author_id" placeholder:"USER" help:"Author of the entries; all authors when not given."`
	Order     string `enum:"creation,plan," default:"" placeholder:"ORDER" help:"Order of the entries: by creation, or by planned date (plan). creation requires --author and excludes --published, --from and --to; it is the default where it is allowed. Otherwise, the default is plan."`
	Published bool   `field:"-" help:"Only entries whose planned date is not in the future."`
	From      day    `field:"post_date_from" placeholder:"YYYY-MM-DD" help:"Only entries planned for this day or later."`
	To        day    `field:"post_date_to" placeholder:"YYYY-MM-DD" help:"Only entries planned for this day or earlier."`
}

// Run lists the entries.
func (c *entryList) Run(ctx context.Context, call *rpc, out *output.Printer) error {
	request := call.request.(*blogv1.ListBlogsRequest)
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
	return call.printList(ctx, out, c.limit)
}

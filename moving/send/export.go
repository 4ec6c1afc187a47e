package send

import (
	"context"
	"io"
	"time"

	"github.com/waybook/waybook/internal/id"
	"github.com/waybook/waybook/moving/movefile"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	"github.com/waybook/waybook/waybookctl/progress"
	"github.com/waybook/waybook/waybookctl/retry"
)

// ExportOptions say what ExportSince writes.
type ExportOptions struct {
	// Since is when the changes begin that are written; zero for everything.
	Since time.Time
	// Zone is that of the times, which are written without it.
	Zone *time.Location
	// Wait waits before a call is repeated.
	Wait func(ctx context.Context, pause time.Duration) error
}

// clocks is how far the clock of the store may be from that of Since.
const clocks = time.Minute

// ExportSince writes the users and the content that were made or changed in Waybook, each whole. What changes
// meanwhile may be missing. It returns the number of records.
func ExportSince(ctx context.Context, services Services, options ExportOptions, out io.Writer, report progress.Reporter) (count int64, err error) {
	e := &personExport{Services: services, out: movefile.NewWriter(out), zone: options.Zone}
	written := map[movefile.Root]bool{}
	report.Start("exporting", progress.Records, 0)
	defer report.Finish()
	since := options.Since
	if !since.IsZero() {
		since = since.Add(-clocks)
	}
	err = readChanges(ctx, services, since, retry.Options{Wait: options.Wait, Note: report.Note}, func(c change) error {
		root := movefile.Root{Kind: c.kind, ID: numberID(c.id)}
		if !c.isDeleted() && !written[root] {
			written[root] = true
			c.export(ctx, e)
			report.Reach(e.count)
		}
		return e.err
	})
	if err == nil {
		err = e.out.End()
	}
	return e.count, err
}

// reward writes what the author got for an entry that was made in Waybook, under the identifier of the entry: a
// user's rewards are not in the feeds.
func (e *personExport) reward(b *blogv1.Blog) {
	if b.GetReward() != 0 && (b.GetIsSmall() || !id.IsMoved(b.GetBlogId())) {
		e.write(&movefile.Reward{ID: numberID(b.GetBlogId()), UserID: numberID(b.GetAuthor().GetUserId()), Amount: b.GetReward()})
	}
}

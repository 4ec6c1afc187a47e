package desk

import (
	"context"
	"net/http"
	"time"

	"github.com/waybook/waybook/moving/send"
)

// silentTime is how long a running import may be without a sign of life before the page says so: longer than a
// request takes.
const silentTime = time.Minute

// moves is what the page shows of imports.
type moves struct {
	// Journal is where an import on this machine would keep its journal.
	Journal string `json:"journal"`
	// Import is the running import, or the last one; nil if there was none.
	Import *send.Status `json:"import,omitempty"`
	// IsSilent reports that an import has not ended and gives no sign of life.
	IsSilent bool     `json:"is_silent"`
	Failure  *Failure `json:"failure,omitempty"`
}

// followMoves sends the progress of imports as server-sent events.
func (d *Desk) followMoves(w http.ResponseWriter, r *http.Request) {
	d.sendEvents(w, r, func(ctx context.Context) any {
		now := moves{Journal: d.config.Journal}
		status, err := send.ReadStatus(d.config.Journal)
		if err != nil {
			now.Failure = new(d.config.Describe(ctx, err))
			return now
		}
		now.Import = status
		now.IsSilent = status != nil && !status.HasEnded && time.Since(status.Updated) > silentTime
		return now
	})
}

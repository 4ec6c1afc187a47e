package account

import (
	"context"
	"errors"
	"time"

	"github.com/waybook/waybook/internal/docstore"
)

// expiredBatch is how many expired documents are removed at a time.
const expiredBatch = 200

// removeExpired removes the documents that have expired, oldest first. Other processes
// may do so at the same time.
func removeExpired[T any](ctx context.Context, c *docstore.Collection[string, T], now time.Time, idOf func(T) string) error {
	expired := docstore.Query{Where: byExpiry().In(docstore.UpTo(now.UnixMilli())), Limit: expiredBatch}
	for batch, err := range c.Batches(ctx, expired) {
		if err != nil {
			return err
		}
		for _, old := range batch {
			if err := c.Delete(ctx, idOf(old)); err != nil && !errors.Is(err, docstore.ErrNotFound) {
				return err
			}
		}
	}
	return nil
}

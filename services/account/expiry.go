package account

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/waybook/waybook/internal/docstore"
)

// expiring is a document that expires.
type expiring interface {
	// expiry returns when it has expired, in milliseconds since 1970.
	expiry() int64
}

// removeExpired removes the documents that have expired. Replicas may do so at the same
// time. Each begins at a random moment, so that they mostly remove different documents: it
// first removes what expired since that moment, and then what expired before.
//
// It takes the time once. So it ends, however many documents expire meanwhile.
func removeExpired[K docstore.Key, T expiring](ctx context.Context, c *docstore.Collection[K, T], now time.Time) error {
	oldest, err := c.Find(ctx, byExpiry().In(docstore.UpTo(now.UnixMilli())).Everywhere())
	if errors.Is(err, docstore.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	first, last := oldest.expiry(), now.UnixMilli()
	middle := first + rand.Int64N(last-first+1) // #nosec G404 -- spreading work needs no secure randomness
	for _, expired := range []docstore.Range[int64]{docstore.Between(middle, last), docstore.UpTo(middle - 1)} {
		if _, err := c.DeleteAll(ctx, byExpiry().In(expired).Everywhere()); err != nil {
			return err
		}
	}
	return nil
}

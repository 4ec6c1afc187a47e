package account

import (
	"context"
	"errors"
	"fmt"

	"github.com/waybook/waybook/internal/docstore"
)

// maxUpsertTries bounds the retries if a document is created and removed concurrently.
const maxUpsertTries = 16

// upsert changes the document with the given id. If there is none, it changes and stores
// initial, which must have that id. If change returns an error, upsert writes nothing and
// returns that error unwrapped.
func upsert[K docstore.Key, T any](
	ctx context.Context, c *docstore.Collection[K, T], id K, initial T, change func(*T) error,
) error {
	for range maxUpsertTries {
		_, err := c.Update(ctx, id, change)
		if !errors.Is(err, docstore.ErrNotFound) {
			return err
		}
		created := initial
		if err := change(&created); err != nil {
			return err
		}
		err = c.Insert(ctx, created)
		var another *docstore.DuplicateError
		if !errors.As(err, &another) {
			return err
		}
	}
	return fmt.Errorf("upsert %s: %w", c.Name(), docstore.ErrConflict)
}

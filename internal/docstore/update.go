package docstore

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// maxUpdateTries bounds how often Update and Observe start again. In each round at
// least one of the concurrent writers of a document succeeds, so this is also how many
// writers may compete.
const maxUpdateTries = 256

// Update reads a document, calls change to modify it, writes it back, and returns the
// document as written.
//
// If another writer changed the document in the meantime, Update starts again. So
// change may run several times, each time on the current document. If change returns an
// error, Update writes nothing and returns that error unwrapped. change must not modify
// _id. Errors: ErrNotFound, *DuplicateError, and ErrConflict if other writers were
// faster 256 times in a row.
func (c *Collection[T]) Update(ctx context.Context, id any, change func(*T) error) (T, error) {
	var none T
	for try := range maxUpdateTries {
		raw, err := c.table.Get(ctx, id)
		if err != nil {
			return none, c.wrap("update", err)
		}
		document, err := c.decode(raw)
		if err != nil {
			return none, err
		}
		if err := change(&document); err != nil {
			return none, err
		}
		revision, err := RevisionOf(raw)
		if err != nil {
			return none, c.wrap("update", err)
		}
		next, err := encode(&document, revision+1)
		if err != nil {
			return none, c.wrap("update", err)
		}
		if !next.Lookup("_id").Equal(raw.Lookup("_id")) {
			return none, c.wrap("update", fmt.Errorf("the change altered the _id of document %v", id))
		}
		err = c.table.Replace(ctx, revision, next)
		if err == nil {
			return document, nil
		}
		if !errors.Is(err, ErrConflict) {
			return none, c.wrap("update", err)
		}
		if err := pause(ctx, try); err != nil {
			return none, c.wrap("update", err)
		}
	}
	return none, c.wrap("update", ErrConflict)
}

// Observe reads a document and calls look with it. If the document has changed when
// look returns, Observe starts again. So everything else that look reads is consistent
// with the document that it was given.
//
// Observe writes nothing. If look returns an error, Observe returns it unwrapped.
// Errors: ErrNotFound, and ErrConflict if the document changed 256 times in a row.
func (c *Collection[T]) Observe(ctx context.Context, id any, look func(*T) error) error {
	for try := range maxUpdateTries {
		before, err := c.table.Get(ctx, id)
		if err != nil {
			return c.wrap("observe", err)
		}
		document, err := c.decode(before)
		if err != nil {
			return err
		}
		if err := look(&document); err != nil {
			return err
		}
		after, err := c.table.Get(ctx, id)
		if err != nil {
			return c.wrap("observe", err)
		}
		if after.Lookup(RevisionField).Equal(before.Lookup(RevisionField)) {
			return nil
		}
		if err := pause(ctx, try); err != nil {
			return c.wrap("observe", err)
		}
	}
	return c.wrap("observe", ErrConflict)
}

// pause waits a random time, longer after more tries, so that concurrent writers of one
// document collide less often.
func pause(ctx context.Context, try int) error {
	if try < 2 {
		return ctx.Err()
	}
	timer := time.NewTimer(rand.N(time.Duration(min(try, 10)) * time.Millisecond)) // #nosec G404 -- a pause needs no secure randomness
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

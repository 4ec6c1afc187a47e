package integrity

import (
	"context"
	"iter"

	"github.com/waybook/waybook/internal/docstore"
)

// batchDocuments is how many documents are read at a time: few enough that a batch of
// the longest entries fits into some ten megabytes.
const batchDocuments = 100

// reader gives the documents of a collection one by one in the order of an index.
type reader[T any] struct {
	pull  func() ([]T, error, bool)
	stop  func()
	batch []T
	// total is how many were read, and progress is told.
	total    int64
	progress func(documents int64)
}

func read[T any](ctx context.Context, c *docstore.Collection[T], index string, progress func(string, int64)) *reader[T] {
	r := &reader[T]{progress: func(documents int64) { progress(c.Name(), documents) }}
	r.pull, r.stop = iter.Pull2(c.Batches(ctx, docstore.Query{Index: index, Limit: batchDocuments}))
	return r
}

// peek returns the next document, nil behind the last. It stays the next one until next
// is called, and usable after that.
func (r *reader[T]) peek() (*T, error) {
	if len(r.batch) == 0 {
		batch, err, more := r.pull()
		if err != nil || !more {
			return nil, err
		}
		r.batch = batch
		r.total += int64(len(batch))
		r.progress(r.total)
	}
	return &r.batch[0], nil
}

func (r *reader[T]) next() { r.batch = r.batch[1:] }

// skip passes the documents up to the first for which isWanted is false, and visits each
// of them.
func (r *reader[T]) skip(isWanted func(*T) bool, visit func(*T)) error {
	for {
		document, err := r.peek()
		if err != nil || document == nil || !isWanted(document) {
			return err
		}
		if visit != nil {
			visit(document)
		}
		r.next()
	}
}

package integrity

import (
	"context"
	"iter"

	"github.com/waybook/waybook/internal/docstore"
)

// batchDocuments is how many documents are read at a time. A batch of the longest entries
// fits into about ten megabytes.
const batchDocuments = 100

// reader returns the documents of a collection one by one in the order of an index.
type reader[T any] struct {
	pull  func() ([]T, error, bool)
	stop  func()
	batch []T
	// total is how many documents were read. It is reported to progress.
	total    int64
	progress func(documents int64)
}

func read[T any](ctx context.Context, c *docstore.Collection[int64, T], index string, progress func(string, int64)) *reader[T] {
	r := &reader[T]{progress: func(documents int64) { progress(c.Name(), documents) }}
	r.pull, r.stop = iter.Pull2(c.Batches(ctx, docstore.Query{Where: docstore.All(index).Everywhere(), Limit: batchDocuments}))
	return r
}

// peek returns the next document, or nil after the last one. Repeated calls return the same
// document until next is called. The document stays usable after that.
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

// skip skips the documents before the first for which isWanted is false, and visits each of
// them.
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

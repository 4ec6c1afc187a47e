package docstore

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/waybook/waybook/internal/id"
)

// WithIDs selects the documents that have one of the ids. On a sharded cluster only the shards of the ids
// are asked.
func WithIDs(ids ...Value) Where {
	w := Where{index: IDIndex, isIDs: true}
	if len(ids) == 1 {
		w.equal = ids
		return w
	}
	w.spans = make([]Span, len(ids))
	for i, id := range ids {
		w.spans[i] = Span{From: id, To: id}
	}
	return w
}

// IsIDs reports whether a selection is one of WithIDs.
func (w Where) IsIDs() bool { return w.isIDs }

// OneID returns the id of a selection that is only an id.
func (w Where) OneID() (id Value, isOne bool) {
	if !w.isIDs || len(w.equal) != 1 {
		return Value{}, false
	}
	return w.equal[0], true
}

// GetFrom returns a document of a table. Errors: ErrNotFound.
func GetFrom(ctx context.Context, table Table, id Value, as Consistency) (bson.Raw, error) {
	found, _, err := table.Scan(ctx, Scan{Where: WithIDs(id), Limit: 1, As: as})
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, ErrNotFound
	}
	return found[0], nil
}

// getMany does a scan of the documents with the given ids. It returns those that exist, each once.
func getMany[K Key](ctx context.Context, table Table, ids []K, scan Scan) (found []bson.Raw, more bool, err error) {
	if len(ids) == 0 {
		return nil, false, nil
	}
	scan.Where, scan.Limit = WithIDs(valuesOf(ids)...), len(ids)
	return table.Scan(ctx, scan)
}

// GetFitting is GetMany for followers (Listed), whose documents may be large: it reads in the order of the ids, and ends
// before it exceeds MaxBatchBytes. It always returns the first document. unread are the ids that it
// has not looked up, in the order of ids.
func (c *Collection[K, T]) GetFitting(ctx context.Context, ids []K) (documents []T, unread []K, err error) {
	documents, err = c.many(ctx, valuesOf(ids), Scan{MaxBytes: MaxBatchBytes, As: Listed}, func(last bson.Raw) error {
		end, err := Field{Name: IDIndex, Kind: c.spec.ID}.Value(last)
		for _, id := range ids {
			if err == nil && ValueOf(id).Compare(end) > 0 {
				unread = append(unread, id)
			}
		}
		return err
	})
	if err != nil {
		return nil, nil, c.wrap("get fitting", err)
	}
	return documents, unread, nil
}

// GetMany returns the documents that exist, in any order, each once. The ids are those of the
// collection.
func (p *Projection[T]) GetMany(ctx context.Context, ids []int64) ([]T, error) {
	documents, err := p.of.many(ctx, valuesOf(ids), Scan{Fields: p.of.fields}, nil)
	return documents, p.of.wrap("get many", err)
}

// many is page of the documents with the given ids.
func (r *reader[T]) many(ctx context.Context, ids []Value, scan Scan, last func(bson.Raw) error) ([]T, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	scan.Where, scan.Limit = WithIDs(ids...), len(ids)
	return r.page(ctx, scan, nil, last)
}

// DrawIn returns a Draw in a place of a collection. The first id of a sole source is above all that are
// stored there, also those of a process before this one whose clock was ahead.
func DrawIn[T any](ctx context.Context, c *Collection[int64, T], ids *id.Source, place id.Place) Draw {
	return func(after int64, taken int) (int64, error) {
		if from, isUnmet := ids.Unmet(place); isUnmet {
			highest, err := c.Highest(ctx, from)
			if err != nil {
				return 0, err
			}
			ids.Meet(place, highest)
		}
		return ids.Next(place, after, taken)
	}
}

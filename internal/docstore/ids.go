package docstore

import "context"

// withIDs selects the documents that have one of the ids, which are not none. On a sharded cluster
// only the shards of the ids are asked.
func withIDs[K Key](ids []K) Where {
	spans := make([]Span, len(ids))
	for i, id := range ids {
		spans[i] = Span{From: ValueOf(id), To: ValueOf(id)}
	}
	return Where{index: IDIndex, spans: spans, isIDs: true}
}

// IsIDs reports whether each span of a selection is one id.
func (w Where) IsIDs() bool { return w.isIDs }

// GetFitting is GetMany for documents that may be large: it reads in the order of the ids, and ends
// before it exceeds MaxPageBytes. It always returns the first document. unread are the ids that it
// has not looked up, in the order of ids.
func (c *Collection[K, T]) GetFitting(ctx context.Context, ids []K) (documents []T, unread []K, err error) {
	if len(ids) == 0 {
		return nil, nil, nil
	}
	raws, more, err := c.table.Scan(ctx, Scan{Where: withIDs(ids), Limit: len(ids), MaxBytes: MaxPageBytes})
	if err != nil {
		return nil, nil, c.wrap("get fitting", err)
	}
	if more {
		last, err := Field{Name: IDIndex, Kind: c.spec.ID}.Value(raws[len(raws)-1])
		if err != nil {
			return nil, nil, c.wrap("get fitting", err)
		}
		for _, id := range ids {
			if ValueOf(id).Compare(last) > 0 {
				unread = append(unread, id)
			}
		}
	}
	documents, err = c.decodeAll(raws)
	return documents, unread, err
}

// GetMany returns the documents that exist, in any order, each once. The ids are those of the
// collection.
func (p *Projection[T]) GetMany(ctx context.Context, ids []int64) ([]T, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	raws, _, err := p.of.table.Scan(ctx, Scan{Where: withIDs(ids), Limit: len(ids), Fields: p.of.fields})
	if err != nil {
		return nil, p.of.wrap("get many", err)
	}
	return p.of.decodeAll(raws)
}

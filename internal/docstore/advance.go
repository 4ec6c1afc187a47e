package docstore

import "context"

// Advance adds to an integer field of a document, and returns what it was and what another integer field is; 0 for
// one that is missing. It does not read the document before. Errors: ErrNotFound.
func (c *Collection[K, T]) Advance(ctx context.Context, id K, by Amount, other string) (before, value int64, err error) {
	_, was, err := c.modify(ctx, Change{ID: ValueOf(id), Add: []Amount{by}, Fields: []string{by.Field, other}}, nil)
	before, _ = was.Lookup(by.Field).Int64OK()
	value, _ = was.Lookup(other).Int64OK()
	return before, value, c.wrap("advance", err)
}

package docstore

import "context"

// Advance adds to an integer field of a document, makes another at least as large as an amount, and returns what the
// first was; 0 if it was missing. It does not read the document before. Errors: ErrNotFound.
func (c *Collection[K, T]) Advance(ctx context.Context, id K, by, to Amount) (before int64, err error) {
	_, was, err := c.modify(ctx, Change{ID: ValueOf(id), Add: []Amount{by}, Raise: to, Fields: []string{by.Field}}, nil)
	before, _ = was.Lookup(by.Field).Int64OK()
	return before, c.wrap("advance", err)
}

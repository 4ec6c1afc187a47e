package docstore

import (
	"context"
	"errors"
	"fmt"
	"strconv"
)

// maxDraws bounds how often Create draws an id.
const maxDraws = 16

// RequestIndex is the name of the unique index by which Create recognises a
// repeated request. Its last field holds the request key.
const RequestIndex = "request"

// Request says which request a new document answers.
type Request struct {
	// Owner are the values of RequestIndex's fields before the request key.
	Owner []any
	// ID is the caller's request id; empty when it gave none.
	ID string
}

// Outcome tells how Create came by its document.
type Outcome int

// The outcomes of Create.
const (
	// Created: the document is new.
	Created Outcome = iota + 1
	// Repeated: the request was answered before; this is what it made then.
	Repeated
)

// key is the key of RequestIndex for a request key.
func (r Request) key(requestKey string) []any {
	return append(r.Owner[:len(r.Owner):len(r.Owner)], requestKey)
}

// Answered returns the document that a request made before, as it is now. found is
// false when the request is new or carries no id.
func Answered[T any](ctx context.Context, c *Collection[T], request Request) (document T, found bool, err error) {
	if request.ID == "" {
		return document, false, nil
	}
	document, err = c.Find(ctx, RequestIndex, request.key(request.ID)...)
	if errors.Is(err, ErrNotFound) {
		return document, false, nil
	}
	return document, err == nil, err
}

// Create stores the document that build makes of an id and a request key, drawing
// ids until one is free. When the same owner's same request was answered before it
// returns the document as it is now, and stores nothing, even if another document
// has meanwhile taken a key that the new one would need. The collection declares
// RequestIndex (rule 14.2: a create may be repeated safely). Errors: *DuplicateError,
// in a unique index other than RequestIndex.
func Create[T any](
	ctx context.Context, c *Collection[T], newID func() int64, request Request, build func(id int64, requestKey string) T,
) (T, Outcome, error) {
	var none T
	for range maxDraws {
		id := newID()
		requestKey := request.ID
		if requestKey == "" {
			// Unique as the id is; no UUID starts that way.
			requestKey = "#" + strconv.FormatInt(id, 10)
		}
		document := build(id, requestKey)
		err := c.Insert(ctx, document)
		if err == nil {
			return document, Created, nil
		}
		var duplicate *DuplicateError
		if !errors.As(err, &duplicate) {
			return none, 0, err
		}
		if duplicate.Index == IDIndex {
			continue
		}
		first, found, findErr := Answered(ctx, c, request)
		switch {
		case findErr != nil:
			return none, 0, findErr
		case found:
			return first, Repeated, nil
		case duplicate.Index != RequestIndex:
			return none, 0, err
		}
		// What the request had made was deleted just now: it makes a new one.
	}
	return none, 0, c.wrap("create", fmt.Errorf("no document could be stored under %d ids in a row", maxDraws))
}

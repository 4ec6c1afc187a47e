package docstore

import (
	"context"
	"errors"
	"fmt"
	"strconv"
)

// maxDraws bounds how many ids Create tries.
const maxDraws = 16

// RequestIndex is the name of the unique index by which Create recognises a
// repeated request. Its last field holds the request key.
const RequestIndex = "request"

// Request identifies the request that creates a document.
type Request struct {
	// Owner are the values of the fields of RequestIndex before the request key.
	Owner []any
	// ID is the caller's request id; empty if the caller sent none.
	ID string
}

// Outcome reports whether Create stored a new document.
type Outcome int

// The outcomes of Create.
const (
	// Created: the document is new.
	Created Outcome = iota + 1
	// Repeated: an earlier call with the same request id had created the document.
	Repeated
)

// key returns the key of a request in RequestIndex.
func (r Request) key(requestKey string) []any {
	return append(r.Owner[:len(r.Owner):len(r.Owner)], requestKey)
}

// Answered returns the document that an earlier call with the same request id created,
// in its current state. found is false if the request is new or has no id.
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

// Create stores the document that build returns for an id and a request key. It calls
// draw until an id is free. The collection must declare RequestIndex.
//
// If the same owner has sent the same request before, Create stores nothing and returns the
// existing document in its current state (rule 14.2: a create may be repeated safely). It
// does so even if another document has taken a key that a new document would need.
//
// Errors: *DuplicateError, in a unique index other than RequestIndex.
func Create[T any](
	ctx context.Context, c *Collection[T], draw func() int64, request Request, build func(id int64, requestKey string) T,
) (T, Outcome, error) {
	var none T
	for range maxDraws {
		id := draw()
		requestKey := request.ID
		if requestKey == "" {
			// As unique as the id; no UUID starts with #.
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
		// The document of the request was deleted in the meantime: create a new one.
	}
	return none, 0, c.wrap("create", fmt.Errorf("all of %d generated ids were taken", maxDraws))
}

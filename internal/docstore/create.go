package docstore

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// maxDraws bounds how many ids Create tries.
const maxDraws = 64

// Draw returns a new id above after. taken is how many in a row were taken; see id.Source.Next.
type Draw = func(after int64, taken int) (int64, error)

// RequestIndex is the name of the unique index by which Create recognises a
// repeated request. Its last field holds the request key.
const RequestIndex = "request"

// Request identifies the request that creates a document.
type Request struct {
	// By selects, in RequestIndex, all documents that the caller may have created: it fixes
	// the fields before the request key, or their place.
	By Where
	// Owner, unless 0, is the owner of the document, whose request keys are those of OwnedKey.
	Owner int64
	// ID is the caller's request id; empty if the caller sent none.
	ID string
	// Digest is a digest of what the request asks for; 0 for none.
	Digest int64
}

// DigestField holds the digest of the request that created a document. No document type has the
// field, so no update changes it. Documents without a request's digest lack it.
const DigestField = "request_digest"

// Outcome reports whether Create stored a new document.
type Outcome int

// The outcomes of Create.
const (
	// Created: the document is new.
	Created Outcome = iota + 1
	// Repeated: an earlier call with the same request id had created the document.
	Repeated
)

// selects selects the document that the request has created.
func (r Request) selects() Where {
	by := r.By
	by.index = RequestIndex
	return by.And(ValueOf(OwnedKey(r.Owner, r.ID)))
}

// ownerDigits is how many digits an owner has in a request key: those of id.Max.
const ownerDigits = 16

// OwnedKey returns the request key of a document that an owner created. It has the owner in it, so that a
// tombstone needs no other field to keep the request taken. Keys sort by owner, then by key.
func OwnedKey(owner int64, key string) string {
	if owner == 0 {
		return key
	}
	return fmt.Sprintf("%0*d/%s", ownerDigits, owner, key)
}

// BareKey returns a request key without the owner, if it has one. No other key begins with so many digits
// and a slash.
func BareKey(key string) string {
	owner, bare, hasSlash := strings.Cut(key, "/")
	if hasSlash && len(owner) == ownerDigits && strings.Trim(owner, "0123456789") == "" {
		return bare
	}
	return key
}

// Answered returns the document that an earlier call with the same request id created,
// in its current state. found is false if the request is new or has no id. The document is
// durable, even if the earlier call never learned that it was stored. Errors: ErrRequestReused if
// the earlier call had another digest, ErrGone if the document was deleted.
func (c *Collection[K, T]) Answered(ctx context.Context, request Request) (document T, found bool, err error) {
	if request.ID == "" {
		return document, false, nil
	}
	raws, _, err := c.table.Scan(ctx, Scan{Where: request.selects(), Limit: 1, WithTombstones: true})
	if err != nil || len(raws) == 0 {
		return document, false, c.wrap("find", err)
	}
	id, err := Field{Name: IDIndex, Kind: c.spec.ID}.Value(raws[0])
	if err != nil {
		return document, false, c.wrap("find", err)
	}
	raw, err := GetFrom(ctx, c.table, id, Linearizable)
	if errors.Is(err, ErrNotFound) {
		if IsTombstone(raws[0]) {
			return document, false, c.wrap("find", ErrGone)
		}
		return document, false, nil
	}
	if err != nil {
		return document, false, c.wrap("find", err)
	}
	if first, ok := raw.Lookup(DigestField).Int64OK(); ok && request.Digest != 0 && first != request.Digest {
		return document, false, c.wrap("find", ErrRequestReused)
	}
	document, err = c.decode(raw)
	return document, err == nil, err
}

// InsertFor is Insert of a document that a request creates.
func (c *Collection[K, T]) InsertFor(ctx context.Context, request Request, document T) error {
	raw, err := encode(&document, 1)
	if err != nil {
		return c.wrap("insert", err)
	}
	if request.ID != "" && request.Digest != 0 {
		raw = appendInt64(raw, DigestField, request.Digest)
	}
	errs, err := c.insert(ctx, []bson.Raw{raw})
	if err != nil {
		return err
	}
	return c.wrap("insert", errs[0])
}

// Create stores the document that build returns for an id and a request key. It calls
// draw until an id is free. If the same owner has sent the same request before, Create
// stores nothing and returns the existing document in its current state. It does so even
// if another document has taken a key that a new document would need. The collection declares
// RequestIndex (rule 14.2: a create may be repeated safely). Errors: ErrRequestReused and ErrGone as with
// Answered, *DuplicateError in a unique index other than RequestIndex, and ErrConflict if 256
// times in a row the request's document was there for the insert and deleted before it was read.
func Create[T any](
	ctx context.Context, c *Collection[int64, T], draw Draw, request Request, build func(id int64, requestKey string) T,
) (T, Outcome, error) {
	var none T
	highest := int64(0)
	for taken := range maxDraws {
		drawn, err := draw(highest, taken)
		if err != nil {
			return none, 0, c.wrap("create", err)
		}
		document, outcome, err := createAs(ctx, c, drawn, request, build)
		var duplicate *DuplicateError
		if !errors.As(err, &duplicate) || duplicate.Index != IDIndex {
			return document, outcome, err
		}
		if highest, err = c.Highest(ctx, drawn); err != nil {
			return none, 0, err
		}
	}
	return none, 0, c.wrap("create", fmt.Errorf("all of %d generated ids were taken", maxDraws))
}

// createAs is Create with one id. Errors: as of Create, and *DuplicateError in IDIndex if the
// id is taken.
func createAs[T any](
	ctx context.Context, c *Collection[int64, T], id int64, request Request, build func(id int64, requestKey string) T,
) (T, Outcome, error) {
	var none T
	requestKey := request.ID
	if requestKey == "" {
		// As unique as the id; no UUID starts with #.
		requestKey = "#" + strconv.FormatInt(id, 10)
	}
	document := build(id, OwnedKey(request.Owner, requestKey))
	for try := range maxTries {
		err := c.InsertFor(ctx, request, document)
		if err == nil {
			return document, Created, nil
		}
		var duplicate *DuplicateError
		if !errors.As(err, &duplicate) || duplicate.Index == IDIndex {
			return none, 0, err
		}
		first, found, findErr := c.Answered(ctx, request)
		switch {
		case findErr != nil:
			return none, 0, findErr
		case found:
			return first, Repeated, nil
		case duplicate.Index != RequestIndex:
			return none, 0, err
		}
		// The document of the request was deleted in the meantime: create a new one.
		if err := backOff(ctx, try); err != nil {
			return none, 0, c.wrap("create", err)
		}
	}
	return none, 0, c.wrap("create", ErrConflict)
}

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

// OwnedKey returns the request key of a document that an owner created. It has the owner in it, so
// that a tombstone needs no other field to keep the request taken. Keys sort by owner, then by
// key.
func OwnedKey(owner int64, key string) string {
	if owner == 0 {
		return key
	}
	return fmt.Sprintf("%0*d/%s", ownerDigits, owner, key)
}

// BareKey returns a request key without the owner, if it has one. No other key begins with so many
// digits and a slash.
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
func Answered[K Key, T any](ctx context.Context, c *Collection[K, T],
	request Request) (document T, found bool, err error) {
	found, err = c.core.answered(ctx, request, &document)
	return document, found, err
}

func (c *core) answered(ctx context.Context, request Request, document any) (found bool, err error) {
	if request.ID == "" {
		return false, nil
	}
	raws, _, err := c.table.Scan(ctx, Scan{Where: request.selects(), Limit: 1, WithTombstones: true})
	if err != nil || len(raws) == 0 {
		return false, c.wrap("find", err)
	}
	id, err := c.idOf(raws[0])
	if err != nil {
		return false, c.wrap("find", err)
	}
	raw, err := GetFrom(ctx, c.table, id, Linearizable)
	if errors.Is(err, ErrNotFound) {
		if IsTombstone(raws[0]) {
			return false, c.wrap("find", ErrGone)
		}
		return false, nil
	}
	if err != nil {
		return false, c.wrap("find", err)
	}
	if first, ok := raw.Lookup(DigestField).Int64OK(); ok && request.Digest != 0 && first != request.Digest {
		return false, c.wrap("find", ErrRequestReused)
	}
	err = c.decode(raw, document)
	return err == nil, err
}

// Create stores the document that build returns for an id and a request key. It calls draw until
// an id is free. If the same owner has sent the same request before, Create stores nothing and
// returns the existing document in its current state. It does so even if another document has
// taken a key that a new document would need. The collection declares RequestIndex (rule 14.2: a
// create may be repeated safely). Errors: ErrRequestReused and ErrGone as with Answered,
// *DuplicateError in a unique index other than RequestIndex, and ErrConflict if 256 times in a row
// the request's document was there for the insert and deleted before it was read.
func Create[T any](
	ctx context.Context, c *Collection[int64, T], draw Draw, request Request,
	build func(id int64, requestKey string) T,
) (T, Outcome, error) {
	var document, none T
	outcome, err := c.core.create(ctx, draw, request, &document,
		func(id int64, key string) { document = build(id, key) })
	if err != nil {
		return none, 0, err
	}
	return document, outcome, nil
}

// create is Create. build builds the document to which document points.
func (c *core) create(ctx context.Context, draw Draw, request Request, document any,
	build func(id int64, requestKey string)) (Outcome, error) {
	highest := int64(0)
	for taken := range maxDraws {
		drawn, err := draw(highest, taken)
		if err != nil {
			return 0, c.wrap("create", err)
		}
		requestKey := request.ID
		if requestKey == "" {
			// As unique as the id; no UUID starts with #.
			requestKey = "#" + strconv.FormatInt(drawn, 10)
		}
		build(drawn, OwnedKey(request.Owner, requestKey))
		outcome, err := c.createAs(ctx, request, document)
		if duplicate, isDuplicate := errors.AsType[*DuplicateError](err); !isDuplicate || duplicate.Index != IDIndex {
			return outcome, err
		}
		if highest, err = c.highest(ctx, drawn); err != nil {
			return 0, err
		}
	}
	return 0, c.wrap("create", fmt.Errorf("all of %d generated ids were taken", maxDraws))
}

// createAs is create with one id. Errors: as of Create, and *DuplicateError in IDIndex if the
// id is taken.
func (c *core) createAs(ctx context.Context, request Request, document any) (Outcome, error) {
	raw, err := encode(document, 1)
	if err != nil {
		return 0, c.wrap("insert", err)
	}
	if request.ID != "" && request.Digest != 0 {
		raw = appendInt64(raw, DigestField, request.Digest)
	}
	for try := range maxTries {
		err := c.insertRaw(ctx, []bson.Raw{raw})
		if err == nil {
			return Created, nil
		}
		duplicate, isDuplicate := errors.AsType[*DuplicateError](err)
		if !isDuplicate || duplicate.Index == IDIndex {
			return 0, err
		}
		found, findErr := c.answered(ctx, request, document)
		switch {
		case findErr != nil:
			return 0, findErr
		case found:
			return Repeated, nil
		case duplicate.Index != RequestIndex:
			return 0, err
		}
		// The document of the request was deleted in the meantime: create a new one.
		if err := backOff(ctx, try); err != nil {
			return 0, c.wrap("create", err)
		}
	}
	return 0, c.wrap("create", ErrConflict)
}

// Package aliases keeps which identifiers the old identifiers of content stand for. Only content
// that was moved in has an alias. It is written before the content, so after a crash it may stand for
// nothing.
package aliases

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/id"
)

// RequestPrefix begins the request key of what was moved in. Its old identifier follows. No UUID
// and no key of docstore.Create begins that way.
const RequestPrefix = "moved:"

// OldID returns the old identifier of what was moved in, if its identifier does not tell it, and ""
// otherwise.
func OldID(newID int64, requestKey string) string {
	if !IsText(newID) {
		return ""
	}
	oldID, _ := strings.CutPrefix(docstore.BareKey(requestKey), RequestPrefix)
	return oldID
}

// IsText reports whether an identifier follows from an old one and does not tell it.
func IsText(newID int64) bool {
	_, isNumber := id.Old(newID)
	return id.IsMoved(newID) && !isNumber
}

// alias is the stored form of an alias.
type alias struct {
	OldID string `bson:"_id"`
	ID    int64  `bson:"id"`
}

// byID finds what stands for an identifier.
func byID() docstore.Index1[int64] { return docstore.Index1[int64]{Name: "identifier", A: "id"} }

// Aliases are those of one kind of content. They may be used concurrently.
type Aliases struct {
	documents *docstore.Collection[string, alias]
}

// Open opens the aliases in the named collection.
func Open(ctx context.Context, engine docstore.Engine, collection string) (*Aliases, error) {
	documents, err := docstore.Open[string, alias](ctx, engine, docstore.Spec{
		Name: collection, ID: docstore.String, Sharding: docstore.ByID, Indexes: []docstore.Index{byID().Declare()},
	})
	if err != nil {
		return nil, err
	}
	return &Aliases{documents}, nil
}

// Of returns the identifier that an old identifier stands for. It reports false if there is none.
func (a *Aliases) Of(ctx context.Context, oldID string) (id int64, ok bool, err error) {
	found, err := a.documents.Get(ctx, oldID)
	if errors.Is(err, docstore.ErrNotFound) {
		return 0, false, nil
	}
	return found.ID, err == nil, err
}

// OfMany returns the identifiers of those old identifiers that stand for one.
func (a *Aliases) OfMany(ctx context.Context, oldIDs []string) (map[string]int64, error) {
	known := make(map[string]int64, len(oldIDs))
	if len(oldIDs) == 0 {
		return known, nil
	}
	found, err := a.documents.GetMany(ctx, oldIDs)
	if err != nil {
		return nil, err
	}
	for _, each := range found {
		known[each.OldID] = each.ID
	}
	return known, nil
}

// IsTaken reports whether another old identifier stands for an identifier. Its content need not be
// stored.
func (a *Aliases) IsTaken(ctx context.Context, id int64, oldID string) (bool, error) {
	found, err := a.documents.Find(ctx, byID().Is(id).Everywhere())
	if errors.Is(err, docstore.ErrNotFound) {
		return false, nil
	}
	return err == nil && found.OldID != oldID, err
}

// Add stores what old identifiers stand for. Errors: docstore.ErrConflict if one stands for another
// identifier by now.
func (a *Aliases) Add(ctx context.Context, ids map[string]int64) error {
	documents := make([]alias, 0, len(ids))
	for oldID, id := range ids {
		documents = append(documents, alias{OldID: oldID, ID: id})
	}
	taken, err := a.documents.InsertNew(ctx, documents)
	if err != nil {
		return err
	}
	present := make([]string, len(taken))
	for n, i := range taken {
		present[n] = documents[i].OldID
	}
	found, err := a.OfMany(ctx, present)
	if err != nil {
		return err
	}
	for _, oldID := range present {
		if found[oldID] != ids[oldID] {
			return fmt.Errorf("the old identifier %q: %w", oldID, docstore.ErrConflict)
		}
	}
	return nil
}

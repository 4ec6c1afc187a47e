// Package aliases keeps which identifiers the old identifiers of content stand for. Only content
// that was moved in has an alias. It is written before the content, so after a crash it may stand
// for nothing. It stays when the content is deleted, and knows that.
package aliases

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/id"
)

// RequestPrefix begins the request key of what was moved in. Its old identifier follows. No UUID
// and no key of docstore.Create begins that way.
const RequestPrefix = "moved:"

// OldID returns the old identifier of what was moved in, if its identifier does not tell it, and
// "" otherwise.
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

// IsSmall reports whether an identifier follows from a number that Waybook drew; see package
// smallids.
func IsSmall(newID int64, requestKey string) bool {
	_, isNumber := id.Old(newID)
	return isNumber && !strings.HasPrefix(docstore.BareKey(requestKey), RequestPrefix)
}

// alias is the stored form of an alias.
type alias struct {
	OldID string `bson:"_id"`
	ID    int64  `bson:"id"`
	// IsGone says that what it stood for was deleted.
	IsGone bool `bson:"gone,omitempty"`
}

// byID finds what stands for an identifier.
func byID() docstore.Index1[int64] { return docstore.Index1[int64]{Name: "identifier", A: "id"} }

// Aliases are those of one kind of content. They may be used concurrently.
type Aliases struct {
	documents collection
}

// collection is the collection of the aliases. Who knows the fields of Aliases does not compile
// its methods again, because it is behind an interface (docs/decisions/repository.md).
type collection interface {
	Get(ctx context.Context, oldID string, as ...docstore.Consistency) (alias, error)
	GetMany(ctx context.Context, oldIDs []string, as ...docstore.Consistency) ([]alias, error)
	Find(ctx context.Context, where docstore.Where) (alias, error)
	Insert(ctx context.Context, documents ...alias) error
	Update(ctx context.Context, oldID string, change func(*alias) error) (alias, error)
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

// Latest returns the identifier that an old one stands for, as no later failure undoes it. It
// takes about as long as a write. Errors: docstore.ErrNotFound.
func (a *Aliases) Latest(ctx context.Context, oldID string) (int64, error) {
	found, err := a.documents.Get(ctx, oldID, docstore.Linearizable)
	return found.ID, err
}

// OfMany returns the identifiers of those old identifiers that stand for one.
func (a *Aliases) OfMany(ctx context.Context, oldIDs []string) (map[string]int64, error) {
	known, _, err := a.OfManyOrGone(ctx, oldIDs)
	return known, err
}

// OfManyOrGone is OfMany, and returns what was deleted of it.
func (a *Aliases) OfManyOrGone(ctx context.Context,
	oldIDs []string) (known map[string]int64, gone map[string]bool, err error) {
	known, gone = make(map[string]int64, len(oldIDs)), map[string]bool{}
	if len(oldIDs) == 0 {
		return known, gone, nil
	}
	found, err := a.documents.GetMany(ctx, oldIDs)
	if err != nil {
		return nil, nil, err
	}
	for _, each := range found {
		known[each.OldID] = each.ID
		if each.IsGone {
			gone[each.OldID] = true
		}
	}
	return known, gone, nil
}

// Bury notes that what has an identifier was deleted. It does nothing if that was not moved in.
func (a *Aliases) Bury(ctx context.Context, newID int64) error {
	if !id.IsMoved(newID) {
		return nil
	}
	found, err := a.documents.Find(ctx, byID().Is(newID).Everywhere())
	if err == nil {
		err = a.mark(ctx, found.OldID)
	}
	if errors.Is(err, docstore.ErrNotFound) {
		return nil
	}
	return err
}

// BuryAs is Bury for what has no alias until it is deleted.
func (a *Aliases) BuryAs(ctx context.Context, oldID string, newID int64) error {
	taken, err := docstore.Taken(a.documents.Insert(ctx, alias{OldID: oldID, ID: newID, IsGone: true}))
	if err != nil || len(taken) == 0 {
		return err
	}
	return a.mark(ctx, oldID)
}

// Removals are what was moved in with content, such as its photos, and removed by users. All are
// of one kind. They are kept among the aliases, under keys that no old identifier has (rule
// 14.15).
type Removals struct {
	aliases *Aliases
	kind    string
}

// Removals returns those of a kind.
func (a *Aliases) Removals(kind string) Removals { return Removals{a, kind} }

func (r Removals) key(newID int64) string {
	return "\x01" + r.kind + "/" + strconv.FormatInt(newID, 10)
}

// Note notes that what has an identifier is removed. It does nothing if that was not moved in.
func (r Removals) Note(ctx context.Context, newID int64) error {
	if !id.IsMoved(newID) {
		return nil
	}
	_, err := docstore.Taken(r.aliases.documents.Insert(ctx, alias{OldID: r.key(newID), IsGone: true}))
	return err
}

// Among returns which of some identifiers are of what was removed.
func (r Removals) Among(ctx context.Context, ids []int64) (map[int64]bool, error) {
	removed, keys := map[int64]bool{}, make([]string, len(ids))
	for i, each := range ids {
		keys[i] = r.key(each)
	}
	_, gone, err := r.aliases.OfManyOrGone(ctx, keys)
	for i, each := range ids {
		if gone[keys[i]] {
			removed[each] = true
		}
	}
	return removed, err
}

func (a *Aliases) mark(ctx context.Context, oldID string) error {
	_, err := a.documents.Update(ctx, oldID, func(stored *alias) error {
		stored.IsGone = true
		return nil
	})
	return err
}

// Add stores what old identifiers stand for. Errors: docstore.ErrConflict if one stands for
// another identifier by now.
func (a *Aliases) Add(ctx context.Context, ids map[string]int64) error {
	documents := make([]alias, 0, len(ids))
	for oldID, id := range ids {
		documents = append(documents, alias{OldID: oldID, ID: id})
	}
	taken, err := docstore.Taken(a.documents.Insert(ctx, documents...))
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

package docstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/waybook/waybook/internal/chance"
	"github.com/waybook/waybook/internal/pause"
)

// maxTries bounds how often Update, Observe and Create start again. In each round at
// least one of the concurrent writers of a document succeeds, so this is also how many
// writers may compete.
const maxTries = 256

// Update reads a document, calls change to modify it, writes it back, and returns the
// document as written.
//
// If another writer changed the document in the meantime, Update starts again. So
// change may run several times, each time on the current document. If change returns an
// error, Update writes nothing and returns that error unwrapped. change must not modify
// _id. Errors: ErrNotFound, *DuplicateError, and ErrConflict if other writers were
// faster 256 times in a row.
//
// Update writes only what changed, and nothing if change changes nothing. So fields that T does not
// have stay as they are, and a small change of a large document is a small write. What it reads is
// durable, because a failover may give the revision of a state that it undoes to another one.
func (c *Collection[K, T]) Update(ctx context.Context, id K, change func(*T) error) (T, error) {
	var none T
	for try := range maxTries {
		raw, err := c.durable(ctx, id, try > 0)
		if err != nil {
			return none, c.wrap("update", err)
		}
		document, isOvertaken, err := c.updateFrom(ctx, raw, change)
		if !isOvertaken {
			return document, err
		}
		if err := backOff(ctx, try); err != nil {
			return none, c.wrap("update", err)
		}
	}
	return none, c.wrap("update", ErrConflict)
}

// Stored is a state of a document that no failover undoes.
type Stored[T any] struct {
	Document T
	raw      bson.Raw
}

// Unchanged returns the condition that a document has the revision of a state.
func (s Stored[T]) Unchanged() Condition {
	revision, _ := s.raw.Lookup(RevisionField).Int64OK()
	return Is(RevisionField, revision)
}

// GetStored returns a document for UpdateFrom. Errors: ErrNotFound.
func (c *Collection[K, T]) GetStored(ctx context.Context, id K) (Stored[T], error) {
	raw, err := c.durable(ctx, id, false)
	if err != nil {
		return Stored[T]{}, c.wrap("get", err)
	}
	return c.stored(raw)
}

// GetDurable is GetMany, and no later failure of a server undoes what it shows. It may miss what
// was written a moment ago; GetLinearizable does not.
func (c *Collection[K, T]) GetDurable(ctx context.Context, ids []K) ([]Stored[T], error) {
	raws, _, err := getMany(ctx, c.table, ids, Scan{As: Durable})
	if err != nil {
		return nil, c.wrap("get durable", err)
	}
	all := make([]Stored[T], len(raws))
	for i, raw := range raws {
		if all[i], err = c.stored(raw); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func (c *Collection[K, T]) stored(raw bson.Raw) (Stored[T], error) {
	document, err := c.decode(raw)
	return Stored[T]{document, raw}, err
}

// UpdateFrom is Update of a state that has been read. Errors: ErrConflict if the document has another one
// by now, ErrNotFound, and *DuplicateError.
func (c *Collection[K, T]) UpdateFrom(ctx context.Context, stored Stored[T], change func(*T) error) (T, error) {
	document, _, err := c.updateFrom(ctx, stored.raw, change)
	return document, err
}

func (c *Collection[K, T]) updateFrom(ctx context.Context, raw bson.Raw, change func(*T) error) (document T, isOvertaken bool, err error) {
	var none T
	if document, err = c.decode(raw); err != nil {
		return none, false, err
	}
	if err := change(&document); err != nil {
		return none, false, err
	}
	made, err := c.changeTo(raw, &document)
	if err != nil {
		return none, false, c.wrap("update", err)
	}
	if made.IsEmpty() {
		err = c.confirm(ctx, made)
	} else {
		_, err = c.table.Update(ctx, made)
	}
	if err != nil {
		return none, errors.Is(err, ErrConflict), c.wrap("update", err)
	}
	return document, false, nil
}

// confirm checks that a document still has the revision from which a change begins that changes nothing.
func (c *Collection[K, T]) confirm(ctx context.Context, made Change) error {
	latest, err := GetFrom(ctx, c.table, made.ID, Linearizable)
	if err != nil {
		return err
	}
	if revision, err := RevisionOf(latest); err != nil || revision != made.Revision {
		return cmp.Or(err, ErrConflict)
	}
	return nil
}

// durable reads a document that no failover undoes. It shows the latest state if isLatest, or if no
// majority had another.
func (c *Collection[K, T]) durable(ctx context.Context, id K, isLatest bool) (bson.Raw, error) {
	if !isLatest {
		if found, err := GetFrom(ctx, c.table, ValueOf(id), Durable); !errors.Is(err, ErrNotFound) {
			return found, err
		}
	}
	return GetFrom(ctx, c.table, ValueOf(id), Linearizable)
}

// UpdateMany changes the documents that exist of those with the given ids, which differ
// from each other. It calls change for each and skips the document if change returns false.
// Where another writer was faster, it starts again with the present document. UpdateMany is
// not atomic, and change must not touch _id or a field of a unique index. Errors:
// ErrConflict as with Update.
func (c *Collection[K, T]) UpdateMany(ctx context.Context, ids []K, change func(*T) bool) error {
	for try := range maxTries {
		stored, err := c.GetDurable(ctx, ids)
		if err != nil {
			return err
		}
		if isOvertaken, err := c.updateMany(ctx, stored, change); !isOvertaken {
			return err
		}
		if err := backOff(ctx, try); err != nil {
			return c.wrap("update many", err)
		}
	}
	return c.wrap("update many", ErrConflict)
}

// UpdateManyFrom is UpdateMany of states that have been read. Errors: ErrConflict if a document that it would
// change has another state by now, or is gone. Others may be changed then.
func (c *Collection[K, T]) UpdateManyFrom(ctx context.Context, stored []Stored[T], change func(*T) bool) error {
	isOvertaken, err := c.updateMany(ctx, stored, change)
	if isOvertaken {
		err = c.wrap("update many", ErrConflict)
	}
	return err
}

func (c *Collection[K, T]) updateMany(ctx context.Context, stored []Stored[T], change func(*T) bool) (isOvertaken bool, err error) {
	changes := make([]Change, 0, len(stored))
	for _, each := range stored {
		if !change(&each.Document) {
			continue
		}
		made, err := c.changeTo(each.raw, &each.Document)
		if err != nil {
			return false, c.wrap("update many", err)
		}
		changes = append(changes, made)
	}
	if len(changes) == 0 {
		return false, nil
	}
	made, err := c.table.UpdateMany(ctx, changes)
	return err == nil && made < int64(len(changes)), c.wrap("update many", err)
}

// changeTo returns the change from a stored document to another state of it.
func (c *Collection[K, T]) changeTo(stored bson.Raw, document *T) (Change, error) {
	revision, err := RevisionOf(stored)
	if err != nil {
		return Change{}, err
	}
	after, err := encode(document, revision)
	if err != nil {
		return Change{}, err
	}
	field := Field{Name: IDIndex, Kind: c.spec.ID}
	id, err := field.Value(stored)
	if err != nil {
		return Change{}, err
	}
	if changed, err := field.Value(after); err != nil || changed != id {
		return Change{}, fmt.Errorf("the change altered the _id of document %v", id)
	}
	made, err := c.shape.difference(stored, after)
	if err != nil {
		return Change{}, err
	}
	made.ID, made.Revision = id, revision
	if c.spec.ChangesKeys(made) {
		if isMoved := slices.ContainsFunc(made.Set, func(set Assignment) bool { return slices.Contains(c.spec.PlaceFields, set.Path) }); isMoved {
			return Change{}, fmt.Errorf("the change altered a place field of document %v", id)
		}
		return made, c.spec.CheckDocument(after)
	}
	return made, CheckSize(len(after))
}

// Set sets fields of a document without reading it before, and returns the document as it becomes. An Update
// that has read them runs again. mark are further fields to set, or to add to (Plus). They do not count: if the document has all
// values of set, Set writes nothing and returns it. Errors as of Raise.
func (c *Collection[K, T]) Set(ctx context.Context, id K, set, mark map[string]any, conditions ...Condition) (document T, err error) {
	all := maps.Clone(set)
	maps.Copy(all, mark)
	change := Change{ID: ValueOf(id), If: conditions, IfNew: slices.Sorted(maps.Keys(set)), IsWhole: true}
	for try := range maxTries {
		var made Change
		var state bson.Raw
		if len(set) == 0 {
			err = ErrConflict
		} else if made, state, err = c.modify(ctx, change, all); err == nil {
			state, err = made.Apply(state)
		}
		if errors.Is(err, ErrConflict) {
			state, err = GetFrom(ctx, c.table, change.ID, Linearizable)
			switch {
			case err != nil:
			case !meets(state, conditions):
				err = ErrConflict
			case len(set) > 0 && made.IsNewTo(state): // another writer changed it in between
				if err = backOff(ctx, try); err == nil {
					continue
				}
			}
		}
		if err != nil {
			return document, c.wrap("set", err)
		}
		return c.decode(state)
	}
	return document, c.wrap("set", ErrConflict)
}

// Assign does to a document in memory what Set does to a stored one.
func Assign[T any](document *T, set map[string]any) error {
	raw, err := bson.Marshal(set)
	if err != nil {
		return err
	}
	return bson.Unmarshal(raw, document)
}

// Observe reads a document and calls look with it. If the document has changed when
// look returns, Observe starts again. So everything else that look reads is consistent
// with the document that it was given.
//
// Observe writes nothing. If look returns an error, Observe returns it unwrapped.
// Errors: ErrNotFound, and ErrConflict if the document changed 256 times in a row.
func (c *Collection[K, T]) Observe(ctx context.Context, id K, look func(*T) error) error {
	for try := range maxTries {
		before, err := GetFrom(ctx, c.table, ValueOf(id), Present)
		if err != nil {
			return c.wrap("observe", err)
		}
		document, err := c.decode(before)
		if err != nil {
			return err
		}
		if err := look(&document); err != nil {
			return err
		}
		after, err := GetFrom(ctx, c.table, ValueOf(id), Present)
		if err != nil {
			return c.wrap("observe", err)
		}
		if isUnchanged(before, after) {
			return nil
		}
		if err := backOff(ctx, try); err != nil {
			return c.wrap("observe", err)
		}
	}
	return c.wrap("observe", ErrConflict)
}

// isUnchanged reports whether two reads of a document saw the same state.
func isUnchanged(before, after bson.Raw) bool {
	for _, counter := range []string{RevisionField, AddsField} {
		if !after.Lookup(counter).Equal(before.Lookup(counter)) {
			return false
		}
	}
	return true
}

// backOff waits a random time, longer after more tries, so that concurrent writers of one
// document collide less often.
func backOff(ctx context.Context, try int) error {
	if try < 2 {
		return ctx.Err()
	}
	return pause.For(ctx, chance.Below(time.Duration(min(try, 10))*time.Millisecond))
}

// Advance adds to an integer field of a document, and returns what it was and what another integer field is; 0 for
// one that is missing. It does not read the document before. Errors: ErrNotFound.
func (c *Collection[K, T]) Advance(ctx context.Context, id K, by Amount, other string) (before, value int64, err error) {
	_, was, err := c.modify(ctx, Change{ID: ValueOf(id), Add: []Amount{by}, Fields: []string{by.Field, other}}, nil)
	before, _ = was.Lookup(by.Field).Int64OK()
	value, _ = was.Lookup(other).Int64OK()
	return before, value, c.wrap("advance", err)
}

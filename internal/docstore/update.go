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

// maxTries bounds how often Update, Modify and Create start again. In each round at
// least one of the concurrent writers of a document succeeds, so this is also how many
// writers may compete.
const maxTries = 256

// backOff waits a random time, longer after more tries, so that concurrent writers of one
// document collide less often.
func backOff(ctx context.Context, try int) error {
	if try < 2 {
		return ctx.Err()
	}
	return pause.For(ctx, chance.Below(time.Duration(min(try, 10))*time.Millisecond))
}

// update is Collection.Update. Each try decodes the document into the value that document points
// to.
func (c *core) update(ctx context.Context, id Value, document any, change func() error) error {
	for try := range maxTries {
		raw, err := c.durable(ctx, id, try > 0)
		if err != nil {
			return c.wrap("update", err)
		}
		if err := c.decode(raw, document); err != nil {
			return err
		}
		if err := change(); err != nil {
			return err
		}
		made, err := c.changeTo(raw, document)
		switch {
		case err != nil:
		case made.IsEmpty():
			err = c.confirm(ctx, made)
		default:
			_, err = c.table.Update(ctx, made)
		}
		if !errors.Is(err, ErrConflict) {
			return c.wrap("update", err)
		}
		if err := backOff(ctx, try); err != nil {
			return c.wrap("update", err)
		}
	}
	return c.wrap("update", ErrConflict)
}

// confirm checks that a document still has the revision from which a change begins that changes
// nothing.
func (c *core) confirm(ctx context.Context, made Change) error {
	latest, err := GetFrom(ctx, c.table, made.ID, Linearizable)
	if err != nil {
		return err
	}
	if revision, err := RevisionOf(latest); err != nil || revision != made.Revision {
		return cmp.Or(err, ErrConflict)
	}
	return nil
}

// durable reads a document that no failover undoes. It shows the latest state if isLatest, or if
// no majority had another.
func (c *core) durable(ctx context.Context, id Value, isLatest bool) (bson.Raw, error) {
	if !isLatest {
		if found, err := GetFrom(ctx, c.table, id, Durable); !errors.Is(err, ErrNotFound) {
			return found, err
		}
	}
	return GetFrom(ctx, c.table, id, Linearizable)
}

func (c *core) updateMany(ctx context.Context, ids []Value, document any, change func() bool) error {
	for try := range maxTries {
		raws, err := c.withIDs(ctx, ids, Scan{As: Durable})
		if err != nil {
			return err
		}
		if err := c.updateFrom(ctx, raws, document, change); !errors.Is(err, ErrConflict) {
			return err
		}
		if err := backOff(ctx, try); err != nil {
			return c.wrap("update many", err)
		}
	}
	return c.wrap("update many", ErrConflict)
}

// updateFrom is Collection.UpdateFrom. It decodes each state into the value that document points
// to.
func (c *core) updateFrom(ctx context.Context, raws []bson.Raw, document any, change func() bool) error {
	changes := make([]Change, 0, len(raws))
	for _, raw := range raws {
		if err := c.decode(raw, document); err != nil {
			return err
		}
		if !change() {
			continue
		}
		made, err := c.changeTo(raw, document)
		if err != nil {
			return c.wrap("update many", err)
		}
		changes = append(changes, made)
	}
	if len(changes) == 0 {
		return nil
	}
	made, err := c.table.UpdateMany(ctx, changes)
	if err == nil && made < int64(len(changes)) {
		err = ErrConflict
	}
	return c.wrap("update many", err)
}

// changeTo returns the change from a stored document to another state of it.
func (c *core) changeTo(stored bson.Raw, document any) (Change, error) {
	revision, err := RevisionOf(stored)
	if err != nil {
		return Change{}, err
	}
	after, err := encode(document, revision)
	if err != nil {
		return Change{}, err
	}
	id, err := c.idOf(stored)
	if err != nil {
		return Change{}, err
	}
	if changed, err := c.idOf(after); err != nil || changed != id {
		return Change{}, fmt.Errorf("the change altered the _id of document %v", id)
	}
	made, err := c.shape.difference(stored, after)
	if err != nil {
		return Change{}, err
	}
	made.ID, made.Revision = id, revision
	if c.spec.ChangesKeys(made) {
		if isMoved := slices.ContainsFunc(made.Set,
			func(set Assignment) bool { return slices.Contains(c.spec.PlaceFields, set.Path) }); isMoved {
			return Change{}, fmt.Errorf("the change altered a place field of document %v", id)
		}
		return made, c.spec.CheckDocument(after)
	}
	return made, CheckSize(len(after))
}

// Edit is a change of a document that is not read before.
type Edit struct {
	// If are values that the document must have, or it stays.
	If []Condition
	// Set are new values of fields, or amounts to add to them (Plus). A field of an index is an
	// integer, and the index is not unique.
	Set map[string]any
	// Mark, unless nil, are further fields to set, which do not count: a document that has all
	// values of Set stays as it is.
	Mark map[string]any
	// Raise, unless its field is empty, is an integer field that becomes By if it is less or
	// missing.
	Raise Amount
	// Touches tells the followers of the document that something beside it has changed. Without a
	// feed there are none.
	Touches bool
	// Fields, unless nil, are the only fields that Modify returns.
	Fields []string
}

// Plus, in place of a value to set, is added to an integer field. The field may be inside an
// embedded document or an array of the document: votes.2.number.
type Plus int64

// changeOf returns the change of an edit.
func (c *core) changeOf(id Value, how Edit) (Change, error) {
	change := Change{ID: id, If: how.If, Raise: how.Raise, Touches: how.Touches, Fields: how.Fields,
		IsWhole: how.Fields == nil}
	all := map[string]any{}
	maps.Copy(all, how.Set)
	if how.Mark != nil {
		change.IfNew = slices.Sorted(maps.Keys(how.Set))
		maps.Copy(all, how.Mark)
	}
	fields := slices.Sorted(maps.Keys(all))
	if how.Raise.Field != "" {
		fields = append(fields, how.Raise.Field)
	}
	for i, field := range fields {
		value, isSet := all[field]
		_, isAdded := value.(Plus)
		isKnown := isAdded && c.shape.has(field)
		if !isAdded {
			_, isKnown = c.shape[field]
		}
		if !isKnown || field == IDIndex || slices.Contains(fields[:i], field) || !c.spec.isSettable(field) {
			return change, fmt.Errorf("field %q cannot be set without a read", field)
		}
		if !isSet {
			continue
		}
		if by, isAdded := value.(Plus); isAdded {
			change.Add = append(change.Add, Amount{field, int64(by)})
			continue
		}
		kind, raw, err := bson.MarshalValue(value)
		if err != nil {
			return change, err
		}
		change.Set = append(change.Set, Assignment{field, bson.RawValue{Type: kind, Value: raw}})
	}
	return change, nil
}

// modify is Collection.Modify. It decodes the document into the value that before points to.
func (c *core) modify(ctx context.Context, id Value, how Edit, before any) error {
	change, err := c.changeOf(id, how)
	if err != nil {
		return c.wrap("modify", err)
	}
	if c.spec.Feed == nil && change.IsEmpty() {
		return nil // a touch without followers
	}
	isNothing := how.Mark != nil && len(how.Set) == 0
	for try := range maxTries {
		raw, err := bson.Raw(nil), ErrConflict
		if !isNothing {
			raw, err = c.table.Update(ctx, change)
		}
		if errors.Is(err, ErrConflict) && how.Mark != nil {
			raw, err = GetFrom(ctx, c.table, id, Linearizable)
			switch {
			case err != nil:
			case !meets(raw, how.If):
				err = ErrConflict
			case !isNothing && change.IsNewTo(raw): // another writer changed it in between
				if err = backOff(ctx, try); err == nil {
					continue
				}
			}
		}
		if err != nil {
			return c.wrap("modify", err)
		}
		if len(raw) == 0 {
			return nil
		}
		return c.decode(raw, before)
	}
	return c.wrap("modify", ErrConflict)
}

// Assign does to a document in memory what Edit.Set does to a stored one, without Plus.
func Assign[T any](document *T, set map[string]any) error {
	raw, err := bson.Marshal(set)
	if err != nil {
		return err
	}
	return bson.Unmarshal(raw, document)
}

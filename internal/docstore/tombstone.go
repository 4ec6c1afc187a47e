package docstore

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Deletion asks an engine to delete a document.
//
// In a collection with Spec.Tombstones, the document becomes its own tombstone by one write: it keeps
// its _id, its place, the fields of its unique indexes and the moment of its insert, gets the next
// revision, GoneField and the moment of the deletion, and loses everything else. Reads do not return
// it, unless a scan asks for tombstones, and writes answer ErrNotFound. Its _id and its keys stay taken.
type Deletion struct {
	ID Value
	// If are values that the document must have, or it stays.
	If []Condition
	// Set are the values of fields of unique indexes in the tombstone, in place of those of the document.
	Set []Condition
	// Unset are the top-level fields of the document that its readers know. An engine that does not
	// read the document removes these, and the others in Postpone.
	Unset []string
}

// Condition is a value of a top-level field; none if the field is missing.
type Condition struct {
	Field string
	Value Value
	// Time, unless zero, is the value of a field that is a time.
	Time time.Time
}

// Is returns the condition that a field has a value.
func Is[K Key](field string, value K) Condition {
	return Condition{Field: field, Value: ValueOf(value)}
}

// At returns the condition that a field has a time, to the millisecond.
func At(field string, moment time.Time) Condition { return Condition{Field: field, Time: moment} }

// Lacks returns the condition that a field is missing.
func Lacks(field string) Condition { return Condition{Field: field} }

// GoneField makes a document a tombstone. It is Going while something that belonged to the document may
// be left, then Gone.
const GoneField = "_gone"

// The values of GoneField.
const (
	Going int64 = iota + 1
	Gone
)

// Tombstone is a deleted document, for a sweep.
type Tombstone struct {
	ID Value
	// At is the moment of the deletion. Due is when a sweep has something to do for it.
	At, Due Moment
	// IsClear reports that nothing is left of what belonged to the document.
	IsClear bool
}

// IsTombstone reports whether a scan with tombstones returned one.
func IsTombstone(document bson.Raw) bool {
	_, err := document.LookupErr(GoneField)
	return err == nil
}

// Keeps reports whether a tombstone keeps a field: _id and the fields of unique indexes.
func (s Spec) Keeps(field string) bool {
	return field == IDIndex || slices.ContainsFunc(s.Indexes, func(index Index) bool {
		return index.Unique && slices.ContainsFunc(index.Fields, func(f Field) bool { return f.Name == field })
	})
}

// TombstoneOf returns the tombstone of a document, for engines that store documents themselves.
func (s Spec) TombstoneOf(document bson.Raw, d Deletion) (bson.Raw, error) {
	elements, err := document.Elements()
	if err != nil {
		return nil, err
	}
	tombstone := make(bson.Raw, 4, len(document))
	for _, element := range elements {
		at := slices.IndexFunc(d.Set, func(set Condition) bool { return set.Field == element.Key() })
		switch {
		case at >= 0:
			tombstone = d.Set[at].Value.appendField(tombstone, d.Set[at].Field)
		case s.Keeps(element.Key()):
			tombstone = append(tombstone, element...)
		}
	}
	revision, err := RevisionOf(document)
	if err != nil {
		return nil, err
	}
	tombstone = appendInt64(append(tombstone, 0), RevisionField, revision+1)
	return appendInt64(tombstone, GoneField, Going), nil
}

// Cleared returns a tombstone as it is clear, for engines that store documents themselves.
func Cleared(tombstone bson.Raw) (bson.Raw, error) {
	state := bson.RawValue{Type: bson.TypeInt64, Value: binary.LittleEndian.AppendUint64(nil, uint64(Gone))}
	return node{{GoneField, edit{set: &state}}}.apply(make([]byte, 0, len(tombstone)), tombstone)
}

// Meets reports whether a document meets all conditions of a deletion.
func (d Deletion) Meets(document bson.Raw) bool { return meets(document, d.If) }

func meets(document bson.Raw, conditions []Condition) bool {
	return !slices.ContainsFunc(conditions, func(is Condition) bool {
		if !is.Time.IsZero() {
			moment, isTime := document.Lookup(is.Field).TimeOK()
			return !isTime || moment.UnixMilli() != is.Time.UnixMilli()
		}
		if is.Value.IsNone() {
			_, err := document.LookupErr(is.Field)
			return err == nil
		}
		value, err := Field{Name: is.Field, Kind: is.Value.Kind()}.Value(document)
		return err != nil || value != is.Value
	})
}

// CheckDeletion returns an error if every engine must refuse the deletion.
func (s Spec) CheckDeletion(d Deletion) error {
	if len(d.Set) > 0 && !s.Tombstones {
		return s.CheckTombstones()
	}
	for _, set := range d.Set {
		if set.Field == IDIndex || !s.Keeps(set.Field) {
			return fmt.Errorf("docstore: a tombstone of collection %q has no field %q", s.Name, set.Field)
		}
	}
	return nil
}

// CheckTombstones returns an error if a collection has no tombstones.
func (s Spec) CheckTombstones() error {
	if !s.Tombstones {
		return fmt.Errorf("docstore: collection %q keeps no tombstones", s.Name)
	}
	return nil
}

// CheckDeleteAll returns an error if a collection allows no DeleteAll.
func (s Spec) CheckDeleteAll() error {
	if s.Tombstones {
		return errors.New("docstore: a collection with tombstones deletes one document at a time")
	}
	return nil
}

const (
	// purgeTime is how long after a deletion sweeps look for what belonged to the document, in the
	// store's time. It is longer than any call may run, so they find what a call from before the
	// deletion has added.
	purgeTime = 5 * time.Minute
	// tickMargin is how long a tombstone stays after the tick of its id has passed: more than the
	// clocks of processes differ. Until then, a source may draw the id.
	tickMargin = 24 * time.Hour
	// sweepBatch is how many tombstones a sweep holds at a time.
	sweepBatch = 100
)

func (c *core) sweep(ctx context.Context, keep time.Duration, purge func(ctx context.Context, id Value) error) error {
	var failed []error
	for after := Moment(0); ; {
		due, now, err := c.table.Tombstones(ctx, after, sweepBatch)
		if err != nil {
			return c.wrap("sweep", errors.Join(append(failed, err)...))
		}
		for _, each := range due {
			if err := c.sweepOne(ctx, each, now, keep, purge); err != nil && !errors.Is(err, ErrNotFound) {
				failed = append(failed, fmt.Errorf("sweep %v: %w", each.ID, err))
			}
			after = each.Due
		}
		if len(due) < sweepBatch || ctx.Err() != nil {
			return c.wrap("sweep", errors.Join(append(failed, ctx.Err())...))
		}
	}
}

func (c *core) sweepOne(ctx context.Context, t Tombstone, now Moment, keep time.Duration, purge func(context.Context, Value) error) error {
	if !t.IsClear && purge != nil {
		if err := purge(ctx, t.ID); err != nil {
			return err
		}
	}
	end := t.At.Time().Add(keep)
	if c.spec.Scheme != nil && t.ID.Kind() == Int64 {
		if drawn := c.spec.Scheme.TimeOf(t.ID.Int64()).Add(tickMargin); drawn.After(end) {
			end = drawn
		}
	}
	switch isPurged := purge == nil || now.Time().Sub(t.At.Time()) >= purgeTime; {
	case !t.IsClear && !isPurged:
		return nil
	case now.Time().Before(end):
		return c.table.Postpone(ctx, t, MomentOf(end))
	}
	return c.table.Forget(ctx, t)
}

func (c *core) now(ctx context.Context) (time.Time, error) {
	_, now, err := c.table.Tombstones(ctx, math.MaxUint64, 1)
	return now.Time(), c.wrap("read the time", err)
}

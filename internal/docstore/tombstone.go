package docstore

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Deletion asks an engine to delete a document.
//
// In a collection with Spec.Tombstones, the document becomes its own tombstone by one write: it
// keeps its _id, its place, the fields of its unique indexes and the moment of its insert, gets
// the next revision, GoneField and the moment of the deletion, and loses everything else. Reads do
// not return it, unless a scan asks for tombstones, and writes answer ErrNotFound. Its _id and its
// keys stay taken.
type Deletion struct {
	ID Value
	// If are values that the document must have, or it stays.
	If []Condition
	// Set are the values of fields of unique indexes in the tombstone, in place of those of the
	// document.
	Set []Condition
	// Unset are the top-level fields of the document that its readers know. An engine that does
	// not read the document removes these, and the others in Postpone.
	Unset []string
}

// Meets reports whether a document meets all conditions of a deletion.
func (d Deletion) Meets(document bson.Raw) bool { return meets(document, d.If) }

// Tombstone is a deleted document, for a sweep.
type Tombstone struct {
	ID Value
	// At is the moment of the deletion. Due is when a sweep has something to do for it.
	At, Due Moment
	// IsClear reports that nothing is left of what belonged to the document.
	IsClear bool
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

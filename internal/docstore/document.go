package docstore

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// errNoPlace reports a selection that would ask every shard without saying so.
var errNoPlace = errors.New("the selection names no place; At names one, Everywhere asks every shard")

// PlaceOf returns the place of a selection. isPlaced is false for a selection that asks every
// shard, those of its ids, or the only one of the collection. A selection of a sharded collection
// that neither names a place nor says Everywhere is an error.
func (s Spec) PlaceOf(where Where) (place int64, isPlaced bool, err error) {
	switch s.Sharding {
	case OneShard:
		return 0, false, nil
	case ByPlace:
		if where.isIDs {
			return 0, false, nil // each id names its place
		}
		if where.isPlaced {
			return s.Scheme.PlaceOf(where.at), true, nil
		}
		index, _ := s.index(where.index)
		for i, field := range index.Fields {
			if i < len(where.equal) && field.Kind == Int64 && slices.Contains(s.PlaceFields, field.Name) {
				return s.Scheme.PlaceOf(where.equal[i].number), true, nil
			}
		}
		if where.isEverywhere && index.Unique && !index.Walked {
			return 0, false, fmt.Errorf("docstore: collection %q, index %q: a unique index that is not walked "+
				"serves one place only", s.Name, where.index)
		}
	}
	if !where.isEverywhere && !where.isIDs {
		return 0, false, fmt.Errorf("docstore: collection %q, index %q: %w", s.Name, where.index, errNoPlace)
	}
	return 0, false, nil
}

// PlaceOfID returns the place that an id of a collection sharded ByPlace names. A text that names
// none is the id of no document.
func (s Spec) PlaceOfID(value Value) (place int64, namesOne bool) {
	if value.kind != String {
		return s.Scheme.PlaceOf(value.number), true
	}
	first, _, hasSlash := strings.Cut(value.text, "/")
	number, err := strconv.ParseInt(first, 10, 64)
	return s.Scheme.PlaceOf(number), hasSlash && err == nil
}

// CheckPlace returns an error if the id of a document names no place, or another one than a field
// of PlaceFields: the document could not be found by that field.
func (s Spec) CheckPlace(document bson.Raw) error {
	if s.Sharding != ByPlace || s.ID == Int64 && len(s.PlaceFields) == 0 {
		return nil
	}
	own, err := Field{Name: IDIndex, Kind: s.ID}.sharedValue(document)
	if err != nil {
		return err
	}
	place, namesOne := s.PlaceOfID(own)
	if !namesOne {
		return fmt.Errorf("docstore: collection %q: the id %v names no place", s.Name, own)
	}
	for _, name := range s.PlaceFields {
		value, err := Field{Name: name, Kind: Int64}.sharedValue(document)
		if err != nil {
			return err
		}
		if named := s.Scheme.PlaceOf(value.number); named != place {
			return fmt.Errorf("docstore: collection %q: document %v is in place %d, but its %s %d names place %d",
				s.Name, own, place, name, value.number, named)
		}
	}
	return nil
}

// MaxDocumentBytes bounds the size of a document, as MongoDB does. Insert and Update
// refuse a larger document with a plain error.
const MaxDocumentBytes = 16 << 20

// CheckDocument returns an error if every engine must refuse the document. There are
// these reasons:
//
//   - The document has more than MaxDocumentBytes.
//   - An index key has more than MaxKeyBytes.
//   - The revision is missing.
//   - The _id, or an indexed field without a default, is missing. A tombstone needs only the
//     fields of unique indexes, and no document needs that of a sparse one.
//   - The _id or an indexed field has another kind than declared.
func (s Spec) CheckDocument(document bson.Raw) error {
	if err := CheckEnvelope(document); err != nil {
		return err
	}
	id := Field{Name: IDIndex, Kind: s.ID}
	var key [256]byte
	if _, err := AppendKey(key[:0], []Field{id}, document); err != nil {
		return err
	}
	isTombstone := s.Tombstones && IsTombstone(document)
	for _, index := range s.Indexes {
		if index.Omits(document, isTombstone) {
			continue
		}
		fields := append(slices.Clip(index.Fields), id)
		if _, err := AppendKey(key[:0], fields, document); err != nil {
			return fmt.Errorf("index %q: %w", index.Name, err)
		}
	}
	return nil
}

// CheckEnvelope makes the checks of CheckDocument that need no declaration: the size
// and the revision.
func CheckEnvelope(document bson.Raw) error {
	if err := CheckSize(len(document)); err != nil {
		return err
	}
	_, err := RevisionOf(document)
	return err
}

// CheckSize returns an error for a document of more than MaxDocumentBytes.
func CheckSize(bytes int) error {
	if bytes > MaxDocumentBytes {
		return fmt.Errorf("docstore: document has %d bytes, more than the limit of %d", bytes, MaxDocumentBytes)
	}
	return nil
}

// RevisionOf returns the revision of a stored document.
func RevisionOf(document bson.Raw) (int64, error) {
	revision, err := Field{Name: RevisionField, Kind: Int64}.sharedValue(document)
	return revision.number, err
}

// IsTombstone reports whether a scan with tombstones returned one.
func IsTombstone(document bson.Raw) bool {
	_, err := document.LookupErr(GoneField)
	return err == nil
}

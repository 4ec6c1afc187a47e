package docstore

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Sharding is how a collection lies on a sharded MongoDB cluster. Other stores have all documents
// in one file or on one server.
//
// A cluster enforces a unique index on each shard separately. The index is unique over all
// shards only if the shard key is a prefix of it, or if documents that could exclude each other
// have the same value in the shard key.
type Sharding int

const (
	// OneShard keeps the collection whole on one shard.
	OneShard Sharding = iota
	// ByID spreads the collection over the shards by a hash of _id. Every selection by an index
	// asks every shard, so there are no unique indexes.
	ByID
	// ByPlace spreads the collection by the place that the _id of a document names: an integer,
	// or a text that begins with one and a slash. Unique indexes hold within a place.
	ByPlace
)

// errNoPlace reports a selection that would ask every shard without saying so.
var errNoPlace = errors.New("the selection names no place; At names one, Everywhere asks every shard")

// At says that all documents of a selection are in the place that an id names. A selection that fixes a field of
// Spec.PlaceFields needs no At.
func (w Where) At(id int64) Where {
	w.at, w.isPlaced = id, true
	return w
}

// Everywhere says that the documents of a selection are on any shard. On a sharded cluster all
// of them are asked. A selection in a unique index may say so only if the index is Walked.
func (w Where) Everywhere() Where {
	w.isEverywhere = true
	return w
}

// IsEverywhere reports whether a selection may ask every shard.
func (w Where) IsEverywhere() bool { return w.isEverywhere }

// PlaceOf returns the place of a selection. isPlaced is false for a selection that asks every
// shard, those of its ids, or the only one of the collection. A selection of a sharded collection that neither
// names a place nor says Everywhere is an error.
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
			return 0, false, fmt.Errorf("docstore: collection %q, index %q: a unique index that is not walked serves one place only", s.Name, where.index)
		}
	}
	if !where.isEverywhere && !where.isIDs {
		return 0, false, fmt.Errorf("docstore: collection %q, index %q: %w", s.Name, where.index, errNoPlace)
	}
	return 0, false, nil
}

// index returns the declaration of an index.
func (s Spec) index(name string) (Index, bool) {
	for _, index := range s.Indexes {
		if index.Name == name {
			return index, true
		}
	}
	return Index{}, false
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

// checkSharding is the part of Validate about the placement.
func (s Spec) checkSharding() error {
	if s.Sharding == ByPlace && s.Scheme == nil {
		return fmt.Errorf("docstore: collection %q is sharded by place and has no scheme", s.Name)
	}
	if s.Sharding != ByPlace && len(s.PlaceFields) > 0 {
		return fmt.Errorf("docstore: collection %q has place fields but is not sharded by place", s.Name)
	}
	for _, index := range s.Indexes {
		if index.Unique && s.Sharding == ByID {
			return fmt.Errorf("docstore: collection %q cannot be sharded: index %q would be unique on each shard only", s.Name, index.Name)
		}
		if index.Walked && (!index.Unique || s.Sharding != ByPlace) {
			return fmt.Errorf("docstore: collection %q: index %q needs no declaration to be walked", s.Name, index.Name)
		}
	}
	for i, field := range s.PlaceFields {
		isInteger := func(index Index) bool {
			return !index.Sparse && slices.ContainsFunc(index.Fields, func(f Field) bool { return f.Name == field && f.Kind == Int64 })
		}
		if !slices.ContainsFunc(s.Indexes, isInteger) || slices.Contains(s.PlaceFields[:i], field) {
			return fmt.Errorf("docstore: collection %q: place field %q is no integer field of an index", s.Name, field)
		}
	}
	return nil
}

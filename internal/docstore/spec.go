package docstore

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"time"
)

// Spec declares a collection.
type Spec struct {
	// Name is the collection's name, in lower_snake_case, unique in the store.
	Name string
	// ID is the kind of the _id field.
	ID Kind
	// Indexes are all indexes of the collection except the one of _id.
	Indexes []Index
	// Scheme tells what the ids mean. Collections sharded ByPlace have one, and those with
	// tombstones whose ids are drawn.
	Scheme Scheme
	// Sharding is how the collection lies on a sharded cluster.
	Sharding Sharding
	// PlaceFields are the integer fields that name the same place as the _id of their document:
	// the id of its owner or of its parent. Only collections sharded ByPlace have them. Insert
	// refuses a document whose field names another place, and no Update changes one.
	PlaceFields []string
	// Tombstones says that a deleted document stays as its own tombstone; see Deletion. A
	// collection with tombstones allows no DeleteAll.
	Tombstones bool
	// Feed, unless nil, lets followers list the changes of the collection. It needs Tombstones.
	Feed *Feed
}

// Scheme tells what integer ids mean. Two values of one are equal.
type Scheme interface {
	// PlaceOf returns the place that an id names: a number below Places.
	PlaceOf(id int64) int64
	Places() int64
	// TimeOf returns when an id was drawn, or a later time.
	TimeOf(id int64) time.Time
}

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

// Moment is a time of a store. Its upper 32 bits are seconds since 1970. The lower ones are a
// fraction of the second, or a counter: moments grow with each write that is stamped, whatever the
// clock does.
type Moment uint64

// MomentOf returns the moment of a time.
func MomentOf(t time.Time) Moment {
	return Moment(t.Unix())<<32 | Moment(uint64(t.Nanosecond())<<32/uint64(time.Second)) // #nosec G115 -- no clock is before 1970
}

// Time returns the time of a moment.
func (m Moment) Time() time.Time {
	fraction := uint64(m) & (1<<32 - 1)
	return time.Unix(int64(m>>32), int64(fraction*uint64(time.Second)>>32)).UTC() // #nosec G115 -- 32 bits
}

// Feed declares that the changes of a collection can be listed. The engine stamps each write that
// followers are to see with a moment, and keeps an index of the moments: that of the latest change
// of each document and tombstone.
type Feed struct {
	// NotStamped are the top-level fields that followers do not see. A change of them alone is not
	// stamped.
	NotStamped []string
	// Settling is how old a change is when nothing can appear before it any more; 0 means
	// DefaultSettling. Until then, it is listed again. A writer that stores something beside the
	// document after it has changed the document takes at most half of it.
	Settling time.Duration
}

// DefaultSettling is the settling time of a feed that declares none.
const DefaultSettling = 2 * time.Second

// SettlingTime returns the settling time of the collection's feed; 0 if it has none.
func (s Spec) SettlingTime() time.Duration {
	if s.Feed == nil {
		return 0
	}
	return cmp.Or(s.Feed.Settling, DefaultSettling)
}

// The fields of a stored document that engines maintain.
const (
	// RevisionField holds the document's revision, an int64 that grows by one with each
	// Update.
	RevisionField = "_rev"
	// AddsField holds how often Update has changed the document without a new revision; it is
	// missing until the first time.
	AddsField = "_adds"
	// PlaceField holds the document's place where the engine stores it. No read returns it.
	PlaceField = "_place"
	// ChangedField and MadeField hold the moments of the latest change and of the insert where the
	// engine stores them, in a collection with a feed. Only Changes returns them.
	ChangedField, MadeField = "_changed", "_made"
	// DueField holds Tombstone.Due where the engine stores it. No read returns it.
	DueField = "_due"
)

// GoneField makes a document a tombstone. It is Going while something that belonged to the
// document may be left, then Gone.
const GoneField = "_gone"

// The values of GoneField.
const (
	Going int64 = iota + 1
	Gone
)

// DigestField holds the digest of the request that created a document. No document type has the
// field, so no update changes it. Documents without a request's digest lack it.
const DigestField = "request_digest"

// Format is the number of the form in which stores and dumps keep documents. That of 0.1.0, the
// first release, is 8. No release has a lower one.
const Format = 8

// CheckFormat returns an error if a store has another format. name says what the store is.
func CheckFormat(name, format string) error {
	switch number, err := strconv.Atoi(format); {
	case err == nil && number == Format:
		return nil
	case err != nil || number > Format:
		return fmt.Errorf("%s has format %q, and this program reads %d: start the version that wrote it", name, format,
			Format)
	}
	return fmt.Errorf("%s has format %q of a version that was never released, and this program reads %d: start with "+
		"an empty store", name, format, Format)
}

// Validate returns an error if the declaration is invalid.
func (s Spec) Validate() error {
	name := regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
	if !name.MatchString(s.Name) {
		return fmt.Errorf("docstore: collection name %q is not in lower_snake_case", s.Name)
	}
	if s.ID != Int64 && s.ID != String {
		return fmt.Errorf("docstore: collection %q does not declare the kind of _id", s.Name)
	}
	seen := make(map[string]bool)
	for _, index := range s.Indexes {
		if !name.MatchString(index.Name) || seen[index.Name] {
			return fmt.Errorf("docstore: collection %q: index name %q is not in lower_snake_case or is declared twice",
				s.Name, index.Name)
		}
		seen[index.Name] = true
		if len(index.Fields) == 0 || index.Sparse && (len(index.Fields) > 1 || index.Unique) {
			return fmt.Errorf("docstore: collection %q: index %q has no fields, or is sparse and has several "+
				"or is unique", s.Name, index.Name)
		}
		fields := make(map[string]bool)
		for _, field := range index.Fields {
			if field.Name == "" || field.Name == IDIndex || isMaintained(field.Name) || fields[field.Name] {
				return fmt.Errorf("docstore: collection %q: index %q cannot include field %q", s.Name, index.Name,
					field.Name)
			}
			if field.Kind != Int64 && field.Kind != String {
				return fmt.Errorf("docstore: collection %q: field %q of index %q has no kind", s.Name, field.Name,
					index.Name)
			}
			fields[field.Name] = true
		}
	}
	if err := s.checkFeed(); err != nil {
		return err
	}
	return s.checkSharding()
}

// isMaintained reports whether engines maintain a field.
func isMaintained(field string) bool {
	return slices.Contains([]string{RevisionField, AddsField, PlaceField, ChangedField, MadeField, GoneField,
		DueField}, field)
}

// checkFeed is the part of Validate about the feed.
func (s Spec) checkFeed() error {
	if s.Feed != nil && !s.Tombstones {
		return fmt.Errorf("docstore: collection %q has a feed and no tombstones", s.Name)
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
			return fmt.Errorf("docstore: collection %q cannot be sharded: index %q would be unique on each shard only",
				s.Name, index.Name)
		}
		if index.Walked && (!index.Unique || s.Sharding != ByPlace) {
			return fmt.Errorf("docstore: collection %q: index %q needs no declaration to be walked", s.Name,
				index.Name)
		}
	}
	for i, field := range s.PlaceFields {
		isInteger := func(index Index) bool {
			return !index.Sparse && slices.ContainsFunc(index.Fields,
				func(f Field) bool { return f.Name == field && f.Kind == Int64 })
		}
		if !slices.ContainsFunc(s.Indexes, isInteger) || slices.Contains(s.PlaceFields[:i], field) {
			return fmt.Errorf("docstore: collection %q: place field %q is no integer field of an index", s.Name, field)
		}
	}
	return nil
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

// FieldsOf returns the sort fields of the named index, with _id last.
func (s Spec) FieldsOf(index string) ([]Field, error) {
	id := Field{Name: IDIndex, Kind: s.ID}
	if index == IDIndex {
		return []Field{id}, nil
	}
	for _, ix := range s.Indexes {
		if ix.Name == index {
			return append(slices.Clip(ix.Fields), id), nil
		}
	}
	return nil, fmt.Errorf("docstore: collection %q declares no index %q", s.Name, index)
}

// Keeps reports whether a tombstone keeps a field: _id and the fields of unique indexes.
func (s Spec) Keeps(field string) bool {
	return field == IDIndex || slices.ContainsFunc(s.Indexes, func(index Index) bool {
		return index.Unique && slices.ContainsFunc(index.Fields, func(f Field) bool { return f.Name == field })
	})
}

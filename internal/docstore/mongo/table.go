package mongo

import (
	"fmt"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/docstore/internal/settling"
)

// table is one collection on the server.
type table struct {
	engine     *Engine
	spec       docstore.Spec
	collection *mongo.Collection
	sizes      sizes
	// confirmed is nil if the collection is on several shards of a cluster, or not opened.
	confirmed *confirmation
	// hidden are the fields that no read returns.
	hidden []string
	// settled says what Feed may show.
	settled settling.Line
}

func newTable(e *Engine, spec docstore.Spec) *table {
	return &table{engine: e, spec: spec, collection: e.database.Collection(spec.Name), hidden: hiddenFields(spec)}
}

// selection is a selection of documents in the form that queries need.
type selection struct {
	// all are the sort fields of the index, fields those that the server sorts by.
	all, fields []docstore.Field
	bounds      docstore.Bounds
	// at is the condition of the place; empty if there is none.
	at bson.D
	// comment is everywhere if the query asks every shard, and empty otherwise.
	comment string
	// isIDs says that the selection names ids.
	isIDs bool
}

// resolve returns the selection of a scan.
func (t *table) resolve(scan docstore.Scan) (s selection, err error) {
	if s.all, err = t.spec.FieldsOf(scan.Index()); err != nil {
		return s, err
	}
	if s.fields, err = t.scanFields(scan.Index()); err != nil {
		return s, err
	}
	place, isPlaced, err := t.spec.PlaceOf(scan.Where)
	if err != nil {
		return s, err
	}
	if isPlaced {
		s.at = bson.D{inPlace(place)}
	} else if scan.IsEverywhere() {
		s.comment = everywhere
	}
	s.isIDs = scan.IsIDs()
	s.bounds, err = scan.Resolve(s.all)
	return s, err
}

// filter returns a filter for the documents of the selection.
func (t *table) filter(s selection) bson.D {
	filter := append(filterOf(s.all, s.fields, s.bounds), s.at...)
	if s.isIDs {
		ids := slices.Clone(s.bounds.Equal)
		for _, span := range s.bounds.Spans[:min(len(s.bounds.Spans), idsPerQuery)] {
			ids = append(ids, span.From)
		}
		filter = t.placed(ids...)
	}
	if s.bounds.WithTombstones || !t.mayHaveTombstones(s.all[0].Name) {
		return filter
	}
	return t.alive(filter)
}

// mayHaveTombstones reports whether tombstones may have the first field of an index. No condition of a
// selection matches a missing field, so the selections in other indexes need not exclude them. An older
// version, which does not know a field with a default, leaves it in its tombstones for a while.
func (t *table) mayHaveTombstones(first string) bool {
	_, hasDefault := t.spec.Defaults[first]
	return hasDefault || t.spec.Keeps(first)
}

// alive returns a filter for those of its documents that are no tombstones.
func (t *table) alive(filter bson.D) bson.D {
	filter = slices.Clip(filter)
	if !t.spec.Tombstones {
		return filter
	}
	return append(filter, bson.E{Key: docstore.GoneField, Value: bson.D{{Key: "$exists", Value: false}}})
}

// continueAfter narrows the selection to the documents behind one of them.
func (s *selection) continueAfter(document bson.Raw) (err error) {
	s.bounds.After, err = positionOf(document, s.bounds.Rest)
	if err == nil && s.isIDs {
		isRead := func(span docstore.Span) bool { return span.From.Compare(s.bounds.After[0]) <= 0 }
		s.bounds.Spans = slices.DeleteFunc(s.bounds.Spans, isRead)
		s.bounds.Empty = len(s.bounds.Spans) == 0
	}
	return err
}

// rest are the fields that the server sorts by and that the selection does not fix.
func (s selection) rest() []docstore.Field {
	return s.fields[min(len(s.bounds.Equal), len(s.fields)):]
}

// byID returns a filter for the document with an id.
func (t *table) byID(id docstore.Value) (bson.D, error) {
	if id.Kind() != t.spec.ID {
		return nil, fmt.Errorf("collection %q has no id of the kind of %v", t.spec.Name, id)
	}
	return t.placed(id), nil
}

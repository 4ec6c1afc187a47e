package mongo

import (
	"fmt"
	"math"
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
	// settled says which changes have settled.
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
	// A tombstone keeps _id and the fields of unique indexes, and no condition of a selection
	// matches a missing field.
	if s.bounds.WithTombstones || !t.spec.Keeps(s.all[0].Name) {
		return filter
	}
	return t.alive(filter)
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

// scanFields returns the fields of the server's index in sort order. A unique index does
// not include _id.
func (t *table) scanFields(name string) ([]docstore.Field, error) {
	fields, err := t.spec.FieldsOf(name)
	if err != nil {
		return nil, err
	}
	for _, index := range t.spec.Indexes {
		if index.Name == name && index.Unique {
			return fields[:len(fields)-1], nil
		}
	}
	return fields, nil
}

// equalTo returns a filter for documents that have values[i] in fields[i].
func equalTo(fields []docstore.Field, values []docstore.Value) bson.D {
	filter := make(bson.D, 0, len(values)+2)
	for i, value := range values {
		filter = append(filter, bson.E{Key: fields[i].Name, Value: value.BSON()})
	}
	return filter
}

// filterOf returns a filter for the documents within bounds. fields are the sort fields of
// the server's index.
func filterOf(all, fields []docstore.Field, bounds docstore.Bounds) bson.D {
	filter := equalTo(all, bounds.Equal)
	rest := fields[min(len(bounds.Equal), len(fields)):]
	if len(rest) == 0 {
		rest = bounds.Rest // at most one document has all values of a unique index
	}
	if bounds.After != nil && len(rest) > 0 {
		var last docstore.Value
		if n := len(bounds.Spans); n > 0 && bounds.Descending {
			last = bounds.Spans[0].From
		} else if n > 0 {
			last = bounds.Spans[n-1].To
		}
		filter = append(filter, behind(rest, bounds.After, last, bounds.Descending)...)
		if len(bounds.Spans) > 1 {
			filter = append(filter, bson.E{Key: "$and", Value: bson.A{bson.D{withinAny(rest[0], bounds.Spans)}}})
		}
	} else if len(bounds.Spans) > 0 {
		filter = append(filter, withinAny(bounds.Rest[0], bounds.Spans))
	}
	if len(filter) == 0 {
		filter = everything(fields[0])
	}
	return filter
}

// behind returns a filter for documents that sort after the given values. Unless last is
// none, their first field is at most last:
//
//	A <= a <= LAST and (a > A, or a = A and b > B, or a = A and b = B and _id > ID)
//
// The condition A <= a is redundant. It gives the server a lower bound for the index scan,
// however it plans the alternatives. In descending order all is the other way around.
func behind(fields []docstore.Field, values []docstore.Value, last docstore.Value, isDescending bool) bson.D {
	equal := equalTo(fields, values[:len(fields)])
	first, beyond, from, to := equal[0], "$gt", "$gte", "$lte"
	if isDescending {
		beyond, from, to = "$lt", "$lte", "$gte"
	}
	if len(fields) == 1 {
		return bson.D{{Key: first.Key, Value: between(beyond, values[0], to, last)}}
	}
	alternatives := make(bson.A, len(fields))
	for i, field := range equal {
		further := bson.E{Key: field.Key, Value: bson.D{{Key: beyond, Value: field.Value}}}
		alternatives[i] = append(equal[:i:i], further)
	}
	return bson.D{
		{Key: first.Key, Value: between(from, values[0], to, last)},
		{Key: "$or", Value: alternatives},
	}
}

// withinAny returns the condition that a field is in one of the spans.
func withinAny(field docstore.Field, spans []docstore.Span) bson.E {
	if len(spans) == 1 {
		return bson.E{Key: field.Name, Value: within(spans[0])}
	}
	alternatives := make(bson.A, len(spans))
	for i, span := range spans {
		alternatives[i] = bson.D{{Key: field.Name, Value: within(span)}}
	}
	return bson.E{Key: "$or", Value: alternatives}
}

// within returns the condition that a field is in a span.
func within(span docstore.Span) bson.D { return between("$gte", span.From, "$lte", span.To) }

// between returns the condition that a field is between two bounds, each with its operator. Either
// may be none.
func between(from string, first docstore.Value, to string, last docstore.Value) bson.D {
	bounds := bson.D{}
	if !first.IsNone() {
		bounds = append(bounds, bson.E{Key: from, Value: first.BSON()})
	}
	if !last.IsNone() {
		bounds = append(bounds, bson.E{Key: to, Value: last.BSON()})
	}
	return bounds
}

// orderOf returns a sort by the fields.
func orderOf(fields []docstore.Field, isDescending bool) bson.D {
	direction := 1
	if isDescending {
		direction = -1
	}
	order := bson.D{}
	for _, field := range fields {
		order = append(order, bson.E{Key: field.Name, Value: direction})
	}
	return order
}

// byIDOrder sorts by _id.
func byIDOrder() bson.D { return bson.D{{Key: docstore.IDIndex, Value: 1}} }

// projection returns a projection to the wanted fields and those that give a document's position;
// nil for whole documents. Each is in it once: a server refuses a path that is named twice.
func projection(wanted []string, position []docstore.Field) bson.D {
	if wanted == nil {
		return nil
	}
	names := slices.Clone(wanted)
	for _, field := range position {
		names = append(names, field.Name)
	}
	fields := make(bson.D, 0, len(names))
	for i, name := range names {
		if !slices.Contains(names[:i], name) {
			fields = append(fields, bson.E{Key: name, Value: 1})
		}
	}
	return fields
}

// everything returns a filter that all documents match and that an index on the field
// serves.
func everything(field docstore.Field) bson.D {
	var least any = int64(math.MinInt64)
	if field.Kind == docstore.String {
		least = ""
	}
	return bson.D{{Key: field.Name, Value: bson.D{{Key: "$gte", Value: least}}}}
}

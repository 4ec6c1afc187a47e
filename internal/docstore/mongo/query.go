package mongo

import (
	"math"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/waybook/waybook/internal/docstore"
)

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

// projection returns a projection to the wanted fields and those that give a document's
// position; nil for whole documents.
func projection(wanted []string, position []docstore.Field) bson.D {
	if wanted == nil {
		return nil
	}
	fields := bson.D{}
	for _, name := range wanted {
		fields = append(fields, bson.E{Key: name, Value: 1})
	}
	for _, field := range position {
		if !slices.Contains(wanted, field.Name) {
			fields = append(fields, bson.E{Key: field.Name, Value: 1})
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

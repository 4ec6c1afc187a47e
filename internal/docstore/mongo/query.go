package mongo

import (
	"math"

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
func equalTo(fields []docstore.Field, values []any) (bson.D, error) {
	filter := bson.D{}
	for i, value := range values {
		value, err := fields[i].Value(value)
		if err != nil {
			return nil, err
		}
		filter = append(filter, bson.E{Key: fields[i].Name, Value: value})
	}
	return filter, nil
}

// behind returns a filter for documents that sort after the given values. Unless last is
// nil, their first field is at most last:
//
//	A <= a <= LAST and (a > A, or a = A and b > B, or a = A and b = B and _id > ID)
//
// The condition A <= a is redundant. It gives the server a lower bound for the index scan,
// however it plans the alternatives.
func behind(fields []docstore.Field, values []any, last any) (bson.D, error) {
	equal, err := equalTo(fields, values[:len(fields)])
	if err != nil || len(equal) == 0 {
		return nil, err
	}
	first := equal[0]
	if len(fields) == 1 {
		return bson.D{{Key: first.Key, Value: within("$gt", first.Value, last)}}, nil
	}
	alternatives := make(bson.A, len(fields))
	for i, field := range equal {
		greater := bson.E{Key: field.Key, Value: bson.D{{Key: "$gt", Value: field.Value}}}
		alternatives[i] = append(equal[:i:i], greater)
	}
	return bson.D{
		{Key: first.Key, Value: within("$gte", first.Value, last)},
		{Key: "$or", Value: alternatives},
	}, nil
}

// within returns the condition that a field is between two bounds, either of which may be
// nil. above is the operator of the lower bound, $gt or $gte.
func within(above string, low, high any) bson.D {
	bounds := bson.D{}
	if low != nil {
		bounds = append(bounds, bson.E{Key: above, Value: low})
	}
	if high != nil {
		bounds = append(bounds, bson.E{Key: "$lte", Value: high})
	}
	return bounds
}

// orderOf returns an ascending sort by the fields.
func orderOf(fields []docstore.Field) bson.D {
	order := bson.D{}
	for _, field := range fields {
		order = append(order, bson.E{Key: field.Name, Value: 1})
	}
	return order
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

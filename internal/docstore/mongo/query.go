package mongo

import (
	"math"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/waybook/waybook/internal/docstore"
)

// scanFields returns the fields by which the server's index sorts. They lack _id when
// the index is unique.
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

// equalTo is the filter for documents that have the values given.
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

// behind is the filter for documents that sort behind the values given and whose
// first field is at most last, unless that is nil:
//
//	A <= a <= LAST and (a > A, or a = A and b > B, or a = A and b = B and _id > ID)
//
// The first condition's A says nothing new; it is the bound by which the server enters
// its index, however it plans the alternatives.
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

// within is the condition on a field to lie between two bounds of which either may be
// nil; above is how the lower one is meant.
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

// orderOf is the sort by some fields.
func orderOf(fields []docstore.Field) bson.D {
	order := bson.D{}
	for _, field := range fields {
		order = append(order, bson.E{Key: field.Name, Value: 1})
	}
	return order
}

// everything is a filter that all documents pass and that the index of a field serves.
func everything(field docstore.Field) bson.D {
	var least any = int64(math.MinInt64)
	if field.Kind == docstore.String {
		least = ""
	}
	return bson.D{{Key: field.Name, Value: bson.D{{Key: "$gte", Value: least}}}}
}

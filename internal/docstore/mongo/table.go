package mongo

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/waybook/waybook/internal/docstore"
)

// table is one collection on the server.
type table struct {
	engine     *Engine
	spec       docstore.Spec
	collection *mongo.Collection
}

// prefix returns a filter for documents whose first index fields have the given values.
func (t *table) prefix(index string, equal []any) (bson.D, error) {
	fields, err := t.spec.FieldsOf(index)
	if err != nil {
		return nil, err
	}
	if len(equal) > len(fields) {
		return nil, fmt.Errorf("got %d values for the %d fields of index %q", len(equal), len(fields), index)
	}
	if len(equal) == 0 {
		return everything(fields[0]), nil
	}
	return equalTo(fields, equal)
}

func (t *table) id() docstore.Field {
	return docstore.Field{Name: "_id", Kind: t.spec.ID}
}

func (t *table) byID(id any) (bson.D, error) {
	return equalTo([]docstore.Field{t.id()}, []any{id})
}

// find returns all documents that match a filter.
func (t *table) find(ctx context.Context, filter bson.D, find *options.FindOptionsBuilder) ([]bson.Raw, error) {
	cursor, err := t.collection.Find(ctx, filter, find)
	if err != nil {
		return nil, err
	}
	var documents []bson.Raw
	for cursor.Next(ctx) {
		documents = append(documents, bytes.Clone(cursor.Current))
	}
	if err := errors.Join(cursor.Err(), cursor.Close(ctx)); err != nil {
		return nil, err
	}
	return documents, nil
}

func (t *table) exists(ctx context.Context, filter bson.D) (bool, error) {
	documents, err := t.find(ctx, filter, options.Find().SetLimit(1).SetProjection(bson.D{{Key: "_id", Value: 1}}))
	return len(documents) > 0, err
}

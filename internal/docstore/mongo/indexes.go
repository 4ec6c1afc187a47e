package mongo

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/waybook/waybook/internal/docstore"
)

// namespaceNotFound is the error code of listIndexes if the collection does not exist.
const namespaceNotFound = 26

// keysOf returns the keys of an index on the server. They end with _id, so that the index
// alone serves scans. A unique index does not include _id, because that would make every
// key unique. Its scans do not need _id: no two documents have equal fields.
func keysOf(index docstore.Index) bson.D {
	keys := bson.D{}
	for _, field := range index.Fields {
		keys = append(keys, bson.E{Key: field.Name, Value: int32(1)})
	}
	if !index.Unique {
		keys = append(keys, bson.E{Key: "_id", Value: int32(1)})
	}
	return keys
}

// reconcile creates the declared indexes that are missing and drops the indexes that
// conflict with them. It keeps all other undeclared indexes: another version of the
// program may use them, or an administrator may have created them.
func (t *table) reconcile(ctx context.Context) error {
	if err := t.checkIDKind(ctx); err != nil {
		return err
	}
	stored, err := t.storedIndexes(ctx)
	if err != nil {
		return fmt.Errorf("list indexes: %w", err)
	}
	var missing []docstore.Index
	for _, index := range t.spec.Indexes {
		if has, found := stored[index.Name]; found && has.matches(index) {
			continue
		}
		if err := t.checkFit(ctx, index); err != nil {
			return fmt.Errorf("build index %q: %w", index.Name, err)
		}
		missing = append(missing, index)
	}
	for _, has := range stored {
		if !slices.ContainsFunc(missing, has.isInTheWayOf) {
			continue
		}
		if err := t.collection.Indexes().DropOne(ctx, has.Name); err != nil {
			return fmt.Errorf("drop index %q: %w", has.Name, err)
		}
	}
	for _, index := range missing {
		model := mongo.IndexModel{
			Keys:    keysOf(index),
			Options: options.Index().SetName(index.Name).SetUnique(index.Unique),
		}
		if _, err := t.collection.Indexes().CreateOne(ctx, model); err != nil {
			return fmt.Errorf("build index %q: %w", index.Name, err)
		}
	}
	return nil
}

// storedIndex is an index as the server lists it.
type storedIndex struct {
	Name   string `bson:"name"`
	Key    bson.D `bson:"key"`
	Unique bool   `bson:"unique"`
}

func (s storedIndex) matches(index docstore.Index) bool {
	return s.Unique == index.Unique && s.hasKeysOf(index)
}

// isInTheWayOf reports whether this index prevents the creation of another one. A server
// allows one index per name and one per list of keys.
func (s storedIndex) isInTheWayOf(index docstore.Index) bool {
	return s.Name == index.Name || s.hasKeysOf(index)
}

func (s storedIndex) hasKeysOf(index docstore.Index) bool {
	want := keysOf(index)
	if len(s.Key) != len(want) {
		return false
	}
	for i, key := range s.Key {
		// Servers return the direction in different number types.
		if key.Key != want[i].Key || fmt.Sprint(key.Value) != "1" {
			return false
		}
	}
	return true
}

func (t *table) storedIndexes(ctx context.Context) (map[string]storedIndex, error) {
	cursor, err := t.collection.Indexes().List(ctx)
	var command mongo.CommandError
	if errors.As(err, &command) && command.Code == namespaceNotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var list []storedIndex
	if err := cursor.All(ctx, &list); err != nil {
		return nil, err
	}
	stored := make(map[string]storedIndex, len(list))
	for _, index := range list {
		stored[index.Name] = index
	}
	return stored, nil
}

// checkIDKind checks one document. All documents of a collection have the same kind of
// _id.
func (t *table) checkIDKind(ctx context.Context) error {
	documents, _, err := t.find(ctx, query{filter: bson.D{}, order: byIDOrder(), limit: 1})
	if err != nil || len(documents) == 0 {
		return err
	}
	id := docstore.Field{Name: docstore.IDIndex, Kind: t.spec.ID}
	if _, err := id.Value(documents[0]); err != nil {
		return fmt.Errorf("%w: collection %q exists with another kind of _id", errMisfit, t.spec.Name)
	}
	return nil
}

// checkFit returns an error if a document lacks a field of the index or has it with
// another type. The server would accept such a document, but scans would not find it.
func (t *table) checkFit(ctx context.Context, index docstore.Index) error {
	for _, field := range index.Fields {
		misfit := bson.D{{Key: field.Name, Value: bson.D{{Key: "$not", Value: bson.D{{Key: "$type", Value: typeOf(field.Kind)}}}}}}
		switch found, err := t.exists(ctx, misfit); {
		case err != nil:
			return err
		case found:
			return fmt.Errorf("%w: a document has no %s in field %q", errMisfit, typeOf(field.Kind), field.Name)
		}
	}
	return nil
}

// typeOf returns the type alias of a kind in the query language.
func typeOf(kind docstore.Kind) string {
	if kind == docstore.Int64 {
		return "long"
	}
	return "string"
}

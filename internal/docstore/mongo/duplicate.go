package mongo

import (
	"context"
	"errors"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/waybook/waybook/internal/docstore"
)

// duplicateKey is the error code of a write that violates a unique index.
const duplicateKey = 11000

// duplicateIn returns the index in which a write was a duplicate, from the server's
// message. The message of MongoDB is
//
//	E11000 duplicate key error collection: db.things index: NAME dup key: { a: "…" }
//
// Only the text before the first " dup key:" is free of user data. A mongos puts the same
// text into a longer message. known is false if the message names no index, as when
// FerretDB v1 refuses an insert.
func (t *table) duplicateIn(message string) (index string, known bool) {
	_, rest, found := strings.Cut(message, " index: ")
	if !found {
		return "", false
	}
	name, _, _ := strings.Cut(rest, " ")
	if name == "_id_" {
		return docstore.IDIndex, true
	}
	for _, index := range t.spec.Indexes {
		if index.Unique && index.Name == name {
			return name, true
		}
	}
	return "", false
}

// sqliteDuplicate returns the index in which a replacement was a duplicate, from an error
// of FerretDB v1. That error has no specific code, only the text
// "… UNIQUE constraint failed: index 'things_1a2b3c4d_NAME' (2067)".
func (t *table) sqliteDuplicate(err error) (index string, found bool) {
	var command mongo.CommandError
	if !errors.As(err, &command) || command.Code != 1 {
		return "", false
	}
	_, rest, found := strings.Cut(command.Message, "UNIQUE constraint failed: index '")
	if !found {
		return "", false
	}
	table, _, _ := strings.Cut(rest, "'")
	for _, declared := range t.spec.Indexes {
		// Take the longest match, because one name may end with another.
		if declared.Unique && strings.HasSuffix(table, "_"+declared.Name) && len(declared.Name) > len(index) {
			index = declared.Name
		}
	}
	return index, index != ""
}

// findDuplicate searches for the document that caused a refusal, for servers that do not
// name the index. It ignores behind, the later documents of the same call. If the document
// no longer exists, it returns any unique index, because the write was refused anyway.
func (t *table) findDuplicate(ctx context.Context, document bson.Raw, behind []bson.Raw) (string, error) {
	id := document.Lookup("_id")
	others := bson.A{}
	for _, stored := range behind {
		others = append(others, stored.Lookup("_id"))
	}
	notBehind := bson.E{Key: "_id", Value: bson.D{{Key: "$nin", Value: others}}}
	switch found, err := t.exists(ctx, bson.D{{Key: "$and", Value: bson.A{bson.D{{Key: "_id", Value: id}}, bson.D{notBehind}}}}); {
	case err != nil:
		return "", err
	case found:
		return docstore.IDIndex, nil
	}
	last := docstore.IDIndex
	for _, index := range t.spec.Indexes {
		if !index.Unique {
			continue
		}
		last = index.Name
		filter := bson.D{notBehind}
		for _, field := range index.Fields {
			filter = append(filter, bson.E{Key: field.Name, Value: document.Lookup(field.Name)})
		}
		if found, err := t.exists(ctx, filter); err != nil || found {
			return index.Name, err
		}
	}
	return last, nil
}

package mongo

import (
	"context"
	"errors"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/waybook/waybook/internal/docstore"
)

// duplicateKey is the code of a write that a unique index refuses.
const duplicateKey = 11000

// duplicateIn returns the index in which a write was a duplicate, given the server's
// message and raw answer. MongoDB says
//
//	E11000 duplicate key error collection: db.things index: NAME dup key: { a: "…" }
//
// where only what stands before the first " dup key:" is not a user's text, and on a
// mongos the same within more words. FerretDB v1 names no index when it refuses an
// insert. known is false then.
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

// sqliteDuplicate is how FerretDB v1 fails a replacement, without a code of its own:
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
		// The longest, since a name may end like another.
		if declared.Unique && strings.HasSuffix(table, "_"+declared.Name) && len(declared.Name) > len(index) {
			index = declared.Name
		}
	}
	return index, index != ""
}

// findDuplicate looks for the document that a refused one collides with, for servers
// that do not name the index. Those stored behind it by the same call are not it. It
// may be gone by now; then any unique index will do, since the write was refused.
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

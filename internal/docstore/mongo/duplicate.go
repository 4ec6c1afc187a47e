package mongo

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/waybook/waybook/internal/docstore"
)

// duplicateKey is the error code of a write that violates a unique index.
const duplicateKey = 11000

// duplicate returns the port's error for a document that the server refused as a duplicate:
// a *docstore.DuplicateError, or a plain error if the index is not declared. answer is what
// the server said, and may be nil: WriteError.Raw, or CommandError.Raw of a findAndModify.
// message is its text.
//
// innocent are stored documents that cannot be the cause: the later documents of the same
// insert, or the refused document itself if it was to be changed. err is the failure of a
// search for the cause.
func (t *table) duplicate(ctx context.Context, answer bson.Raw, message string, document bson.Raw, innocent []bson.Raw) (refusal, err error) {
	index, known := t.duplicateIn(answer, message)
	if !known {
		if index, err = t.findDuplicate(ctx, document, innocent); err != nil {
			return nil, err
		}
	}
	if index == "" {
		return fmt.Errorf("%w: collection %q has a unique index that is not declared: %s", errRefused, t.spec.Name, message), nil
	}
	return &docstore.DuplicateError{Index: index}, nil
}

// duplicateIn returns the index in which a write was a duplicate, by its keys or else by its
// name. The index is empty if the server named one that is not declared. known is false if
// the server named none.
//
// Since version 4.4, MongoDB's answer has the keys as keyPattern. Its message is
//
//	E11000 duplicate key error collection: db.things index: NAME dup key: { a: "…" }
//
// Only the text before the first " dup key:" is free of user data. A mongos puts the same
// text into a longer message.
func (t *table) duplicateIn(answer bson.Raw, message string) (index string, known bool) {
	var server struct {
		Keys bson.D `bson:"keyPattern"`
	}
	if answer != nil && bson.Unmarshal(answer, &server) != nil {
		server.Keys = nil
	}
	if isByID(server.Keys) {
		return docstore.IDIndex, true
	}
	for _, declared := range t.spec.Indexes {
		if declared.Unique && sameKeys(server.Keys, keysOf(declared)) {
			return declared.Name, true
		}
	}
	_, rest, named := strings.Cut(message, " index: ")
	name, _, _ := strings.Cut(rest, " ")
	if name == primaryIndex {
		return docstore.IDIndex, true
	}
	for _, declared := range t.spec.Indexes {
		// It may have other keys, if it is left from an earlier declaration.
		if declared.Unique && isNameOf(declared, name) {
			return declared.Name, true
		}
	}
	return "", named || len(server.Keys) > 0
}

// isByID reports whether the keys are those of the index of _id.
func isByID(keys bson.D) bool { return len(keys) == 1 && keys[0].Key == docstore.IDIndex }

// findDuplicate searches for the document that caused a refusal, for servers that do not
// name the index. If there is none any more, it returns any unique index, because the write
// was refused anyway, or none if the collection declares none.
func (t *table) findDuplicate(ctx context.Context, document bson.Raw, innocent []bson.Raw) (index string, err error) {
	id, others := document.Lookup("_id"), bson.A{}
	for _, stored := range innocent {
		others = append(others, stored.Lookup("_id"))
	}
	if !slices.ContainsFunc(innocent, func(stored bson.Raw) bool { return stored.Lookup("_id").Equal(id) }) {
		if found, err := t.exists(ctx, bson.D{{Key: "_id", Value: id}}); err != nil || found {
			return docstore.IDIndex, err
		}
		index = docstore.IDIndex
	}
	for _, declared := range t.spec.Indexes {
		if !declared.Unique {
			continue
		}
		index = declared.Name
		filter := bson.D{{Key: "_id", Value: bson.D{{Key: "$nin", Value: others}}}}
		for _, field := range declared.Fields {
			filter = append(filter, bson.E{Key: field.Name, Value: document.Lookup(field.Name)})
		}
		if found, err := t.exists(ctx, filter); err != nil || found {
			return index, err
		}
	}
	return index, nil
}

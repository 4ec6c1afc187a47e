package mongo

import (
	"fmt"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/waybook/waybook/internal/docstore"
)

// duplicateKey is the error code of a write that violates a unique index.
const duplicateKey = 11000

// duplicate returns the port's error for a document that the server refused as a duplicate:
// a *docstore.DuplicateError, or a plain error if the index is not declared.
func (t *table) duplicate(failure mongo.WriteError) error {
	index := t.duplicateIn(failure.Raw, failure.Message)
	if index == "" {
		return fmt.Errorf("%w: collection %q has a unique index that is not declared: %s", errRefused, t.spec.Name, failure.Message)
	}
	return &docstore.DuplicateError{Index: index}
}

// duplicateIn returns the index in which a write was a duplicate, by its keys or else by its
// name. It is empty if the server named one that is not declared. answer is the write error
// as the server sent it, or nil; message is its text.
//
// Since version 4.4, MongoDB's answer has the keys as keyPattern. Its message is
//
//	E11000 duplicate key error collection: db.things index: NAME dup key: { a: "…" }
//
// Only the text before the first " dup key:" is free of user data. A mongos puts the same
// text into a longer message.
func (t *table) duplicateIn(answer bson.Raw, message string) (index string) {
	var server struct {
		Keys bson.D `bson:"keyPattern"`
	}
	if answer != nil && bson.Unmarshal(answer, &server) != nil {
		server.Keys = nil
	}
	if isByID(server.Keys) {
		return docstore.IDIndex
	}
	for _, declared := range indexesOf(t.spec) {
		if declared.Unique && sameKeys(server.Keys, keysOf(declared)) {
			return declared.Name
		}
	}
	_, rest, _ := strings.Cut(message, " index: ")
	name, _, _ := strings.Cut(rest, " ")
	if name == primaryIndex {
		return docstore.IDIndex
	}
	for _, declared := range indexesOf(t.spec) {
		// It may have other keys, if it is left from an earlier declaration.
		if declared.Unique && isNameOf(declared, name) {
			return declared.Name
		}
	}
	return ""
}

// isByID reports whether the keys are those of the index of _id.
func isByID(keys bson.D) bool { return len(keys) == 1 && keys[0].Key == docstore.IDIndex }

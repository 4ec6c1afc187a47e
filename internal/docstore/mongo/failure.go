package mongo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/topology"

	"github.com/waybook/waybook/internal/docstore"
)

// errMisfit reports stored documents that Open finds incompatible with the declaration.
var errMisfit = errors.New("stored documents do not fit the declaration")

// errUnfit reports a server that lacks what the engine's promises need.
var errUnfit = errors.New("the server does not fit")

// errRefused reports that the server has rejected a write, for a reason that stays.
var errRefused = errors.New("refused by the server")

// errNoServer reports that no server was available within the server selection timeout.
var errNoServer = fmt.Errorf("%w: no server can take it", docstore.ErrUnavailable)

// portError converts an error of the driver to an error of the port. It keeps the
// driver's text for the log but not the driver's types.
//
// Only a refusal by the server proves that nothing has happened. Any other failure may
// have occurred after the server received the write.
func portError(ctx context.Context, err error) error {
	var duplicate *docstore.DuplicateError
	var noServer topology.ServerSelectionError
	switch {
	case err == nil, errors.As(err, &duplicate),
		errors.Is(err, docstore.ErrNotFound), errors.Is(err, docstore.ErrConflict),
		errors.Is(err, errRefused),
		(errors.Is(err, errMisfit) || errors.Is(err, errUnfit)) && ctx.Err() == nil:
		return err
	case ctx.Err() != nil:
		return fmt.Errorf("%w: %v", ctx.Err(), err)
	case errors.As(err, &noServer):
		// Its cause is also a deadline, but that of the server selection, not of the caller.
		return fmt.Errorf("%w: %v", errNoServer, err)
	case hasDeadline(ctx) && errors.Is(err, context.DeadlineExceeded):
		// The driver fails a little early if the remaining time is too short for a round trip.
		return fmt.Errorf("%w: %v", context.DeadlineExceeded, err)
	case isRefusal(err):
		return fmt.Errorf("%w: %v", errRefused, err)
	}
	return fmt.Errorf("%w: %v", docstore.ErrUnavailable, err)
}

func hasDeadline(ctx context.Context) bool {
	_, has := ctx.Deadline()
	return has
}

// isRefusal reports whether the server has rejected the call for a reason that does not
// pass by itself.
func isRefusal(err error) bool {
	var server mongo.ServerError
	if !errors.As(err, &server) || mongo.IsNetworkError(err) || mongo.IsTimeout(err) {
		return false
	}
	for _, label := range []string{"RetryableWriteError", "RetryableError", "SystemOverloadedError",
		"TransientTransactionError"} {
		if server.HasErrorLabel(label) {
			return false
		}
	}
	// A write that too few members acknowledged has still happened on the primary.
	var one mongo.WriteException
	var bulk mongo.BulkWriteException
	if errors.As(err, &one) && one.WriteConcernError != nil || errors.As(err, &bulk) && bulk.WriteConcernError != nil {
		return false
	}
	return !slices.ContainsFunc(server.ErrorCodes(), isPassing)
}

// duplicateKey is the error code of a write that violates a unique index.
const duplicateKey = 11000

// duplicate returns the port's error for a document that the server refused as a duplicate:
// a *docstore.DuplicateError, or a plain error if the index is not declared.
func (t *table) duplicate(failure mongo.WriteError) error {
	index := t.duplicateIn(failure.Raw, failure.Message)
	if index == "" {
		return fmt.Errorf("%w: collection %q has a unique index that is not declared: %s", errRefused, t.spec.Name,
			failure.Message)
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
// text into a longer message. DocumentDB, the extension of PostgreSQL, has no keys and says
//
//	Duplicate key violation on the requested collection: Index 'NAME'
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
	_, rest, isMongoDB := strings.Cut(message, " index: ")
	name, _, _ := strings.Cut(rest, " ")
	if !isMongoDB {
		_, rest, _ = strings.Cut(message, ": Index '")
		name, _, _ = strings.Cut(rest, "'")
	}
	if name == primaryIndex {
		return docstore.IDIndex
	}
	for _, declared := range indexesOf(t.spec) {
		if declared.Unique && declared.Name == name {
			return declared.Name
		}
	}
	return ""
}

// isByID reports whether the keys are those of the index of _id.
func isByID(keys bson.D) bool { return len(keys) == 1 && keys[0].Key == docstore.IDIndex }

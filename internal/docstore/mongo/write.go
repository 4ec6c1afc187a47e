package mongo

import (
	"context"
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/waybook/waybook/internal/docstore"
)

// Insert sends all documents in one unordered command, so that the server stores or
// refuses each separately.
func (t *table) Insert(ctx context.Context, documents []bson.Raw) ([]error, error) {
	errs := make([]error, len(documents))
	var fit []bson.Raw
	var at []int
	for i, document := range documents {
		if errs[i] = t.spec.CheckDocument(document); errs[i] == nil {
			fit, at = append(fit, document), append(at, i)
		}
	}
	err := t.engine.call(ctx, func() error {
		if len(fit) == 0 {
			return nil
		}
		_, err := t.collection.InsertMany(ctx, fit, options.InsertMany().SetOrdered(false))
		var refused mongo.BulkWriteException
		if !errors.As(err, &refused) || refused.WriteConcernError != nil {
			return err
		}
		return t.refusals(ctx, refused.WriteErrors, fit, func(i int, refusal error) { errs[at[i]] = refusal })
	})
	if err != nil {
		return nil, err
	}
	return errs, nil
}

// refusals calls say with the reason for each document that the server refused.
func (t *table) refusals(
	ctx context.Context, failures []mongo.BulkWriteError, documents []bson.Raw, say func(i int, refusal error),
) error {
	failed := make(map[int]bool, len(failures))
	for _, failure := range failures {
		failed[failure.Index] = true
	}
	for _, failure := range failures {
		behind := func() (stored []bson.Raw) {
			for i := failure.Index + 1; i < len(documents); i++ {
				if !failed[i] {
					stored = append(stored, documents[i])
				}
			}
			return stored
		}
		refusal, err := t.refusal(ctx, failure.WriteError, documents[failure.Index], behind)
		if err != nil {
			return err
		}
		say(failure.Index, refusal)
	}
	return nil
}

// refusal returns the port's error for a document that the server refused. innocent
// returns stored documents that cannot be the cause.
func (t *table) refusal(
	ctx context.Context, failure mongo.WriteError, document bson.Raw, innocent func() []bson.Raw,
) (refusal, err error) {
	if failure.Code != duplicateKey {
		if isPassing(failure.Code) {
			return nil, fmt.Errorf("%w: %v", docstore.ErrUnavailable, failure)
		}
		return fmt.Errorf("%w: %v", errRefused, failure), nil
	}
	return t.duplicate(ctx, failure.Raw, failure.Message, document, innocent())
}

// Replace replaces the document if its revision is still the given one. If no document
// matches, it checks whether the id exists, to tell ErrConflict from ErrNotFound.
func (t *table) Replace(ctx context.Context, revision int64, document bson.Raw) error {
	if err := t.spec.CheckDocument(document); err != nil {
		return err
	}
	filter := bson.D{{Key: "_id", Value: document.Lookup("_id")}, {Key: docstore.RevisionField, Value: revision}}
	return t.engine.call(ctx, func() error {
		result, err := t.collection.ReplaceOne(ctx, filter, document)
		if err != nil {
			return t.replaceError(ctx, err, document)
		}
		if result.MatchedCount > 0 {
			return nil
		}
		switch found, err := t.exists(ctx, filter[:1]); {
		case err != nil:
			return err
		case found:
			return docstore.ErrConflict
		}
		return docstore.ErrNotFound
	})
}

func (t *table) replaceError(ctx context.Context, err error, document bson.Raw) error {
	if index, found := t.sqliteDuplicate(err); found {
		return &docstore.DuplicateError{Index: index}
	}
	var refused mongo.WriteException
	if !errors.As(err, &refused) || refused.WriteConcernError != nil || len(refused.WriteErrors) != 1 {
		return err
	}
	refusal, err := t.refusal(ctx, refused.WriteErrors[0], document, func() []bson.Raw { return []bson.Raw{document} })
	if err != nil {
		return err
	}
	return refusal
}

// Delete removes one document.
func (t *table) Delete(ctx context.Context, id any) error {
	filter, err := t.byID(id)
	if err != nil {
		return err
	}
	return t.engine.call(ctx, func() error {
		result, err := t.collection.DeleteOne(ctx, filter)
		if err == nil && result.DeletedCount == 0 {
			return docstore.ErrNotFound
		}
		return err
	})
}

// DeleteAll deletes with one command.
func (t *table) DeleteAll(ctx context.Context, index string, equal []any) (int64, error) {
	filter, err := t.prefix(index, equal)
	if err != nil {
		return 0, err
	}
	var n int64
	err = t.engine.call(ctx, func() error {
		result, err := t.collection.DeleteMany(ctx, filter)
		if err == nil {
			n = result.DeletedCount
		}
		return err
	})
	return n, err
}

package mongo

import (
	"context"
	"fmt"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/waybook/waybook/internal/docstore"
)

// Preparation says what Prepare does besides creating indexes.
type Preparation struct {
	// DropReplaced drops the indexes that other declarations of an index have left. It ends
	// their uniqueness and slows down the processes of the versions that declare them.
	DropReplaced bool
}

// Prepared reports the changes that Prepare has made.
type Prepared struct {
	// Created names the declared indexes that it created, Dropped the indexes on the server
	// that it dropped.
	Created, Dropped []string
}

// Prepare creates the declared indexes, those too that replace a unique index of another
// declaration. It may be repeated, and runs while processes use the collection.
func (e *Engine) Prepare(ctx context.Context, spec docstore.Spec, preparation Preparation) (prepared Prepared, err error) {
	if err := spec.Validate(); err != nil {
		return prepared, err
	}
	t := newTable(e, spec)
	err = e.call(ctx, func() (err error) {
		if err := e.claim(ctx); err != nil {
			return err
		}
		if prepared.Created, err = t.reconcile(ctx, true); err != nil {
			return err
		}
		if _, err := t.backfill(ctx); err != nil {
			return err
		}
		if preparation.DropReplaced {
			prepared.Dropped, err = t.dropReplaced(ctx)
		}
		return err
	})
	return prepared, err
}

// dropReplaced drops the indexes that have the name of a declared index and that no
// declared index uses.
func (t *table) dropReplaced(ctx context.Context) (dropped []string, err error) {
	stored, err := t.storedIndexes(ctx)
	if err != nil {
		return nil, err
	}
	present, missing := t.match(stored)
	if len(missing) > 0 {
		return nil, fmt.Errorf("%w: index %q is gone again", docstore.ErrUnavailable, missing[0].Name)
	}
	for name := range stored {
		isUsed := slices.ContainsFunc(present, func(index named) bool { return index.name == name })
		isOurs := slices.ContainsFunc(indexesOf(t.spec), func(index docstore.Index) bool { return isNameOf(index, name) })
		if isUsed || !isOurs {
			continue
		}
		if err := t.collection.Indexes().DropOne(ctx, name); err != nil && !hasCode(err, indexNotFound) {
			return dropped, fmt.Errorf("drop index %q of collection %q: %w", name, t.spec.Name, err)
		}
		dropped = append(dropped, name)
	}
	slices.Sort(dropped)
	return dropped, nil
}

// namespaceExists is the error code of create if the collection exists.
const namespaceExists = 48

// make creates the collection, if it does not exist.
func (t *table) make(ctx context.Context) error {
	if err := t.engine.database.CreateCollection(ctx, t.spec.Name); err != nil && !hasCode(err, namespaceExists) {
		return fmt.Errorf("create collection %q: %w", t.spec.Name, err)
	}
	return nil
}

// backfillBatch is how many documents one command of a backfill changes.
const backfillBatch = 1000

// Backfill stores the defaults of Spec.Defaults in the documents of all open collections
// that lack them, and returns how many documents it changed. An older version of the program
// may write such documents at any time. Until Backfill has changed them, reads by the index
// do not find them. Several processes may run it at once.
func (e *Engine) Backfill(ctx context.Context) (int64, error) {
	tables, err := e.opened(ctx)
	if err != nil {
		return 0, err
	}
	total := int64(0)
	for _, t := range tables {
		n, err := t.backfill(ctx)
		total += n
		if err != nil {
			return total, fmt.Errorf("backfill collection %s: %w", t.spec.Name, err)
		}
	}
	return total, nil
}

// opened returns the open collections.
func (e *Engine) opened(ctx context.Context) (tables []*table, err error) {
	select {
	case e.opening <- struct{}{}:
		defer func() { <-e.opening }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	for _, t := range e.tables {
		tables = append(tables, t)
	}
	return tables, nil
}

func (t *table) backfill(ctx context.Context) (total int64, err error) {
	for field, value := range t.spec.Defaults {
		n, err := t.backfillField(ctx, field, value)
		total += n
		if err != nil {
			return total, fmt.Errorf("field %q: %w", field, err)
		}
	}
	return total, nil
}

// backfillField changes the documents in batches. The field begins an index, so each batch is
// found without reading others. Each command names the documents that it changes, and finds them by
// _id rather than among all that lack the field. It sets a constant where the field is missing, so a
// repeated command changes nothing twice. Documents that it misses, in a range that moves between
// shards, are left to the next batch or the next sweep.
func (t *table) backfillField(ctx context.Context, field string, value docstore.Value) (total int64, err error) {
	update := bson.E{Key: "$set", Value: bson.D{{Key: field, Value: value.BSON()}}}
	lacks := t.alive(bson.D{{Key: field, Value: bson.D{{Key: "$exists", Value: false}}}})
	err = t.engine.call(ctx, func() error {
		for {
			found, _, err := t.find(ctx, query{filter: lacks, fields: justID(), limit: backfillBatch, comment: everywhere})
			if err != nil || len(found) == 0 {
				return err
			}
			ids := make([]docstore.Value, len(found))
			for i, document := range found {
				if ids[i], err = t.idOf(document); err != nil {
					return err
				}
			}
			filter := append(t.placed(ids...), lacks...)
			result, err := t.collection.UpdateMany(ctx, filter, bson.D{update}, options.UpdateMany().SetHint(byIDOrder()))
			if err != nil {
				return err
			}
			total += result.ModifiedCount
			if len(found) < backfillBatch {
				return nil
			}
		}
	})
	return total, err
}

package mongo

import (
	"context"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/waybook/waybook/internal/docstore"
)

// A deletion is one update: the document loses its fields and becomes its own tombstone. The
// server stamps it, so the index of changes has it in its order.

// tombstonesIndex is the index of docstore.DueField, which has no other documents.
const tombstonesIndex = "tombstones"

// burial returns the update that makes a document its tombstone.
func burial(deletion docstore.Deletion) bson.D {
	set := bson.D{{Key: docstore.GoneField, Value: docstore.Going}}
	for _, each := range deletion.Set {
		set = append(set, bson.E{Key: each.Field, Value: each.Value.BSON()})
	}
	update := bson.D{
		{Key: "$inc", Value: bson.D{{Key: docstore.RevisionField, Value: int64(1)}}},
		{Key: "$set", Value: set},
		stamping(docstore.ChangedField, docstore.DueField),
	}
	if len(deletion.Unset) > 0 {
		update = append(update, unset(deletion.Unset))
	}
	return update
}

func unset(fields []string) bson.E {
	lost := make(bson.D, len(fields))
	for i, field := range fields {
		lost[i] = bson.E{Key: field, Value: ""}
	}
	return bson.E{Key: "$unset", Value: lost}
}

// Tombstones reads at a time that a majority has acknowledged, so no failover undoes what it
// returns.
func (t *table) Tombstones(ctx context.Context, after docstore.Moment,
	limit int) (due []docstore.Tombstone, now docstore.Moment, err error) {
	if err := t.spec.CheckTombstones(); err != nil {
		return nil, 0, err
	}
	err = t.engine.call(ctx, func() error {
		if now, _, err = t.tick(ctx); err != nil {
			return err
		}
		span := bson.D{{Key: "$gt", Value: timestampOf(after)}, {Key: "$lte", Value: timestampOf(now)}}
		found, _, err := t.find(ctx, query{
			filter: bson.D{{Key: docstore.DueField, Value: span}}, order: bson.D{{Key: docstore.DueField, Value: 1}},
			limit:  limit,
			fields: projection([]string{docstore.ChangedField, docstore.DueField, docstore.GoneField}, nil),
			at:     now, comment: t.comment(), isWhole: true,
		})
		if err != nil {
			return err
		}
		for _, each := range found {
			id, err := t.idOf(each)
			if err != nil {
				return err
			}
			due = append(due, docstore.Tombstone{
				ID: id, At: momentIn(each, docstore.ChangedField), Due: momentIn(each, docstore.DueField),
				IsClear: each.Lookup(docstore.GoneField).AsInt64() == docstore.Gone,
			})
		}
		return nil
	})
	return due, now, err
}

// ofDeletion returns the filter of a tombstone, if it is still that of the same deletion.
func (t *table) ofDeletion(tombstone docstore.Tombstone) (bson.D, error) {
	if err := t.spec.CheckTombstones(); err != nil {
		return nil, err
	}
	byID, err := t.byID(tombstone.ID)
	return append(byID, bson.E{Key: docstore.ChangedField, Value: timestampOf(tombstone.At)}, isTombstone()), err
}

func isTombstone() bson.E {
	return bson.E{Key: docstore.GoneField, Value: bson.D{{Key: "$exists", Value: true}}}
}

// Postpone makes a tombstone clear. It also removes the fields that the deletion did not know,
// such as those of a newer version.
func (t *table) Postpone(ctx context.Context, tombstone docstore.Tombstone, until docstore.Moment) error {
	filter, err := t.ofDeletion(tombstone)
	if err != nil {
		return err
	}
	clear := bson.D{{Key: "$set", Value: bson.D{
		{Key: docstore.GoneField, Value: docstore.Gone}, {Key: docstore.DueField, Value: timestampOf(until)},
	}}}
	return t.write(ctx, func() error {
		found, _, err := t.find(ctx, query{filter: filter, limit: 1, isWhole: true})
		if err != nil || len(found) == 0 {
			return orNotFound(err)
		}
		foreign, err := t.foreignFields(found[0])
		if err != nil {
			return err
		}
		if len(foreign) > 0 {
			clear = append(clear, unset(foreign))
		}
		result, err := t.collection.UpdateOne(ctx, filter, clear)
		if err == nil && result.MatchedCount == 0 {
			return docstore.ErrNotFound
		}
		return err
	})
}

func orNotFound(err error) error {
	if err == nil {
		return docstore.ErrNotFound
	}
	return err
}

// foreignFields returns the fields of a tombstone that none has.
func (t *table) foreignFields(tombstone bson.Raw) (foreign []string, err error) {
	elements, err := tombstone.Elements()
	if err != nil {
		return nil, err
	}
	own := append([]string{docstore.RevisionField, docstore.GoneField}, t.hidden...)
	for _, element := range elements {
		if !t.spec.Keeps(element.Key()) && !slices.Contains(own, element.Key()) {
			foreign = append(foreign, element.Key())
		}
	}
	return foreign, nil
}

// Forget notes that deletions may be missing before it removes a tombstone, so that no reader
// takes the others for all of them.
func (t *table) Forget(ctx context.Context, tombstone docstore.Tombstone) error {
	filter, err := t.ofDeletion(tombstone)
	if err != nil {
		return err
	}
	return t.write(ctx, func() error {
		if t.spec.Feed != nil {
			if err := t.noteForgotten(ctx, timestampOf(tombstone.At)); err != nil {
				return err
			}
		}
		result, err := t.collection.DeleteOne(ctx, filter)
		if err == nil && result.DeletedCount == 0 {
			return docstore.ErrNotFound
		}
		return err
	})
}

// noteForgotten notes the moment of a tombstone that is removed.
func (t *table) noteForgotten(ctx context.Context, at bson.Timestamp) error {
	later := bson.D{{Key: docstore.IDIndex, Value: t.spec.Name},
		{Key: "forgotten", Value: bson.D{{Key: "$lt", Value: at}}}}
	set := bson.D{{Key: "$set", Value: bson.D{{Key: "forgotten", Value: at}}}}
	_, err := t.engine.database.Collection(feedsCollection).UpdateOne(ctx, later, set)
	return err
}

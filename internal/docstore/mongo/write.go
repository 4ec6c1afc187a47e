package mongo

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/waybook/waybook/internal/docstore"
)

// Insert sends all documents in one unordered command, so that the server stores or
// refuses each separately.
func (t *table) Insert(ctx context.Context, documents []bson.Raw) ([]error, error) {
	errs := make([]error, len(documents))
	var fit []mongo.WriteModel
	var at []int
	for i, document := range documents {
		if errs[i] = t.spec.CheckDocument(document); errs[i] != nil {
			continue
		}
		model, err := t.insertion(document)
		if errs[i] = err; err == nil {
			fit, at = append(fit, model), append(at, i)
		}
	}
	err := t.engine.call(ctx, func() error {
		if len(fit) == 0 {
			return nil
		}
		result, err := t.collection.BulkWrite(ctx, fit, options.BulkWrite().SetOrdered(false))
		var refused mongo.BulkWriteException
		if err != nil && (!errors.As(err, &refused) || refused.WriteConcernError != nil) {
			return err
		}
		// A server that gets a command again may leave out the error of a document that it has
		// refused.
		if known := int(result.InsertedCount+result.UpsertedCount) + len(refused.WriteErrors); known != len(fit) {
			return fmt.Errorf("%w: the server reports on %d of %d documents", docstore.ErrUnavailable, known, len(fit))
		}
		for _, failure := range refused.WriteErrors {
			if errs[at[failure.Index]], err = t.refusal(failure.WriteError); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return errs, nil
}

// refusal returns the port's error for a document that the server refused. err is a failure
// that leaves the outcome open or passes.
func (t *table) refusal(failure mongo.WriteError) (refusal, err error) {
	switch {
	case failure.Code == duplicateKey:
		return t.duplicate(failure), nil
	case isPassing(failure.Code):
		return nil, fmt.Errorf("%w: %v", docstore.ErrUnavailable, failure)
	}
	return fmt.Errorf("%w: %v", errRefused, failure), nil
}

// Update changes the document, and reads what it returns by the same command.
func (t *table) Update(ctx context.Context, change docstore.Change) (before bson.Raw, err error) {
	filter, update, err := t.updateOf(change)
	if err != nil {
		return nil, err
	}
	err = t.changeOne(ctx, t.placed(change.ID), change.Revision != 0 || len(change.If)+len(change.IfNew) > 0,
		func() (isDone bool, err error) {
			if before, isDone, err = t.updateOne(ctx, filter, update, change); err != nil {
				err = t.updateError(err)
			}
			return isDone, err
		})
	return before, err
}

// updateOne changes a document, and returns what the change asks for of the document before.
func (t *table) updateOne(ctx context.Context, filter, update bson.D,
	change docstore.Change) (before bson.Raw, isDone bool, err error) {
	if !change.IsWhole && len(change.Fields) == 0 {
		result, err := t.collection.UpdateOne(ctx, filter, update)
		return nil, err == nil && result.MatchedCount > 0, err
	}
	reading := options.FindOneAndUpdate().SetReturnDocument(options.Before)
	if !change.IsWhole {
		reading.SetProjection(projection(change.Fields, nil))
	}
	read, err := t.collection.FindOneAndUpdate(ctx, filter, update, reading).Raw()
	if errors.Is(err, mongo.ErrNoDocuments) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	return t.shown(read), true, nil
}

// UpdateMany sends all changes in one unordered command.
func (t *table) UpdateMany(ctx context.Context, changes []docstore.Change) (made int64, err error) {
	models := make([]mongo.WriteModel, len(changes))
	for i, change := range changes {
		filter, update, err := t.updateOf(change)
		if err != nil {
			return 0, err
		}
		models[i] = mongo.NewUpdateOneModel().SetFilter(filter).SetUpdate(update)
	}
	if len(models) == 0 {
		return 0, t.engine.call(ctx, func() error { return nil })
	}
	err = t.write(ctx, func() error {
		result, err := t.collection.BulkWrite(ctx, models, options.BulkWrite().SetOrdered(false))
		if result != nil {
			made = result.MatchedCount
		}
		return err
	})
	return made, err
}

// changeTries bounds how often a change without conditions is tried that misses a document which
// exists.
const changeTries = 10

// changeOne makes a change of one document. If it matches none, changeOne checks whether the id
// exists, to tell ErrConflict from ErrNotFound. A change without conditions matches any document.
// MongoDB makes it again if another client has changed the document meanwhile; DocumentDB says
// that nothing matched.
func (t *table) changeOne(ctx context.Context, byID bson.D, hasConditions bool,
	change func() (isDone bool, err error)) error {
	return t.write(ctx, func() error {
		for range changeTries {
			if isDone, err := change(); err != nil || isDone {
				return err
			}
			switch found, err := t.exists(ctx, byID); {
			case err != nil:
				return err
			case !found:
				return docstore.ErrNotFound
			case hasConditions:
				return docstore.ErrConflict
			}
		}
		return fmt.Errorf("%w: others change the document all the time", docstore.ErrUnavailable)
	})
}

// meeting narrows a filter to documents that meet conditions.
func meeting(filter bson.D, conditions []docstore.Condition) bson.D {
	filter = filter[:len(filter):len(filter)]
	for _, is := range conditions {
		var value any = bson.D{{Key: "$exists", Value: false}}
		if !is.Time.IsZero() {
			value = is.Time
		} else if !is.Value.IsNone() {
			value = is.Value.BSON()
		}
		filter = append(filter, bson.E{Key: is.Field, Value: value})
	}
	return filter
}

// updateOf returns the filter of a change and its operators. The revision in the filter alone does
// not say that the document still exists: a failover may have undone the revision that the caller
// has read, and a deletion may have taken its number.
func (t *table) updateOf(change docstore.Change) (filter, update bson.D, err error) {
	byID, err := t.byID(change.ID)
	if err != nil {
		return nil, nil, err
	}
	if err := t.spec.CheckChange(change); err != nil {
		return nil, nil, err
	}
	filter = meeting(t.alive(byID), change.If)
	if change.Revision != 0 {
		filter = append(filter, bson.E{Key: docstore.RevisionField, Value: change.Revision})
	}
	if news := change.New(); len(news) > 0 {
		filter = append(filter, lacking(news))
	}
	update = bson.D{{Key: "$inc", Value: increase(change.Counts(), change.Add)}}
	if len(change.Set) > 0 {
		set := make(bson.D, len(change.Set))
		for i, assignment := range change.Set {
			set[i] = bson.E{Key: assignment.Path, Value: assignment.Value}
		}
		update = append(update, bson.E{Key: "$set", Value: set})
	}
	if len(change.Unset) > 0 {
		update = append(update, unset(change.Unset))
	}
	if to := change.Raise; to.Field != "" {
		update = append(update, bson.E{Key: "$max", Value: bson.D{{Key: to.Field, Value: to.By}}})
	}
	if t.spec.Stamps(change) {
		update = append(update, stamping(docstore.ChangedField))
	}
	return filter, update, nil
}

// lacking matches the documents that lack one of the values. A missing field is as a zero.
func lacking(values []docstore.Assignment) bson.E {
	either := make(bson.A, len(values))
	for i, set := range values {
		has := bson.A{set.Value}
		if docstore.IsZero(set.Value) {
			has = append(has, nil)
		}
		either[i] = bson.D{{Key: set.Path, Value: bson.D{{Key: "$not", Value: bson.D{{Key: "$in", Value: has}}}}}}
	}
	return bson.E{Key: "$or", Value: either}
}

// increase returns the fields of a $inc: the amounts, and one more of a field that the
// engine maintains.
func increase(maintained string, amounts []docstore.Amount) bson.D {
	fields := bson.D{{Key: maintained, Value: int64(1)}}
	for _, amount := range amounts {
		fields = append(fields, bson.E{Key: amount.Field, Value: amount.By})
	}
	return fields
}

// updateError returns the port's error for a change that failed.
func (t *table) updateError(err error) error {
	var refused mongo.WriteException
	if !errors.As(err, &refused) || refused.WriteConcernError != nil || len(refused.WriteErrors) != 1 {
		return err
	}
	refusal, err := t.refusal(refused.WriteErrors[0])
	if err != nil {
		return err
	}
	return refusal
}

// Delete removes a document, or makes it a tombstone.
func (t *table) Delete(ctx context.Context, deletion docstore.Deletion) error {
	byID, err := t.byID(deletion.ID)
	if err != nil {
		return err
	}
	if err := t.spec.CheckDeletion(deletion); err != nil {
		return err
	}
	filter := meeting(t.alive(byID), deletion.If)
	return t.changeOne(ctx, byID, len(deletion.If) > 0,
		func() (bool, error) { return t.deleteOne(ctx, filter, deletion) })
}

func (t *table) deleteOne(ctx context.Context, filter bson.D, deletion docstore.Deletion) (isDone bool, err error) {
	if !t.spec.Tombstones {
		result, err := t.collection.DeleteOne(ctx, filter)
		return err == nil && result.DeletedCount > 0, err
	}
	result, err := t.collection.UpdateOne(ctx, filter, burial(deletion))
	if err != nil {
		return false, t.updateError(err)
	}
	return result.MatchedCount > 0, nil
}

// deleteChunk is how many documents DeleteAll deletes with one command, as long as few of
// them have the same value in the field after those that the selection fixes.
const deleteChunk = 10_000

// DeleteAll deletes in chunks, so that no command runs for long. While a range of a sharded
// collection moves, a command may miss documents in it. That is harmless, because callers are
// sweeps or repairs and delete what is left the next time.
func (t *table) DeleteAll(ctx context.Context, where docstore.Where) (deleted int64, err error) {
	if err := t.spec.CheckDeleteAll(); err != nil {
		return 0, err
	}
	selected, err := t.resolve(docstore.Scan{Where: where, Limit: 1})
	if err != nil {
		return 0, err
	}
	options := options.DeleteMany()
	if selected.comment != "" {
		options.SetComment(selected.comment)
	}
	err = t.write(ctx, func() error {
		for !selected.bounds.Empty {
			chunk, isLast, err := t.chunkOf(ctx, selected)
			if err != nil {
				return err
			}
			result, err := t.collection.DeleteMany(ctx, t.filter(chunk), options)
			if err != nil {
				return err
			}
			deleted += result.DeletedCount
			if isLast {
				return nil
			}
		}
		return nil
	})
	return deleted, err
}

// chunkOf returns the part of a selection that its first deleteChunk documents lie in.
func (t *table) chunkOf(ctx context.Context, selected selection) (chunk selection, isLast bool, err error) {
	rest := selected.rest()
	if len(rest) == 0 || len(selected.bounds.Spans) > 1 {
		return selected, true, nil
	}
	last, _, err := t.find(ctx, query{
		filter: t.filter(selected), order: orderOf(rest, false), fields: projection([]string{}, rest[:1]),
		skip: deleteChunk - 1, limit: 1,
		comment: selected.comment,
	})
	if err != nil || len(last) == 0 {
		return selected, true, err
	}
	var span docstore.Span
	if len(selected.bounds.Spans) > 0 {
		span = selected.bounds.Spans[0]
	}
	if span.To, err = rest[0].Value(last[0]); err != nil {
		return selected, false, err
	}
	selected.bounds.Spans = []docstore.Span{span}
	return selected, false, nil
}

func (t *table) exists(ctx context.Context, filter bson.D) (bool, error) {
	documents, _, err := t.find(ctx, query{filter: t.alive(filter), fields: justID(), limit: 1})
	return len(documents) > 0, err
}

// confirmation is the latest moment of Engine.clock at which a call began that a majority has
// acknowledged. Until then, the server that served it was the primary.
type confirmation struct{ last atomic.Int64 }

// confirmationOf returns the confirmation of a collection, which it shares with others on the same
// shard. It is nil if the collection is on several shards: no call confirms all of them. A
// collection on one shard shares it with none on a cluster, because each may be on a shard of its
// own.
func (e *Engine) confirmationOf(spec docstore.Spec) *confirmation {
	switch {
	case !e.isRouter:
		return &e.confirmed
	case spec.Sharding == docstore.OneShard:
		return &confirmation{}
	}
	return nil
}

// note notes that a majority has acknowledged a call that began at that time. The confirmation may
// be nil.
func (c *confirmation) note(began time.Duration) {
	if c == nil {
		return
	}
	for last := c.last.Load(); last < int64(began) && !c.last.CompareAndSwap(last, int64(began)); {
		last = c.last.Load()
	}
}

// isWithin reports whether a majority has acknowledged a call that began that recently.
func (c *confirmation) isWithin(staleness, now time.Duration) bool {
	last := c.last.Load()
	return last > 0 && now-time.Duration(last) < staleness
}

// write is Engine.call for a write. If it succeeds, a majority has acknowledged it.
func (t *table) write(ctx context.Context, do func() error) error {
	began := t.engine.clock()
	err := t.engine.call(ctx, do)
	if err == nil {
		t.confirmed.note(began)
	}
	return err
}

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
		_, err := t.collection.BulkWrite(ctx, fit, options.BulkWrite().SetOrdered(false))
		var refused mongo.BulkWriteException
		if !errors.As(err, &refused) || refused.WriteConcernError != nil {
			return err
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

// Update changes the document if its revision is still the given one. If no document
// matches, it checks whether the id exists, to tell ErrConflict from ErrNotFound.
func (t *table) Update(ctx context.Context, change docstore.Change) error {
	byID, update, err := t.updateOf(change)
	if err != nil {
		return err
	}
	filter := t.unchanged(byID, change)
	return t.write(ctx, func() error {
		result, err := t.collection.UpdateOne(ctx, filter, update)
		if err != nil {
			return t.updateError(err)
		}
		if result.MatchedCount > 0 {
			return nil
		}
		return t.whyNot(ctx, byID, true)
	})
}

// UpdateMany sends all changes in one unordered command.
func (t *table) UpdateMany(ctx context.Context, changes []docstore.Change) (made int64, err error) {
	models := make([]mongo.WriteModel, len(changes))
	for i, change := range changes {
		byID, update, err := t.updateOf(change)
		if err != nil {
			return 0, err
		}
		models[i] = mongo.NewUpdateOneModel().SetFilter(t.unchanged(byID, change)).SetUpdate(update)
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

// Modify changes fields of one document. It reads what it returns by the same command.
func (t *table) Modify(ctx context.Context, modification docstore.Modification) (before bson.Raw, err error) {
	byID, err := t.byID(modification.ID)
	if err != nil {
		return nil, err
	}
	filter := meeting(t.alive(byID), modification.If)
	update := bson.D{{Key: "$inc", Value: increase(modification.Counts(), modification.Add)}}
	if len(modification.Set) > 0 {
		update = append(update, setting(modification.Set))
	}
	if to := modification.Raise; to.Field != "" {
		update = append(update, bson.E{Key: "$max", Value: bson.D{{Key: to.Field, Value: to.By}}})
	}
	update = t.stamped(update, modification.Change())
	err = t.write(ctx, func() (err error) {
		var isDone bool
		if before, isDone, err = t.modify(ctx, filter, update, modification.Fields); err != nil {
			return t.updateError(err)
		}
		if isDone {
			return nil
		}
		return t.whyNot(ctx, byID, len(modification.If) > 0)
	})
	return before, err
}

// modify changes a document, and returns the fields of what it was.
func (t *table) modify(ctx context.Context, filter, update bson.D, fields []string) (before bson.Raw, isDone bool, err error) {
	if fields != nil && len(fields) == 0 {
		result, err := t.collection.UpdateOne(ctx, filter, update)
		return nil, err == nil && result.MatchedCount > 0, err
	}
	reading := options.FindOneAndUpdate().SetReturnDocument(options.Before)
	if fields != nil {
		reading.SetProjection(projection(fields, nil))
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

// whyNot returns the reason why no document matched. If there were conditions, it looks whether the id
// exists.
func (t *table) whyNot(ctx context.Context, byID bson.D, hadConditions bool) error {
	if !hadConditions {
		return docstore.ErrNotFound
	}
	switch found, err := t.exists(ctx, byID); {
	case err != nil:
		return err
	case found:
		return docstore.ErrConflict
	}
	return docstore.ErrNotFound
}

// meeting narrows a filter to documents that meet conditions.
func meeting(filter bson.D, conditions []docstore.Condition) bson.D {
	filter = filter[:len(filter):len(filter)]
	for _, is := range conditions {
		var value any = bson.D{{Key: "$exists", Value: false}}
		if !is.Value.IsNone() {
			value = is.Value.BSON()
		}
		filter = append(filter, bson.E{Key: is.Field, Value: value})
	}
	return filter
}

func setting(assignments []docstore.Assignment) bson.E {
	set := make(bson.D, len(assignments))
	for i, assignment := range assignments {
		set[i] = bson.E{Key: assignment.Path, Value: assignment.Value}
	}
	return bson.E{Key: "$set", Value: set}
}

// unchanged narrows the filter of a document: nobody has changed or deleted it before the change. The
// revision alone does not say so. A failover may have undone the one that the caller has read, and a
// deletion may have taken its number.
func (t *table) unchanged(byID bson.D, change docstore.Change) bson.D {
	return append(t.alive(byID), bson.E{Key: docstore.RevisionField, Value: change.Revision})
}

// updateOf returns the filter of the document of a change, and the operators.
func (t *table) updateOf(change docstore.Change) (byID, update bson.D, err error) {
	if byID, err = t.byID(change.ID); err != nil {
		return nil, nil, err
	}
	if err := t.spec.CheckChange(change); err != nil {
		return nil, nil, err
	}
	update = bson.D{{Key: "$inc", Value: increase(docstore.RevisionField, change.Add)}}
	if len(change.Set) > 0 {
		update = append(update, setting(change.Set))
	}
	if len(change.Unset) > 0 {
		update = append(update, unset(change.Unset))
	}
	return byID, t.stamped(update, change), nil
}

// stamped makes the update of a change stamp the document, if followers are shown the change.
func (t *table) stamped(update bson.D, change docstore.Change) bson.D {
	if !t.spec.Stamps(change) {
		return update
	}
	return append(update, stamping(docstore.ChangedField))
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

// Delete removes a document, or makes it a tombstone. If no document matches, it checks whether the id
// exists, to tell ErrConflict from ErrNotFound.
func (t *table) Delete(ctx context.Context, deletion docstore.Deletion) error {
	byID, err := t.byID(deletion.ID)
	if err != nil {
		return err
	}
	if err := t.spec.CheckDeletion(deletion); err != nil {
		return err
	}
	filter := meeting(t.alive(byID), deletion.If)
	return t.write(ctx, func() error {
		isDone, err := t.deleteOne(ctx, filter, deletion)
		if err != nil || isDone {
			return err
		}
		return t.whyNot(ctx, byID, len(deletion.If) > 0)
	})
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
		filter: t.filter(selected), order: orderOf(rest, false), fields: projection([]string{}, rest[:1]), skip: deleteChunk - 1, limit: 1,
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
	documents, _, err := t.find(ctx, query{filter: t.alive(filter), fields: bson.D{{Key: docstore.IDIndex, Value: 1}}, limit: 1})
	return len(documents) > 0, err
}

// confirmation is the latest moment of Engine.clock at which a call began that a majority has
// acknowledged. Until then, the server that served it was the primary.
type confirmation struct{ last atomic.Int64 }

// confirmationOf returns the confirmation of a collection, which it shares with others on the same
// shard. It is nil if the collection is on several shards: no call confirms all of them. A collection
// on one shard shares it with none on a cluster, because each may be on a shard of its own.
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

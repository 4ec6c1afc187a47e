package mongo

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/waybook/waybook/internal/docstore"
)

// The server stamps the documents of a collection with a feed, with its cluster time, when it executes
// a write: in an insert in place of an empty timestamp, and in an update by $currentDate. The cluster
// time grows with each stamp of a replica set, also across elections and whatever its clocks do. A
// process that stamped itself could be late by as long as a write takes to reach the server.

// changesIndex is the index of the moments of the latest changes.
const changesIndex = "changes"

func timestampOf(m docstore.Moment) bson.Timestamp {
	return bson.Timestamp{T: uint32(m >> 32), I: uint32(m)} // #nosec G115 -- the two halves
}

func momentOf(t bson.Timestamp) docstore.Moment {
	return docstore.Moment(uint64(t.T)<<32 | uint64(t.I))
}

// momentIn returns the moment in a field of a document; 0 if there is none.
func momentIn(document bson.Raw, field string) docstore.Moment {
	t, i, _ := document.Lookup(field).TimestampOK()
	return momentOf(bson.Timestamp{T: t, I: i})
}

// stamping returns the update operator that stamps fields.
func stamping(fields ...string) bson.E {
	now := bson.D{}
	for _, field := range fields {
		now = append(now, bson.E{Key: field, Value: bson.D{{Key: "$type", Value: "timestamp"}}})
	}
	return bson.E{Key: "$currentDate", Value: now}
}

// lacking is the condition that a document has no stamp.
func lacking() bson.E {
	return bson.E{Key: docstore.ChangedField, Value: bson.D{{Key: "$exists", Value: false}}}
}

// hiddenFields are the fields that the engine stores and no read returns.
func hiddenFields(spec docstore.Spec) (hidden []string) {
	if spec.Sharding == docstore.ByPlace {
		hidden = append(hidden, docstore.PlaceField)
	}
	if spec.Feed != nil {
		hidden = append(hidden, docstore.ChangedField, docstore.MadeField)
	}
	return hidden
}

// tombstonesOf declares the collection of the tombstones of another one. A tombstone without a stamp
// announces a deletion.
func tombstonesOf(spec docstore.Spec) docstore.Spec {
	return docstore.Spec{Name: spec.Name + "_deleted", ID: spec.ID, Sharding: spec.Sharding, Feed: &docstore.Feed{}}
}

// bury deletes a document by do. It announces the deletion first, so that it becomes a tombstone
// whatever happens, and stamps the tombstone once the document is gone. The stamp makes the tombstone
// again if a sweep has removed it meanwhile, because the server's clock has stepped.
func (t *table) bury(ctx context.Context, byID bson.D, do func() error) error {
	if err := t.announce(ctx, byID); err != nil {
		return err
	}
	gone := do()
	if gone != nil && !errors.Is(gone, docstore.ErrNotFound) {
		return gone
	}
	if err := t.setTombstone(ctx, byID, stamping(docstore.ChangedField)); err != nil {
		return err
	}
	return gone
}

func (t *table) announce(ctx context.Context, byID bson.D) error {
	unstamp := bson.E{Key: "$unset", Value: bson.D{{Key: docstore.ChangedField, Value: ""}}}
	return t.setTombstone(ctx, byID, unstamp, stamping(docstore.MadeField))
}

// setTombstone changes a tombstone, or makes it. A call that makes it at the same time does the same.
func (t *table) setTombstone(ctx context.Context, byID bson.D, operators ...bson.E) error {
	update := append(bson.D{{Key: "$set", Value: bson.D{{Key: docstore.RevisionField, Value: int64(1)}}}}, operators...)
	_, err := t.tombstones.collection.UpdateOne(ctx, byID, update, options.UpdateOne().SetUpsert(true))
	if mongo.IsDuplicateKeyError(err) {
		_, err = t.tombstones.collection.UpdateOne(ctx, byID, update)
	}
	return err
}

// announcementGrace is how long an announced deletion may take. It is longer than any call may run.
const announcementGrace = 5 * time.Minute

// finishDeletions stamps the tombstones of documents that are gone, and removes those of documents
// that are still there long after. A crash, or a call that timed out, has left them.
func (t *table) finishDeletions(ctx context.Context) error {
	var after docstore.Value
	for {
		filter := bson.D{lacking()}
		if !after.IsNone() {
			filter = append(filter, bson.E{Key: docstore.IDIndex, Value: bson.D{{Key: "$gt", Value: after.BSON()}}})
		}
		announced, _, err := t.tombstones.find(ctx, query{filter: filter, order: byIDOrder(), limit: backfillBatch, comment: t.comment(), isWhole: true})
		if err != nil || len(announced) == 0 {
			return err
		}
		ids, began := make([]docstore.Value, len(announced)), make(map[docstore.Value]docstore.Moment, len(announced))
		for i, each := range announced {
			if ids[i], err = t.idOf(each); err != nil {
				return err
			}
			began[ids[i]] = momentIn(each, docstore.MadeField)
		}
		now, _, err := t.tick(ctx)
		if err != nil {
			return err
		}
		if err := t.finishEach(ctx, ids, began, now); err != nil {
			return err
		}
		if after = ids[len(ids)-1]; len(announced) < backfillBatch {
			return nil
		}
	}
}

func (t *table) finishEach(ctx context.Context, ids []docstore.Value, began map[docstore.Value]docstore.Moment, now docstore.Moment) error {
	isThere, err := t.present(ctx, ids)
	if err != nil {
		return err
	}
	for _, id := range ids {
		byID := append(t.placed(id), lacking())
		switch {
		case !isThere[id]:
			_, err = t.tombstones.collection.UpdateOne(ctx, byID, bson.D{stamping(docstore.ChangedField)})
		case began[id] < before(now, announcementGrace):
			_, err = t.tombstones.collection.DeleteOne(ctx, append(byID, bson.E{Key: docstore.MadeField, Value: timestampOf(began[id])}))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// present returns which of the documents with some ids a majority has.
func (t *table) present(ctx context.Context, ids []docstore.Value) (map[docstore.Value]bool, error) {
	found, err := t.getMany(ctx, ids, "majority")
	if err != nil {
		return nil, err
	}
	isThere := make(map[docstore.Value]bool, len(found))
	for _, document := range found {
		id, err := t.idOf(document)
		if err != nil {
			return nil, err
		}
		isThere[id] = true
	}
	return isThere, nil
}

// idOf returns the id of a document.
func (t *table) idOf(document bson.Raw) (docstore.Value, error) {
	return docstore.Field{Name: docstore.IDIndex, Kind: t.spec.ID}.Value(document)
}

// before returns the moment some time before another.
func before(m docstore.Moment, d time.Duration) docstore.Moment {
	seconds := max(int64(m>>32)-int64(d/time.Second), 0) // #nosec G115 -- 32 bits
	return docstore.Moment(seconds)<<32 | m&(1<<32-1)    // #nosec G115 -- not negative
}

// comment returns the comment of a command that asks for documents of any place.
func (t *table) comment() string {
	if t.spec.Sharding == docstore.OneShard {
		return ""
	}
	return everywhere
}

// feedsCollection has a document for each feed, with the feed's state.
const feedsCollection = "feeds"

// feedState is the state of a feed. Forgotten is the moment of the last tombstone that was deleted.
type feedState struct {
	Epoch     int64          `bson:"epoch"`
	Forgotten bson.Timestamp `bson:"forgotten"`
	// Now is the cluster time of the last tick.
	Now bson.Timestamp `bson:"now"`
}

// tick returns the cluster time. A majority has acknowledged it, so the server that serves a later
// read at this time is the primary. The first tick makes the feed.
func (t *table) tick(ctx context.Context) (docstore.Moment, feedState, error) {
	var state feedState
	update := bson.D{stamping("now"), {Key: "$setOnInsert", Value: bson.D{
		{Key: "epoch", Value: newEpoch()}, {Key: "forgotten", Value: bson.Timestamp{I: 1}},
	}}}
	options := options.FindOneAndUpdate().SetUpsert(true).SetReturnDocument(options.After)
	feeds := t.engine.database.Collection(feedsCollection)
	byName := bson.D{{Key: docstore.IDIndex, Value: t.spec.Name}}
	err := feeds.FindOneAndUpdate(ctx, byName, update, options).Decode(&state)
	if mongo.IsDuplicateKeyError(err) { // another process made it
		err = feeds.FindOneAndUpdate(ctx, byName, update, options).Decode(&state)
	}
	if err == nil && state.Now.IsZero() {
		err = fmt.Errorf("the server does not stamp: the feed of %s has no time", t.spec.Name)
	}
	return momentOf(state.Now), state, err
}

func newEpoch() int64 {
	var random [8]byte
	_, _ = rand.Read(random[:])                      // never fails
	return int64(binary.BigEndian.Uint64(random[:])) // #nosec G115 -- the same bits
}

// Forget notes the last tombstone before it deletes tombstones, so that no reader takes the rest for
// all of them.
func (t *table) Forget(ctx context.Context, keep time.Duration) (total int64, err error) {
	if err := t.spec.CheckFeed(docstore.FeedScan{Limit: 1}); err != nil {
		return 0, err
	}
	err = t.write(ctx, func() error {
		now, _, err := t.tick(ctx)
		if err != nil {
			return err
		}
		stamped := bson.D{{Key: "$gt", Value: bson.Timestamp{}}, {Key: "$lte", Value: timestampOf(before(now, keep))}}
		for {
			chunk, _, err := t.tombstones.find(ctx, query{
				filter: bson.D{{Key: docstore.ChangedField, Value: stamped}}, order: byChange(), limit: backfillBatch, comment: t.comment(), isWhole: true,
			})
			if err != nil || len(chunk) == 0 {
				return err
			}
			last := timestampOf(momentIn(chunk[len(chunk)-1], docstore.ChangedField))
			if err := t.noteForgotten(ctx, last); err != nil {
				return err
			}
			ids := make(bson.A, len(chunk))
			for i, each := range chunk {
				if err := each.Lookup(docstore.IDIndex).Unmarshal(&ids[i]); err != nil {
					return err
				}
			}
			upTo := bson.D{{Key: "$gt", Value: bson.Timestamp{}}, {Key: "$lte", Value: last}}
			deleted, err := t.tombstones.collection.DeleteMany(ctx, append(t.placedAny(ids), bson.E{Key: docstore.ChangedField, Value: upTo}))
			if err != nil {
				return err
			}
			total += deleted.DeletedCount
			if len(chunk) < backfillBatch {
				return nil
			}
		}
	})
	return total, err
}

func (t *table) noteForgotten(ctx context.Context, last bson.Timestamp) error {
	later := bson.D{{Key: docstore.IDIndex, Value: t.spec.Name}, {Key: "forgotten", Value: bson.D{{Key: "$lt", Value: last}}}}
	_, err := t.engine.database.Collection(feedsCollection).UpdateOne(ctx, later, bson.D{{Key: "$set", Value: bson.D{{Key: "forgotten", Value: last}}}})
	return err
}

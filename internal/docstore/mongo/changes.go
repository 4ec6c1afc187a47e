package mongo

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"

	"github.com/waybook/waybook/internal/docstore"
)

// Changes reads the state of the feed and the index of changes in one snapshot, of a time that the
// server, or the router for all shards, chooses. A majority has everything that the snapshot
// shows. A write that it does not show gets a later place in the log. So its stamp is later than
// the time of the snapshot, less the time that passes between the stamp of a write and its place,
// which is far below the settling time.
func (t *table) Changes(ctx context.Context, scan docstore.ChangeScan) (batch docstore.ChangeBatch, err error) {
	if err := t.spec.CheckChanges(scan); err != nil {
		return batch, err
	}
	err = t.engine.call(ctx, func() error {
		batch, err = t.readChanges(ctx, scan)
		return err
	})
	return batch, err
}

func (t *table) readChanges(ctx context.Context, scan docstore.ChangeScan) (batch docstore.ChangeBatch, err error) {
	began := time.Now()
	state, at, err := t.snapshot(ctx)
	if err != nil {
		return batch, err
	}
	settled := docstore.MomentOf(at.Time().Add(-t.spec.SettlingTime()))
	found, more, err := t.find(ctx, query{
		filter: changesFrom(scan.From), order: byChange(), fields: projection([]string{}, stampFields()),
		limit:    scan.Limit,
		snapshot: at, comment: t.comment(), isWhole: true,
	})
	if err != nil {
		return batch, err
	}
	t.engine.listed.raise(at)
	batch = docstore.ChangeBatch{
		Store: state.Store, Forgotten: momentOf(state.Forgotten), More: more || len(found) == scan.Limit,
		Settled: settled, Known: settled,
	}
	if known := t.settled.Settled(at, began, t.spec.SettlingTime()); known != 0 {
		batch.Settled = min(settled, known) // the time of the servers may have leapt
	}
	for _, document := range found {
		change := docstore.RawChange{At: momentIn(document, docstore.ChangedField),
			IsGone: docstore.IsTombstone(document)}
		if made := momentIn(document, docstore.MadeField); made > 0 {
			change.Made = made - 1 // a new document gets this stamp after the other one
		}
		if change.ID, err = t.idOf(document); err != nil {
			return batch, err
		}
		batch.Changes = append(batch.Changes, change)
	}
	return batch, nil
}

// snapshot returns the state of the feed, and the time of the snapshot that has it.
func (t *table) snapshot(ctx context.Context) (state feedState, at docstore.Moment, err error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	command := bson.D{
		{Key: "find", Value: feedsCollection},
		{Key: "filter", Value: bson.D{{Key: docstore.IDIndex, Value: t.spec.Name}}},
		{Key: "readConcern", Value: bson.D{{Key: "level", Value: snapshot}}}, {Key: "limit", Value: int64(1)},
		{Key: "singleBatch", Value: true},
	}
	var reply struct {
		Cursor struct {
			At    bson.Timestamp `bson:"atClusterTime"`
			Found []feedState    `bson:"firstBatch"`
		} `bson:"cursor"`
	}
	run := func() error {
		return t.engine.database.RunCommand(ctx, command,
			options.RunCmd().SetReadPreference(readpref.Primary())).Decode(&reply)
	}
	if err = run(); err != nil && mayPass(err) && ctx.Err() == nil {
		err = run()
	}
	if err != nil {
		return state, 0, err
	}
	if len(reply.Cursor.Found) == 0 || reply.Cursor.At.IsZero() {
		return state, 0, fmt.Errorf("%w: no snapshot has the state of the feed of %s yet", docstore.ErrUnavailable,
			t.spec.Name)
	}
	return reply.Cursor.Found[0], momentOf(reply.Cursor.At), nil
}

// changesFrom returns the filter of the changes from a position on.
func changesFrom(from docstore.ChangePosition) bson.D {
	at := timestampOf(from.At)
	filter := bson.D{{Key: docstore.ChangedField, Value: bson.D{{Key: "$gte", Value: at}}}}
	if from.ID.IsNone() {
		return filter
	}
	return append(filter, bson.E{Key: "$or", Value: bson.A{
		bson.D{{Key: docstore.ChangedField, Value: bson.D{{Key: "$gt", Value: at}}}},
		bson.D{{Key: docstore.IDIndex, Value: bson.D{{Key: "$gte", Value: from.ID.BSON()}}}},
	}})
}

// byChange is the order of the index of changes.
func byChange() bson.D {
	return bson.D{{Key: docstore.ChangedField, Value: 1}, {Key: docstore.IDIndex, Value: 1}}
}

func justID() bson.D { return projection([]string{docstore.IDIndex}, nil) }

func stampFields() []docstore.Field {
	return []docstore.Field{{Name: docstore.IDIndex}, {Name: docstore.ChangedField}, {Name: docstore.MadeField},
		{Name: docstore.GoneField}}
}

// The server stamps the documents of a collection with a feed, with its cluster time, when it
// executes a write, by $currentDate: see insertion. The cluster time grows with each stamp of a
// replica set, also across elections and whatever its clocks do. A process that stamped itself
// could be late by as long as a write takes to reach the server.

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

// hiddenFields are the fields that the engine stores and no read returns.
func hiddenFields(spec docstore.Spec) (hidden []string) {
	if spec.Sharding == docstore.ByPlace {
		hidden = append(hidden, docstore.PlaceField)
	}
	if spec.Feed != nil || spec.Tombstones {
		hidden = append(hidden, docstore.ChangedField, docstore.MadeField)
	}
	if spec.Tombstones {
		hidden = append(hidden, docstore.DueField)
	}
	return hidden
}

// idOf returns the id of a document.
func (t *table) idOf(document bson.Raw) (docstore.Value, error) {
	return docstore.Field{Name: docstore.IDIndex, Kind: t.spec.ID}.Value(document)
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

// feedState is the state of a feed. Forgotten is the moment of the last tombstone that was
// deleted.
type feedState struct {
	// Store identifies the store.
	Store     int64          `bson:"store"`
	Forgotten bson.Timestamp `bson:"forgotten"`
	// Now is the cluster time of the last tick.
	Now bson.Timestamp `bson:"now"`
}

// tick returns the cluster time. A majority has acknowledged it, so the server that serves a later
// read at this time is the primary. The first tick makes the feed.
func (t *table) tick(ctx context.Context) (docstore.Moment, feedState, error) {
	var state feedState
	update := bson.D{stamping("now"), {Key: "$setOnInsert", Value: bson.D{
		{Key: "store", Value: newStore()}, {Key: "forgotten", Value: bson.Timestamp{I: 1}},
	}}}
	options := options.FindOneAndUpdate().SetUpsert(true).SetReturnDocument(options.After)
	feeds := t.engine.database.Collection(feedsCollection)
	byName := bson.D{{Key: docstore.IDIndex, Value: t.spec.Name}}
	err := feeds.FindOneAndUpdate(ctx, byName, update, options).Decode(&state)
	if mongo.IsDuplicateKeyError(err) { // another process made it
		err = feeds.FindOneAndUpdate(ctx, byName, update, options).Decode(&state)
	}
	if err == nil && state.Now.IsZero() {
		err = fmt.Errorf("%w: it does not stamp by $currentDate, so followers of %s would miss changes", errUnfit,
			t.spec.Name)
	}
	return momentOf(state.Now), state, err
}

// checkStamping returns an error if the server does not stamp the documents of a collection that
// needs it.
func (t *table) checkStamping(ctx context.Context) error {
	if t.spec.Feed == nil && !t.spec.Tombstones {
		return nil
	}
	_, _, err := t.tick(ctx)
	return err
}

// Renew draws another identifier for each feed. The tools of the server do not do so when they
// restore a store.
func (e *Engine) Renew(ctx context.Context) error {
	return e.call(ctx, func() error {
		renewal := bson.D{{Key: "$set", Value: bson.D{{Key: "store", Value: newStore()}}}}
		_, err := e.database.Collection(feedsCollection).UpdateMany(ctx, bson.D{}, renewal)
		return err
	})
}

func newStore() int64 {
	var random [8]byte
	_, _ = rand.Read(random[:])                      // never fails
	return int64(binary.BigEndian.Uint64(random[:])) // #nosec G115 -- the same bits
}

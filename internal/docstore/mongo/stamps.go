package mongo

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/waybook/waybook/internal/docstore"
)

// The server stamps the documents of a collection with a feed, with its cluster time, when it executes
// a write, by $currentDate: see insertion. The cluster time grows with each stamp of a replica set, also
// across elections and whatever its clocks do. A process that stamped itself could be late by as long as
// a write takes to reach the server.

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
		err = fmt.Errorf("%w: it does not stamp by $currentDate, so followers of %s would miss changes", errUnfit, t.spec.Name)
	}
	return momentOf(state.Now), state, err
}

// checkStamping returns an error if the server does not stamp the documents of a collection that needs it.
func (t *table) checkStamping(ctx context.Context) error {
	if t.spec.Feed == nil && !t.spec.Tombstones {
		return nil
	}
	_, _, err := t.tick(ctx)
	return err
}

// Unstamped counts the documents of a collection that have no stamp, so that its feed never shows them.
func (e *Engine) Unstamped(ctx context.Context, spec docstore.Spec) (n int64, err error) {
	if spec.Feed == nil {
		return 0, nil
	}
	err = e.call(ctx, func() error {
		counted := options.Count().SetComment(everywhere)
		n, err = e.database.Collection(spec.Name).CountDocuments(ctx, withoutStamp(), counted)
		return err
	})
	return n, err
}

// Stamp stamps the documents of a collection that have no stamp, and returns how many.
func (e *Engine) Stamp(ctx context.Context, spec docstore.Spec) (n int64, err error) {
	if spec.Feed == nil {
		return 0, nil
	}
	err = e.call(ctx, func() error {
		now := bson.D{stamping(docstore.ChangedField)}
		result, err := e.database.Collection(spec.Name).UpdateMany(ctx, withoutStamp(), now, options.UpdateMany().SetComment(everywhere))
		if result != nil {
			n = result.ModifiedCount
		}
		return err
	})
	return n, err
}

// withoutStamp is the filter of documents whose stamp is missing or zero.
func withoutStamp() bson.D {
	return bson.D{{Key: docstore.ChangedField, Value: bson.D{{Key: "$in", Value: bson.A{nil, bson.Timestamp{}}}}}}
}

// RenewFeeds begins a new epoch of each feed, and returns how many feeds there are. So the tokens of before are
// refused: a restore by the server's own tools does not tell that it has taken back what followers have seen.
func (e *Engine) RenewFeeds(ctx context.Context) (renewed int64, err error) {
	err = e.call(ctx, func() error {
		renewal := bson.D{{Key: "$set", Value: bson.D{{Key: "epoch", Value: newEpoch()}}}}
		result, err := e.database.Collection(feedsCollection).UpdateMany(ctx, bson.D{}, renewal)
		if result != nil {
			renewed = result.MatchedCount
		}
		return err
	})
	return renewed, err
}

func newEpoch() int64 {
	var random [8]byte
	_, _ = rand.Read(random[:])                      // never fails
	return int64(binary.BigEndian.Uint64(random[:])) // #nosec G115 -- the same bits
}

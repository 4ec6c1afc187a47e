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

// Feed reads the index of changes up to a cluster time that all shards knew a settling time ago. Each
// later write has a later stamp, and each write with an earlier stamp has ended since, or takes longer
// than the settling time. The reads are at the present time, because a server that has reached the settled
// time need not have all those writes. A majority has acknowledged it, so a server that is no longer the
// primary cannot serve them.
func (t *table) Feed(ctx context.Context, scan docstore.FeedScan) (batch docstore.FeedBatch, err error) {
	if err := t.spec.CheckFeed(scan); err != nil {
		return batch, err
	}
	err = t.engine.call(ctx, func() error {
		if scan.IsUnsettled {
			batch, err = t.readUnsettled(ctx, scan)
			return err
		}
		batch, err = t.settled.Read(ctx, t.spec.SettlingTime(), t.announceTime, func(settled, present docstore.Moment) (docstore.FeedBatch, error) {
			return t.readFeed(ctx, scan, settled, present)
		})
		return err
	})
	return batch, err
}

func (t *table) readUnsettled(ctx context.Context, scan docstore.FeedScan) (batch docstore.FeedBatch, err error) {
	later := bson.D{{Key: docstore.ChangedField, Value: bson.D{{Key: "$gt", Value: timestampOf(scan.After.At)}}}}
	found, _, err := t.find(ctx, query{
		filter: t.alive(later), fields: projection([]string{}, stampFields()), order: byChange(), limit: scan.Limit,
		at: scan.After.At, comment: t.comment(), isWhole: true,
	})
	for _, document := range found {
		change := docstore.RawChange{At: momentIn(document, docstore.ChangedField), Made: momentIn(document, docstore.MadeField)}
		if change.ID, err = t.idOf(document); err != nil {
			return batch, err
		}
		batch.Changes = append(batch.Changes, change)
	}
	return batch, err
}

// announceTime returns the cluster time after each shard has learned it.
func (t *table) announceTime(ctx context.Context) (docstore.Moment, error) {
	now, _, err := t.tick(ctx)
	if err != nil {
		return 0, err
	}
	later := bson.D{{Key: docstore.ChangedField, Value: bson.D{{Key: "$gt", Value: timestampOf(now)}}}}
	if _, _, err := t.find(ctx, query{filter: later, fields: justID(), order: byChange(), limit: 1, at: now, comment: t.comment()}); err != nil {
		return 0, err
	}
	return now, nil
}

// readFeed reads the changes after a position.
func (t *table) readFeed(ctx context.Context, scan docstore.FeedScan, settled, present docstore.Moment) (docstore.FeedBatch, error) {
	batch := docstore.FeedBatch{Until: settled, Next: docstore.FeedPosition{At: settled}}
	if scan.Since == 0 {
		scan.Since = settled
	}
	size := t.sizes.of(scan.Fields)
	limit := size.likelyToFit(scan.Limit+1, scan.MaxBytes, 0)
	found, more, err := t.find(ctx, query{
		filter: changesAfter(scan, settled), order: byChange(), fields: projection(scan.Fields, stampFields()), limit: limit,
		at: present, comment: t.comment(), isWhole: true,
	})
	if err != nil {
		return batch, err
	}
	size.learn(found)
	batch.More = more || len(found) == limit
	used := 0
	for _, document := range found {
		used += len(document)
		if len(batch.Changes) == scan.Limit || scan.MaxBytes > 0 && len(batch.Changes) > 0 && used > scan.MaxBytes {
			batch.More = true
			break
		}
		change := docstore.RawChange{At: momentIn(document, docstore.ChangedField), Made: momentIn(document, docstore.MadeField)}
		if change.ID, err = t.idOf(document); err != nil {
			return batch, err
		}
		if !docstore.IsTombstone(document) {
			change.Document = t.shown(document)
		}
		batch.Changes = append(batch.Changes, change)
	}
	if batch.More && len(batch.Changes) > 0 {
		last := batch.Changes[len(batch.Changes)-1]
		batch.Next = docstore.FeedPosition{At: last.At, ID: last.ID}
	}
	// The state is read last: what it says to be forgotten may be missing above.
	batch.Chapter, batch.Forgotten, err = t.stateAt(ctx, present)
	batch.IsElsewhere = scan.Chapter != 0 && scan.Chapter != batch.Chapter
	return batch, err
}

func (t *table) stateAt(ctx context.Context, at docstore.Moment) (epoch int64, forgotten docstore.Moment, err error) {
	feeds := &table{engine: t.engine, collection: t.engine.database.Collection(feedsCollection)}
	found, _, err := feeds.find(ctx, query{filter: bson.D{{Key: docstore.IDIndex, Value: t.spec.Name}}, limit: 1, at: at})
	if err != nil || len(found) == 0 {
		return 0, 0, err
	}
	var state feedState
	err = bson.Unmarshal(found[0], &state)
	return state.Epoch, momentOf(state.Forgotten), err
}

// changesAfter returns the filter of the changes of a scan up to a moment. It leaves out tombstones that
// the caller does not need.
func changesAfter(scan docstore.FeedScan, upTo docstore.Moment) bson.D {
	at := timestampOf(scan.After.At)
	above := "$gt"
	if !scan.After.ID.IsNone() {
		above = "$gte"
	}
	filter := bson.D{{Key: docstore.ChangedField, Value: bson.D{{Key: above, Value: at}, {Key: "$lte", Value: timestampOf(upTo)}}}}
	var either bson.A
	if scan.After.At < scan.Since {
		either = append(either, bson.D{{Key: "$or", Value: bson.A{
			bson.D{{Key: docstore.GoneField, Value: bson.D{{Key: "$exists", Value: false}}}},
			bson.D{{Key: docstore.ChangedField, Value: bson.D{{Key: "$gt", Value: timestampOf(scan.Since)}}}},
		}}})
	}
	if !scan.After.ID.IsNone() {
		either = append(either, bson.D{{Key: "$or", Value: bson.A{
			bson.D{{Key: docstore.ChangedField, Value: bson.D{{Key: "$gt", Value: at}}}},
			bson.D{{Key: docstore.ChangedField, Value: at}, {Key: docstore.IDIndex, Value: bson.D{{Key: "$gt", Value: scan.After.ID.BSON()}}}},
		}}})
	}
	if len(either) > 0 {
		filter = append(filter, bson.E{Key: "$and", Value: either})
	}
	return filter
}

// byChange is the order of the index of changes.
func byChange() bson.D {
	return bson.D{{Key: docstore.ChangedField, Value: 1}, {Key: docstore.IDIndex, Value: 1}}
}

func justID() bson.D { return projection([]string{docstore.IDIndex}, nil) }

func stampFields() []docstore.Field {
	return []docstore.Field{{Name: docstore.IDIndex}, {Name: docstore.ChangedField}, {Name: docstore.MadeField}, {Name: docstore.GoneField}}
}

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

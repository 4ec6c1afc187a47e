package mongo

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"

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

func justID() bson.D { return bson.D{{Key: docstore.IDIndex, Value: 1}} }

func stampFields() []docstore.Field {
	return []docstore.Field{{Name: docstore.IDIndex}, {Name: docstore.ChangedField}, {Name: docstore.MadeField}, {Name: docstore.GoneField}}
}

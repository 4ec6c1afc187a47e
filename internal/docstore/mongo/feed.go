package mongo

import (
	"cmp"
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/waybook/waybook/internal/docstore"
)

// Feed reads the index of changes up to a cluster time that all shards knew a settling time ago. Each
// later write has a later stamp, and each write with an earlier stamp has ended since, or takes longer
// than the settling time. The reads are at a time that a majority has acknowledged, so a server that is
// no longer the primary cannot serve them.
func (t *table) Feed(ctx context.Context, scan docstore.FeedScan) (batch docstore.FeedBatch, err error) {
	if err := t.spec.CheckFeed(scan); err != nil {
		return batch, err
	}
	err = t.engine.call(ctx, func() error {
		return t.settled.Read(ctx, t.spec.SettlingTime(), scan.GoesOn, t.announceTime, func(settled docstore.Moment) (isFull bool, err error) {
			batch, err = t.readFeed(ctx, scan, settled)
			return batch.More, err
		})
	})
	return batch, err
}

// announceTime returns the cluster time after each shard has learned it.
func (t *table) announceTime(ctx context.Context) (docstore.Moment, error) {
	now, _, err := t.tick(ctx)
	if err != nil {
		return 0, err
	}
	for _, each := range []*table{t, t.tombstones} {
		later := bson.D{{Key: docstore.ChangedField, Value: bson.D{{Key: "$gt", Value: timestampOf(now)}}}}
		if _, _, err := each.find(ctx, query{filter: later, fields: justID(), order: byChange(), limit: 1, at: now, comment: t.comment()}); err != nil {
			return 0, err
		}
	}
	return now, nil
}

func (t *table) readFeed(ctx context.Context, scan docstore.FeedScan, settled docstore.Moment) (docstore.FeedBatch, error) {
	batch := docstore.FeedBatch{Until: settled}
	changed, err := t.changed(ctx, scan, settled)
	if err != nil {
		return batch, err
	}
	deleted := stretch{}
	if scan.Since != 0 && scan.Since < settled {
		if deleted, err = t.deleted(ctx, scan, settled); err != nil {
			return batch, err
		}
	}
	// The state is read last: what it says to be forgotten may be missing above.
	if batch.Epoch, batch.Forgotten, err = t.stateAt(ctx, settled); err != nil {
		return batch, err
	}
	if merge(&batch, changed, deleted, scan); !batch.More {
		batch.Next = docstore.FeedPosition{At: settled}
	}
	return batch, nil
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

// stretch is a stretch of changes, or of tombstones. more reports that others may follow.
type stretch struct {
	changes []docstore.RawChange
	more    bool
	// returned are the ids of tombstones whose documents are there.
	returned map[docstore.Value]bool
}

// changed reads the documents that were changed last after a position.
func (t *table) changed(ctx context.Context, scan docstore.FeedScan, settled docstore.Moment) (stretch, error) {
	size := t.sizes.of(scan.Fields)
	limit := size.likelyToFit(scan.Limit+1, scan.MaxBytes, 0)
	found, more, err := t.find(ctx, query{
		filter: changesAfter(scan.After, settled), order: byChange(), fields: projection(scan.Fields, stampFields()), limit: limit,
		at: settled, comment: t.comment(), isWhole: true,
	})
	if err != nil {
		return stretch{}, err
	}
	size.learn(found)
	s := stretch{changes: make([]docstore.RawChange, len(found)), more: more || len(found) == limit}
	for i, document := range found {
		id, err := t.idOf(document)
		if err != nil {
			return stretch{}, err
		}
		s.changes[i] = docstore.RawChange{
			ID: id, At: momentIn(document, docstore.ChangedField), Made: momentIn(document, docstore.MadeField), Document: t.shown(document),
		}
	}
	return s, nil
}

// deleted reads the tombstones after a position. It leaves out those of documents that are there again:
// their own changes are newer, or the tombstone was stamped late.
func (t *table) deleted(ctx context.Context, scan docstore.FeedScan, settled docstore.Moment) (stretch, error) {
	after := scan.After
	if after.At < scan.Since {
		after = docstore.FeedPosition{At: scan.Since}
	}
	found, more, err := t.tombstones.find(ctx, query{
		filter: changesAfter(after, settled), order: byChange(), limit: scan.Limit + 1, at: settled, comment: t.comment(), isWhole: true,
	})
	if err != nil || len(found) == 0 {
		return stretch{}, err
	}
	s := stretch{more: more || len(found) == scan.Limit+1}
	ids := make([]docstore.Value, len(found))
	for i, each := range found {
		if ids[i], err = t.idOf(each); err != nil {
			return stretch{}, err
		}
	}
	for i, each := range found {
		s.changes = append(s.changes, docstore.RawChange{ID: ids[i], At: momentIn(each, docstore.ChangedField)})
	}
	s.returned, err = t.present(ctx, ids)
	return s, err
}

// merge puts the first changes of two stretches into a batch, in their common order. It ends where a
// stretch ends that others follow, because they may come before the rest of the other one.
func merge(batch *docstore.FeedBatch, changed, deleted stretch, scan docstore.FeedScan) {
	size := 0
	for changed.isKnown() && deleted.isKnown() {
		from := &changed
		if changed.isBehind(deleted) {
			from = &deleted
		}
		if len(from.changes) == 0 {
			return
		}
		next := from.changes[0]
		size += len(next.Document)
		if len(batch.Changes) == scan.Limit || scan.MaxBytes > 0 && len(batch.Changes) > 0 && size > scan.MaxBytes {
			break
		}
		from.changes = from.changes[1:]
		batch.Next = docstore.FeedPosition{At: next.At, ID: next.ID}
		if !from.returned[next.ID] {
			batch.Changes = append(batch.Changes, next)
		}
	}
	batch.More = true
}

// isKnown reports whether it is known what comes next in the stretch.
func (s stretch) isKnown() bool { return len(s.changes) > 0 || !s.more }

// isBehind reports whether the next change of another stretch comes first.
func (s stretch) isBehind(other stretch) bool {
	if len(s.changes) == 0 || len(other.changes) == 0 {
		return len(s.changes) == 0
	}
	mine, its := s.changes[0], other.changes[0]
	return cmp.Or(cmp.Compare(its.At, mine.At), its.ID.Compare(mine.ID)) < 0
}

// changesAfter returns the filter of the changes after a position, up to a moment.
func changesAfter(after docstore.FeedPosition, upTo docstore.Moment) bson.D {
	at := timestampOf(after.At)
	above := "$gt"
	if !after.ID.IsNone() {
		above = "$gte"
	}
	filter := bson.D{{Key: docstore.ChangedField, Value: bson.D{{Key: above, Value: at}, {Key: "$lte", Value: timestampOf(upTo)}}}}
	if after.ID.IsNone() {
		return filter
	}
	return append(filter, bson.E{Key: "$or", Value: bson.A{
		bson.D{{Key: docstore.ChangedField, Value: bson.D{{Key: "$gt", Value: at}}}},
		bson.D{{Key: docstore.ChangedField, Value: at}, {Key: docstore.IDIndex, Value: bson.D{{Key: "$gt", Value: after.ID.BSON()}}}},
	}})
}

// byChange is the order of the index of changes.
func byChange() bson.D {
	return bson.D{{Key: docstore.ChangedField, Value: 1}, {Key: docstore.IDIndex, Value: 1}}
}

func justID() bson.D { return bson.D{{Key: docstore.IDIndex, Value: 1}} }

func stampFields() []docstore.Field {
	return []docstore.Field{{Name: docstore.IDIndex}, {Name: docstore.ChangedField}, {Name: docstore.MadeField}}
}

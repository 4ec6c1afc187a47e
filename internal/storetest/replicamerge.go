package storetest

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/pause"
)

// page is what a shard has of a scan.
type page struct {
	documents []bson.Raw
	more      bool
}

func (t *replicaTable) Scan(ctx context.Context, scan docstore.Scan) ([]bson.Raw, bool, error) {
	shards, err := t.shardsOf(scan.Where)
	if err != nil {
		return nil, false, err
	}
	shows := local
	switch staleness := scan.As.Staleness(); {
	case scan.As == docstore.Durable:
		shows = durable
	case scan.As == docstore.Linearizable:
		shows = linearizable
	case staleness > 0 && t.replica.deposedFor(shards[0]) >= staleness: // the deposed one may lack an older write
		shows = current
	}
	of := func(s *shard, scan docstore.Scan) (page, error) {
		return read(ctx, t, s, shows, func(on docstore.Table) (p page, err error) {
			p.documents, p.more, err = on.Scan(ctx, scan)
			return p, err
		})
	}
	if len(shards) == 1 {
		p, err := of(shards[0], scan)
		return p.documents, p.more, err
	}
	fields, err := t.spec.FieldsOf(scan.Index())
	if err != nil {
		return nil, false, err
	}
	each := scan
	for _, field := range fields {
		if scan.Fields != nil {
			each.Fields = append(slices.Clip(each.Fields), field.Name)
		}
	}
	merged := merger{fields: fields, isDescending: scan.Descending}
	for _, s := range shards {
		p, err := of(s, each)
		if err == nil {
			err = merged.add(p)
		}
		if err != nil {
			return nil, false, err
		}
	}
	documents, more := merged.cut(scan.Limit, scan.MaxBytes)
	return documents, more, nil
}

// merger merges the pages of several shards.
type merger struct {
	fields       []docstore.Field
	isDescending bool
	found        []placed
	// known, unless nil, is the position up to which the pages of all shards go.
	known []docstore.Value
}

// placed is a document with its position in the order of the scan.
type placed struct {
	position []docstore.Value
	document bson.Raw
}

func (m *merger) compare(a, b []docstore.Value) int {
	order := slices.CompareFunc(a, b, docstore.Value.Compare)
	if m.isDescending {
		return -order
	}
	return order
}

func (m *merger) add(p page) error {
	var last []docstore.Value
	for _, document := range p.documents {
		last = nil
		for _, field := range m.fields {
			value, err := field.Value(document)
			if err != nil {
				return err
			}
			last = append(last, value)
		}
		m.found = append(m.found, placed{last, document})
	}
	if p.more && (m.known == nil || m.compare(last, m.known) < 0) {
		m.known = last
	}
	return nil
}

// cut returns the first documents that fit into a page.
func (m *merger) cut(limit, maxBytes int) (documents []bson.Raw, more bool) {
	slices.SortFunc(m.found, func(a, b placed) int { return m.compare(a.position, b.position) })
	size := 0
	for _, each := range m.found {
		size += len(each.document)
		isFull := len(documents) == limit || maxBytes > 0 && len(documents) > 0 && size > maxBytes
		if isFull || m.known != nil && m.compare(each.position, m.known) > 0 {
			return documents, true
		}
		documents = append(documents, each.document)
	}
	return documents, m.known != nil
}

// tickSpec is a collection whose writes show the moment of a shard, which may have no other writes.
func tickSpec() docstore.Spec {
	return docstore.Spec{Name: "replica_ticks", ID: docstore.Int64, Tombstones: true, Feed: &docstore.Feed{Rest: "all"}}
}

// Feed merges the feeds of the shards. Its chapters are the epochs of the store.
func (t *replicaTable) Feed(ctx context.Context, scan docstore.FeedScan) (docstore.FeedBatch, error) {
	if err := t.spec.CheckFeed(scan); err != nil {
		return docstore.FeedBatch{}, err
	}
	t.replica.mu.Lock()
	epoch := t.replica.epoch
	t.replica.mu.Unlock()
	batch, err := t.mergedFeed(ctx, scan)
	batch.Chapter, batch.IsElsewhere = epoch, scan.Chapter != 0 && scan.Chapter != epoch
	return batch, err
}

func (t *replicaTable) mergedFeed(ctx context.Context, scan docstore.FeedScan) (docstore.FeedBatch, error) {
	shards := t.replica.shards
	if t.spec.Sharding == docstore.OneShard {
		shards = shards[:1]
	}
	for {
		batches := make([]docstore.FeedBatch, len(shards))
		for i, s := range shards {
			var err error
			if batches[i], err = t.feedOf(ctx, s, scan); err != nil {
				return docstore.FeedBatch{}, err
			}
		}
		if len(batches) == 1 {
			return batches[0], nil
		}
		if scan.IsUnsettled {
			return docstore.FeedBatch{Changes: slices.Concat(batches[0].Changes, batches[1].Changes)}, nil
		}
		batch, isBehind := mergeFeeds(batches, scan)
		if len(batch.Changes) > 0 || !isBehind {
			return batch, nil
		}
		// A shard knows a change that another shard is not yet settled for.
		if err := pause.For(ctx, t.spec.SettlingTime()/8); err != nil {
			return docstore.FeedBatch{}, err
		}
	}
}

// feedOf reads the feed of a shard. It does not stop other calls while it waits. If the majority has become
// another server meanwhile, it reads again: no majority has acknowledged what the former one shows.
func (t *replicaTable) feedOf(ctx context.Context, s *shard, scan docstore.FeedScan) (docstore.FeedBatch, error) {
	scan.Chapter = 0 // each server has a file of its own
	for {
		var from *server
		on, err := read(ctx, t, s, majority, func(on docstore.Table) (docstore.Table, error) {
			from = s.majority
			if len(t.replica.shards) == 1 || s.isHeld() {
				return on, nil
			}
			return on, s.primary.tick(ctx)
		})
		if err != nil {
			return docstore.FeedBatch{}, err
		}
		batch, err := on.Feed(ctx, scan)
		if err != nil || t.replica.isMajority(s, from) {
			return batch, err
		}
	}
}

func (r *cluster) isMajority(s *shard, m *server) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return s.majority == m
}

// tick makes a write, so that the moment of the server is the present.
func (m *server) tick(ctx context.Context) error {
	ticks, key := m.tables[tickSpec().Name], docstore.ValueOf(int64(1))
	_, err := ticks.Update(ctx, docstore.Change{ID: key, Add: []docstore.Amount{{Field: "ticks", By: 1}}})
	if !errors.Is(err, docstore.ErrNotFound) {
		return err
	}
	first, err := bson.Marshal(bson.D{{Key: docstore.IDIndex, Value: key.Int64()}, {Key: docstore.RevisionField, Value: int64(1)}})
	if err != nil {
		return err
	}
	errs, err := ticks.Insert(ctx, []bson.Raw{first})
	return errors.Join(append(errs, err)...)
}

// mergeFeeds merges the changes up to the position that all shards know. isBehind reports that some
// changes are behind it.
func mergeFeeds(batches []docstore.FeedBatch, scan docstore.FeedScan) (batch docstore.FeedBatch, isBehind bool) {
	type position = docstore.FeedPosition
	compare := func(a, b position) int {
		switch order := cmp.Compare(a.At, b.At); {
		case order != 0 || a.ID == b.ID:
			return order
		case a.ID.IsNone(): // behind all of the moment
			return 1
		case b.ID.IsNone():
			return -1
		}
		return a.ID.Compare(b.ID)
	}
	var all []docstore.RawChange
	batch.Until = batches[0].Until
	known := batches[0].Next
	for _, each := range batches {
		all = append(all, each.Changes...)
		batch.Until = min(batch.Until, each.Until)
		batch.Forgotten = max(batch.Forgotten, each.Forgotten)
		batch.More = batch.More || each.More
		if compare(each.Next, known) < 0 {
			known = each.Next
		}
	}
	if compare(known, scan.After) < 0 {
		known = scan.After
	}
	at := func(change docstore.RawChange) position { return position{At: change.At, ID: change.ID} }
	slices.SortFunc(all, func(a, b docstore.RawChange) int { return compare(at(a), at(b)) })
	size := 0
	for i, change := range all {
		if compare(at(change), known) > 0 {
			isBehind = true
			break
		}
		size += len(change.Document)
		if i == scan.Limit || scan.MaxBytes > 0 && i > 0 && size > scan.MaxBytes {
			batch.More = true
			batch.Next = at(all[i-1])
			return batch, true
		}
		batch.Changes = append(batch.Changes, change)
	}
	batch.Next = known
	return batch, isBehind
}

// Tombstones shows what the majority has, in the order of all shards. The store's time is that of the first
// shard, which the others follow closely enough for a sweep.
func (t *replicaTable) Tombstones(ctx context.Context, after docstore.Moment, limit int) (all []docstore.Tombstone, now docstore.Moment, err error) {
	shards, err := t.shardsOf(docstore.All(docstore.IDIndex).Everywhere())
	for _, s := range shards {
		if err != nil {
			return nil, 0, err
		}
		_, err = read(ctx, t, s, majority, func(on docstore.Table) (none, error) {
			due, at, err := on.Tombstones(ctx, after, limit)
			all, now = append(all, due...), max(now, at)
			return none{}, err
		})
	}
	slices.SortFunc(all, func(a, b docstore.Tombstone) int { return cmp.Compare(a.Due, b.Due) })
	return all[:min(len(all), limit)], now, err
}

package storetest

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/waybook/waybook/internal/docstore"
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
	case scan.As == docstore.Listed:
		shows = majority
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

// tickSpec is a collection whose only document shows the moment of a shard, which may have no other writes.
func tickSpec() docstore.Spec {
	return docstore.Spec{Name: "replica_ticks", ID: docstore.Int64, Tombstones: true, Feed: &docstore.Feed{}}
}

// Changes merges the changes of the shards. It shows what the majority has.
func (t *replicaTable) Changes(ctx context.Context, scan docstore.ChangeScan) (all docstore.ChangeBatch, err error) {
	if err := t.spec.CheckChanges(scan); err != nil {
		return all, err
	}
	shards, began := t.replica.shards, time.Now()
	if t.spec.Sharding == docstore.OneShard {
		shards = shards[:1]
	}
	present, upTo := docstore.Moment(math.MaxUint64), docstore.Moment(math.MaxUint64)
	for _, s := range shards {
		batch, err := read(ctx, t, s, majority, func(on docstore.Table) (batch docstore.ChangeBatch, err error) {
			if !s.isHeld() {
				err = s.primary.tick(ctx)
			}
			if err == nil {
				batch, err = s.majority.tables[tickSpec().Name].Changes(ctx, docstore.ChangeScan{Limit: 1})
			}
			if err != nil {
				return batch, err
			}
			at := docstore.Moment(0)
			if len(batch.Changes) > 0 {
				at = batch.Changes[0].At
			}
			present = min(present, at)
			return on.Changes(ctx, scan)
		})
		if err != nil {
			return docstore.ChangeBatch{}, err
		}
		if batch.More {
			upTo, all.More = min(upTo, batch.Changes[len(batch.Changes)-1].At), true
		}
		all.Changes = append(all.Changes, batch.Changes...)
		all.Forgotten = max(all.Forgotten, batch.Forgotten)
	}
	slices.SortFunc(all.Changes, func(a, b docstore.RawChange) int { return cmp.Or(cmp.Compare(a.At, b.At), a.ID.Compare(b.ID)) })
	if beyond := slices.IndexFunc(all.Changes, func(c docstore.RawChange) bool { return c.At > upTo }); beyond >= 0 {
		all.Changes = all.Changes[:beyond]
	}
	if len(all.Changes) > scan.Limit {
		all.Changes, all.More = all.Changes[:scan.Limit], true
	}
	t.replica.mu.Lock()
	defer t.replica.mu.Unlock()
	all.Store, all.Known = t.replica.store, math.MaxUint64
	if began.Sub(t.observed[1].at) >= t.spec.SettlingTime() {
		t.observed = [2]observation{t.observed[1], {present, time.Now()}}
	}
	all.Settled = t.observed[0].moment
	return all, nil
}

// observation is a present moment of the store, which all shards had reached at a time.
type observation struct {
	moment docstore.Moment
	at     time.Time
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

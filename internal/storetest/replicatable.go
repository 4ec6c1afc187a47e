package storetest

import (
	"context"
	"errors"
	"hash/fnv"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/waybook/waybook/internal/docstore"
)

// replicaTable is a collection of a Replica.
type replicaTable struct {
	replica *Replica
	spec    docstore.Spec
	// isInspected says that the collection is read as it is, whether it is open or not.
	isInspected bool
	// observed are two present moments, at least a settling time apart.
	observed [2]observation
}

// on returns the collection on a server.
func (t *replicaTable) on(ctx context.Context, m *server) (docstore.Table, error) {
	if !t.isInspected {
		return m.tables[t.spec.Name], nil
	}
	inspection, err := m.engine.Inspect(ctx, t.spec)
	return inspection.Table, err
}

// view is what a read may show.
type view int

const (
	// local: what the server has that answers.
	local view = iota
	// current: what the primary has.
	current
	// linearizable: what the primary has, once the majority has it, too.
	linearizable
	// majority: what the majority has.
	majority
	// durable: what the majority has, or has had.
	durable
)

// read does a read of a shard.
func read[R any](ctx context.Context, t *replicaTable, s *shard, shows view, do func(docstore.Table) (R, error)) (result R, err error) {
	t.replica.mu.Lock()
	defer t.replica.mu.Unlock()
	m, err := t.replica.reader(ctx, s, shows)
	if err != nil {
		return result, err
	}
	on, err := t.on(ctx, m)
	if err != nil {
		return result, err
	}
	return do(on)
}

// reader returns the server that answers a read.
func (r *Replica) reader(ctx context.Context, s *shard, shows view) (*server, error) {
	r.trouble.stir(r.cluster, s)
	switch {
	case shows == durable && s.lateReads > 0 && r.isRecent(s.rememberedAt):
		s.lateReads--
		r.note("shard %d shows what it remembers", s.number)
		return s.remembered, nil
	case shows == majority || shows == durable:
		return s.majority, nil
	case shows == local && s.staleReads > 0 && r.isRecent(s.deposedAt) && r.knows[s.number] < s.elections && r.trouble.isStale():
		s.staleReads--
		r.note("the deposed primary of shard %d answers", s.number)
		return s.deposed, nil
	case shows == linearizable && s.isHeld():
		if err := r.await(ctx, s); err != nil {
			return nil, err
		}
	}
	r.knows[s.number] = s.elections
	return s.primary, nil
}

// await lets a call wait while replication is held, or fail.
func (r *cluster) await(ctx context.Context, s *shard) error {
	if r.trouble != nil {
		return r.trouble.awaitIn(r, s)
	}
	if !r.settings.HeldCallsWait {
		return errHeld
	}
	resumed := s.resumed
	r.mu.Unlock()
	defer r.mu.Lock()
	select {
	case <-resumed:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// write does a write of a shard. As a driver does, it repeats a write that was rolled back before it was
// acknowledged.
func write[R any](ctx context.Context, t *replicaTable, s *shard, do func(context.Context, docstore.Table) (R, error)) (result R, err error) {
	r := t.replica
	r.mu.Lock()
	defer r.mu.Unlock()
	for {
		r.trouble.stir(r.cluster, s)
		if r.trouble.isRefused() {
			r.note("a write of %s is not made", t.spec.Name)
			return result, errOpen
		}
		r.knows[s.number] = s.elections
		s.primary.clock.forget()
		result, err = do(ctx, s.primary.tables[t.spec.Name])
		if ctx.Err() != nil || errors.Is(err, docstore.ErrUnavailable) {
			return result, err
		}
		if !s.isHeld() {
			s.lateReads = 0
			if r.trouble.isUnanswered() {
				r.note("the reply to a write of %s is lost", t.spec.Name)
				return result, errOpen
			}
			return result, err
		}
		r.note("a write of %s is held", t.spec.Name)
		mine := &heldWrite{err: err, times: s.primary.clock.forget(), again: func(m *server) error {
			_, err := do(context.WithoutCancel(ctx), m.tables[t.spec.Name])
			return err
		}}
		s.held = append(s.held, mine)
		if failure := r.await(ctx, s); failure != nil {
			var none R
			return none, failure
		}
		if !mine.isLost {
			return result, err
		}
	}
}

// none is the result of a write that returns an error only.
type none struct{}

// shardOf returns the shard of a document.
func (t *replicaTable) shardOf(key docstore.Value) *shard {
	all := t.replica.shards
	switch {
	case t.spec.Sharding == docstore.OneShard || key.Kind() != t.spec.ID:
		return all[0]
	case t.spec.Sharding == docstore.ByPlace:
		place, _ := t.spec.PlaceOfID(key)
		return all[int(place)%len(all)]
	}
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(key.String())) // never fails
	return all[int(hash.Sum32())%len(all)]
}

// shardsOf returns the shards that a selection asks.
func (t *replicaTable) shardsOf(where docstore.Where) ([]*shard, error) {
	all := t.replica.shards
	if len(all) == 1 {
		return all, nil
	}
	if key, isOne := where.OneID(); isOne {
		return []*shard{t.shardOf(key)}, nil
	}
	place, isPlaced, err := t.spec.PlaceOf(where)
	switch {
	case err != nil:
		return nil, err
	case t.spec.Sharding == docstore.OneShard:
		return all[:1], nil
	case isPlaced:
		return all[int(place)%len(all):][:1], nil
	}
	return all, nil
}

// group is what goes to one shard, with its places in the whole.
type group[E any] struct {
	shard  *shard
	items  []E
	places []int
}

// grouped divides the items of a call by the shards of their ids. There is at least one group.
func grouped[E any](t *replicaTable, items []E, key func(E) docstore.Value) []group[E] {
	var groups []group[E]
	for _, s := range t.replica.shards {
		of := group[E]{shard: s}
		for i, item := range items {
			if t.shardOf(key(item)) == s {
				of.items, of.places = append(of.items, item), append(of.places, i)
			}
		}
		if len(of.items) > 0 {
			groups = append(groups, of)
		}
	}
	if len(groups) == 0 {
		groups = append(groups, group[E]{shard: t.replica.shards[0]})
	}
	return groups
}

func (t *replicaTable) Insert(ctx context.Context, documents []bson.Raw) ([]error, error) {
	ids := docstore.Field{Name: docstore.IDIndex, Kind: t.spec.ID}
	key := func(document bson.Raw) docstore.Value {
		value, err := ids.Value(document)
		if err != nil {
			return docstore.Value{} // whichever shard gets it refuses it
		}
		return value
	}
	errs := make([]error, len(documents))
	for _, of := range grouped(t, documents, key) {
		refusals, err := write(ctx, t, of.shard, func(ctx context.Context, on docstore.Table) ([]error, error) { return on.Insert(ctx, of.items) })
		if err != nil {
			return nil, err
		}
		for i, refusal := range refusals {
			errs[of.places[i]] = refusal
		}
	}
	return errs, nil
}

func (t *replicaTable) Update(ctx context.Context, change docstore.Change) (bson.Raw, error) {
	return write(ctx, t, t.shardOf(change.ID), func(ctx context.Context, on docstore.Table) (bson.Raw, error) { return on.Update(ctx, change) })
}

func (t *replicaTable) UpdateMany(ctx context.Context, changes []docstore.Change) (made int64, err error) {
	for _, of := range grouped(t, changes, func(change docstore.Change) docstore.Value { return change.ID }) {
		n, err := write(ctx, t, of.shard, func(ctx context.Context, on docstore.Table) (int64, error) { return on.UpdateMany(ctx, of.items) })
		made += n
		if err != nil {
			return made, err
		}
	}
	return made, nil
}

func (t *replicaTable) Delete(ctx context.Context, deletion docstore.Deletion) error {
	_, err := write(ctx, t, t.shardOf(deletion.ID), func(ctx context.Context, on docstore.Table) (none, error) {
		return none{}, on.Delete(ctx, deletion)
	})
	return err
}

func (t *replicaTable) DeleteAll(ctx context.Context, where docstore.Where) (int64, error) {
	return t.sum(where, func(s *shard) (int64, error) {
		return write(ctx, t, s, func(ctx context.Context, on docstore.Table) (int64, error) { return on.DeleteAll(ctx, where) })
	})
}

// deleteFirst deletes a document of a selection, and reports whether there was one. No stale read chooses
// it: DeleteAll of an engine deletes what the primary has.
func (t *replicaTable) deleteFirst(ctx context.Context, where docstore.Where) (isOne bool, err error) {
	shards, err := t.shardsOf(where)
	for i := 0; i < len(shards) && err == nil && !isOne; i++ {
		isOne, err = write(ctx, t, shards[i], func(ctx context.Context, on docstore.Table) (bool, error) {
			first, _, err := on.Scan(ctx, docstore.Scan{Where: where, Limit: 1})
			if err != nil || len(first) == 0 {
				return false, err
			}
			return true, deleteOne(ctx, on, t.spec, first[0])
		})
	}
	return isOne, err
}

func (t *replicaTable) Postpone(ctx context.Context, tombstone docstore.Tombstone, until docstore.Moment) error {
	_, err := write(ctx, t, t.shardOf(tombstone.ID), func(ctx context.Context, on docstore.Table) (none, error) {
		return none{}, on.Postpone(ctx, tombstone, until)
	})
	return err
}

func (t *replicaTable) Forget(ctx context.Context, tombstone docstore.Tombstone) error {
	_, err := write(ctx, t, t.shardOf(tombstone.ID), func(ctx context.Context, on docstore.Table) (none, error) {
		return none{}, on.Forget(ctx, tombstone)
	})
	return err
}

// sum adds the numbers of the shards of a selection.
func (t *replicaTable) sum(where docstore.Where, of func(*shard) (int64, error)) (sum int64, err error) {
	shards, err := t.shardsOf(where)
	for _, s := range shards {
		n, err := of(s)
		sum += n
		if err != nil {
			return sum, err
		}
	}
	return sum, err
}

func (t *replicaTable) Count(ctx context.Context, where docstore.Where) (int64, error) {
	return t.sum(where, func(s *shard) (int64, error) {
		return read(ctx, t, s, local, func(on docstore.Table) (int64, error) { return on.Count(ctx, where) })
	})
}

// Inspect inspects the collection on all shards.
func (r *Replica) Inspect(ctx context.Context, spec docstore.Spec) (all docstore.Inspection, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.shards {
		each, err := s.primary.engine.Inspect(ctx, spec)
		if err != nil {
			return docstore.Inspection{}, err
		}
		all.Exists = all.Exists || each.Exists
		all.Missing, all.Undeclared = append(all.Missing, each.Missing...), append(all.Undeclared, each.Undeclared...)
	}
	for _, names := range []*[]string{&all.Missing, &all.Undeclared} {
		slices.Sort(*names)
		*names = slices.Compact(*names)
	}
	all.Table = docstore.ReadOnly(&replicaTable{replica: r, spec: spec, isInspected: true})
	return all, nil
}

package storetest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/waybook/waybook/internal/docstore"
)

// Open opens a collection on every server, and builds the indexes that it lacks. It drops none, because other
// processes may use them.
func (r *Replica) Open(ctx context.Context, spec docstore.Spec) (docstore.Table, error) {
	if err := spec.Validate(); err != nil {
		return nil, err
	}
	t, isNew, err := r.open(ctx, spec)
	if err != nil {
		return nil, err
	}
	if isNew {
		_, err = t.backfill(ctx)
	}
	return t, err
}

func (r *Replica) open(ctx context.Context, spec docstore.Spec) (t *replicaTable, isNew bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, open := range r.opened {
		switch {
		case open.spec.Name != spec.Name:
		case !reflect.DeepEqual(open.spec, spec):
			return nil, false, fmt.Errorf("collection %q is already open with another declaration", spec.Name)
		default:
			return open, false, nil
		}
	}
	if err := r.declare(ctx, served(spec)); err != nil {
		return nil, false, err
	}
	t = &replicaTable{replica: r, spec: spec}
	r.opened = append(r.opened, t)
	return t, true, nil
}

// declare makes the servers have the indexes of a collection.
func (r *cluster) declare(ctx context.Context, spec docstore.Spec) error {
	at := slices.IndexFunc(r.specs, func(known docstore.Spec) bool { return known.Name == spec.Name })
	if at < 0 {
		for _, m := range r.serving() {
			if err := m.open(ctx, spec); err != nil {
				return err
			}
		}
		r.specs = append(r.specs, spec)
		return nil
	}
	union := r.specs[at]
	union.Indexes = slices.Clone(union.Indexes)
	for _, index := range spec.Indexes {
		known := slices.IndexFunc(union.Indexes, func(has docstore.Index) bool { return has.Name == index.Name })
		if known < 0 {
			union.Indexes = append(union.Indexes, index)
		} else if !reflect.DeepEqual(union.Indexes[known], index) {
			return fmt.Errorf("another process has declared index %q of collection %q in another way", index.Name, spec.Name)
		}
	}
	if union.ID != spec.ID {
		return fmt.Errorf("another process has declared another kind of _id in collection %q", spec.Name)
	}
	if len(union.Indexes) == len(r.specs[at].Indexes) {
		return nil
	}
	r.note("the servers build indexes of %s", spec.Name)
	r.specs[at] = union
	for _, s := range r.shards {
		r.resume(s) // a build ends when a majority has it
		r.replace(s, s.primary)
	}
	return nil
}

// replace puts a copy of a server in the place of all servers of a shard.
func (r *cluster) replace(s *shard, by *server) {
	s.primary = r.newServer(by)
	s.majority, s.deposed, s.remembered = s.primary, nil, nil
	s.staleReads, s.lateReads = 0, 0
}

// served returns the declaration of a collection for servers. As MongoDB does, they find a document without
// the field of an index in none of its selections. What the default of the field is, only processes know.
func served(spec docstore.Spec) docstore.Spec {
	spec.Indexes = slices.Clone(spec.Indexes)
	for i, index := range spec.Indexes {
		if _, has := spec.Defaults[index.Fields[0].Name]; has && len(index.Fields) == 1 {
			spec.Indexes[i].Sparse = true
		}
	}
	spec.Defaults = nil
	return spec
}

// Backfill stores the defaults that the process knows in the documents that lack them.
func (r *Replica) Backfill(ctx context.Context) (total int64, err error) {
	r.mu.Lock()
	opened := slices.Clone(r.opened)
	r.mu.Unlock()
	for _, t := range opened {
		n, err := t.backfill(ctx)
		total += n
		if err != nil {
			return total, err
		}
	}
	return total, nil
}

// backfilled bounds how many documents a backfill looks at.
const backfilled = 100_000

// backfill is Backfill of a collection. The defaults are integers. To add one to a field that is missing
// stores it, and leaves the revision as it is.
func (t *replicaTable) backfill(ctx context.Context) (total int64, err error) {
	if len(t.spec.Defaults) == 0 {
		return 0, nil
	}
	found, _, err := t.Scan(ctx, docstore.Scan{Where: docstore.All(docstore.IDIndex).Everywhere(), Limit: backfilled})
	if err != nil {
		return 0, err
	}
	id := docstore.Field{Name: docstore.IDIndex, Kind: t.spec.ID}
	for _, document := range found {
		for field, value := range t.spec.Defaults {
			if _, err := document.LookupErr(field); err == nil {
				continue
			}
			key, err := id.Value(document)
			if err != nil {
				return total, err
			}
			amount, _ := value.BSON().(int64)
			_, err = t.Update(ctx, docstore.Change{ID: key, If: []docstore.Condition{docstore.Lacks(field)}, Add: []docstore.Amount{{Field: field, By: amount}}})
			switch {
			case err == nil:
				total++
			case !errors.Is(err, docstore.ErrConflict) && !errors.Is(err, docstore.ErrNotFound):
				return total, err
			}
		}
	}
	return total, nil
}

package storetest

import (
	"context"
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
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, open := range r.opened {
		switch {
		case open.spec.Name != spec.Name:
		case !reflect.DeepEqual(open.spec, spec):
			return nil, fmt.Errorf("collection %q is already open with another declaration", spec.Name)
		default:
			return open, nil
		}
	}
	if err := r.declare(ctx, spec); err != nil {
		return nil, err
	}
	t := &replicaTable{replica: r, spec: spec}
	r.opened = append(r.opened, t)
	return t, nil
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
	if !reflect.DeepEqual(r.specs[at], spec) {
		return fmt.Errorf("another process has declared collection %q in another way", spec.Name)
	}
	return nil
}

// replace puts a copy of a server in the place of all servers of a shard.
func (r *cluster) replace(s *shard, by *server) {
	s.primary = r.newServer(by)
	s.majority, s.deposed, s.remembered = s.primary, nil, nil
	s.staleReads, s.lateReads = 0, 0
}

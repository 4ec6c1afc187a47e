package storetest

import (
	"context"

	"github.com/waybook/waybook/internal/chance"
)

// Snapshot is what the shards of a Replica had at one moment.
type Snapshot struct{ servers []*server }

// Snapshot returns what the primaries have, which lack nothing: no replication is held.
func (r *cluster) Snapshot() (taken Snapshot) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.shards {
		taken.servers = append(taken.servers, r.newServer(s.primary))
	}
	return taken
}

// Restore puts a snapshot in the place of what the shards have, as an operator does with the tools of a database
// while no process runs. Followers do not notice it before Renew.
func (r *cluster) Restore(taken Snapshot) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.note("a snapshot is restored")
	for n, s := range r.shards {
		r.resume(s)
		r.replace(s, taken.servers[n])
	}
}

// Renew implements docstore.Engine.
func (r *cluster) Renew(context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.store = newStore()
	return nil
}

// newStore returns an identifier of a store.
func newStore() int64 { return 1 + chance.Below[int64](1<<62) }

package storetest

import "github.com/waybook/waybook/internal/chance"

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
// while no process runs. Followers of feeds do not notice it before RenewFeeds.
func (r *cluster) Restore(taken Snapshot) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.note("a snapshot is restored")
	for n, s := range r.shards {
		r.resume(s)
		r.replace(s, taken.servers[n])
	}
}

// RenewFeeds makes the feeds refuse the tokens of before, as the command for MongoDB does.
func (r *cluster) RenewFeeds() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.epoch = newEpoch()
}

// newEpoch returns the name of a history of the feeds.
func newEpoch() int64 { return 1 + chance.Below[int64](1<<62) }

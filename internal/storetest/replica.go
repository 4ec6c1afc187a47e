package storetest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/docstore/embedded"
)

// Replica is a store that fails as a MongoDB cluster does. It has one or more shards, and places are
// divided over them. Each shard is a small replica set, whose servers are embedded stores:
//
//   - The primary takes the writes. A write is acknowledged when the majority has it.
//   - Hold stops replication. A present Scan, Count and Highest show what only the primary has. A durable
//     Scan and Changes show what the majority has.
//   - Fail makes another server the primary. What only the old one had is rolled back. Until a majority has
//     a write of the new one, a durable Scan may show what the majority had when Remember was called last, within a minute.
//   - The deposed primary may still answer a present Scan, Count and Highest with what it had, rolled
//     back or not, until the process that asks has talked to the new one. It answers a recent Scan within
//     the staleness only, and a linearizable one never.
//
// Replica is the store as one process sees it; Process returns that of another. A test makes these events
// happen, or they happen by themselves (Trouble). Calls and events happen one at a time. So a
// seed gives a test of one goroutine the same events each time.
type Replica struct {
	*cluster
	// knows is the election of each shard that the process has noticed.
	knows []int
	// opened are the collections that the process has opened.
	opened []*replicaTable
}

// cluster is what the processes share.
type cluster struct {
	settings ReplicaSettings
	t        testing.TB
	// directory has the files of the servers.
	directory string
	clock     storeClock

	mu sync.Mutex
	// store identifies the store to followers.
	store int64
	// specs declare the indexes of all processes.
	specs   []docstore.Spec
	shards  []*shard
	servers []*server
	trouble *trouble
	events  []string
}

var _ docstore.Engine = (*Replica)(nil)

// ReplicaSettings say how a Replica behaves.
type ReplicaSettings struct {
	// Shards is the number of shards; 0 means 1.
	Shards int
	// Now is the clock of the servers; nil means time.Now.
	Now func() time.Time
	// HeldCallsWait makes writes and linearizable reads wait while replication is held. Otherwise they
	// fail with ErrUnavailable at once, the writes after the primary has made them.
	HeldCallsWait bool
}

// Failover is an election of another primary.
type Failover struct {
	// Shard is the number of the shard, from 0 on.
	Shard int
	// Replicated is how many of the writes that were held reached the new primary. The others are
	// rolled back.
	Replicated int
	// StaleReads is how many reads the deposed primary answers before it knows. LateReads is how many
	// durable reads the new one answers with what it remembers.
	StaleReads, LateReads int
	// ClockStep is how far the new primary's clock is ahead of the old one's. Stamps grow nevertheless.
	ClockStep time.Duration
}

// shard is a replica set.
type shard struct {
	number int
	// majority is the primary itself unless replication is held.
	primary, majority *server
	// remembered is the majority as it was at a time. It answers lateReads more reads.
	remembered   *server
	rememberedAt time.Time
	lateReads    int
	// held are the writes that only the primary has. resumed is closed when they are no longer held.
	held    []*heldWrite
	resumed chan struct{}
	// elections is how many there were.
	elections int
	// deposed is the primary before, which was deposed at a time. It answers staleReads more reads.
	deposed    *server
	deposedAt  time.Time
	staleReads int
}

func (s *shard) isHeld() bool { return s.majority != s.primary }

// heldWrite is a write that only a primary has.
type heldWrite struct {
	// again makes the write on another server.
	again func(*server) error
	// err is its refusal, and times are what it read from the clock.
	err    error
	times  []time.Time
	isLost bool
}

var (
	errHeld = fmt.Errorf("%w: no majority has acknowledged it", docstore.ErrUnavailable)
	errOpen = fmt.Errorf("%w: the connection broke", docstore.ErrUnavailable)
)

// NewReplica returns an empty store, which is closed at the end of the test.
func NewReplica(t testing.TB, settings ReplicaSettings) *Replica {
	t.Helper()
	r := &Replica{cluster: &cluster{settings: settings, t: t, directory: FastDirectory(t), store: newStore()}}
	if r.settings.Now == nil {
		r.settings.Now = time.Now
	}
	r.clock.now = r.settings.Now
	t.Cleanup(func() {
		r.expect(r.Close())
		if t.Failed() {
			t.Logf("events of the store: %s", strings.Join(r.events, "; "))
		}
	})
	for n := range cmp.Or(settings.Shards, 1) {
		first := r.newServer(nil)
		r.shards = append(r.shards, &shard{number: n, primary: first, majority: first})
		r.knows = append(r.knows, 0)
	}
	_, err := r.Open(context.Background(), tickSpec())
	r.expect(err)
	return r
}

// Process returns the store as another process sees it, which has just started.
func (r *Replica) Process() *Replica {
	return &Replica{cluster: r.cluster, knows: make([]int, len(r.shards))}
}

// FastDirectory returns a directory in memory, where a sync costs nothing, if there is one.
func FastDirectory(t testing.TB) string {
	t.Helper()
	directory, err := os.MkdirTemp("/dev/shm", "replica")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(directory); err != nil {
			t.Error(err)
		}
	})
	return directory
}

// expect reports an error of the store itself, which no event explains.
func (r *cluster) expect(err error) {
	if err != nil {
		r.t.Errorf("replica: %v", err)
	}
}

func (r *cluster) note(format string, args ...any) {
	r.events = append(r.events, fmt.Sprintf(format, args...))
}

// Hold stops the replication of a shard, unless it is held.
func (r *cluster) Hold(shard int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hold(r.shards[shard])
}

func (r *cluster) hold(s *shard) {
	if s.isHeld() {
		return
	}
	r.note("replication of shard %d is held", s.number)
	s.majority, s.resumed = r.newServer(s.primary), make(chan struct{})
}

// Resume lets the majority have what only the primary has.
func (r *cluster) Resume(shard int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.resume(r.shards[shard])
}

func (r *cluster) resume(s *shard) {
	if !s.isHeld() {
		return
	}
	r.note("replication of shard %d goes on, with %d writes", s.number, len(s.held))
	s.majority = s.primary
	s.release()
}

// release ends the wait of the writes that are held.
func (s *shard) release() {
	s.held = nil
	close(s.resumed)
}

// Remember keeps what the majority of a shard has now. The shard is not held.
func (r *cluster) Remember(shard int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.remember(r.shards[shard])
}

func (r *cluster) remember(s *shard) {
	s.remembered, s.rememberedAt = r.newServer(s.primary), r.settings.Now()
}

// mostLag is how long after an event reads may show what was before it: a deposed primary steps down once it
// hears no majority, and the majority's state that a new one knows is not older.
const mostLag = time.Minute

func (r *cluster) isRecent(moment time.Time) bool { return r.settings.Now().Sub(moment) <= mostLag }

// Fail makes another server the primary.
func (r *cluster) Fail(failover Failover) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fail(failover)
}

func (r *cluster) fail(f Failover) {
	s := r.shards[f.Shard]
	r.note("shard %d fails over; of %d writes that were held, %d were replicated; the deposed primary answers %d reads; the clock steps by %v",
		f.Shard, len(s.held), min(f.Replicated, len(s.held)), f.StaleReads, f.ClockStep)
	r.clock.step(f.ClockStep)
	s.elections++
	s.deposed, s.deposedAt, s.staleReads = s.primary, r.settings.Now(), f.StaleReads
	if s.remembered != nil {
		s.lateReads = f.LateReads
	}
	if !s.isHeld() {
		s.primary = r.newServer(s.primary)
		s.majority = s.primary
		return
	}
	s.primary = s.majority
	for i, write := range s.held {
		if write.isLost = i >= f.Replicated; write.isLost {
			continue
		}
		s.primary.clock.replay(write.times)
		if err := write.again(s.primary); !reflect.DeepEqual(err, write.err) {
			r.expect(fmt.Errorf("a write that is replicated: %v; before: %v", err, write.err))
		}
	}
	s.release()
}

// Settle ends all that is going on, and all trouble: replication goes on, and deposed primaries answer no
// more.
func (r *cluster) Settle() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.trouble = nil
	for _, s := range r.shards {
		r.resume(s)
		s.staleReads, s.lateReads = 0, 0
	}
	r.note("settled")
}

// Events returns what has happened, in its order.
func (r *cluster) Events() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string(nil), r.events...)
}

// server is a server of a shard: a store of its own.
type server struct {
	engine *embedded.Engine
	tables map[string]docstore.Table
	clock  serverClock
}

// newServer returns a new server, with a copy of another one's data unless that is nil.
func (r *cluster) newServer(of *server) *server {
	m := &server{tables: map[string]docstore.Table{}, clock: serverClock{store: &r.clock}}
	path := filepath.Join(r.directory, fmt.Sprintf("%d.db", len(r.servers)))
	if of != nil {
		r.expect(of.copyTo(path))
	}
	engine, err := embedded.OpenWithClock(path, m.clock.now)
	if err != nil {
		r.t.Fatalf("replica: %v", err)
	}
	m.engine = engine
	r.servers = append(r.servers, m)
	for _, spec := range r.specs {
		r.expect(m.open(context.Background(), spec))
	}
	return m
}

func (m *server) copyTo(path string) (err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600) // #nosec G304 -- in the directory of the test
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	return m.engine.Backup(context.Background(), file, func(int64) error { return nil })
}

func (m *server) open(ctx context.Context, spec docstore.Spec) error {
	table, err := m.engine.Open(ctx, spec)
	if err == nil {
		m.tables[spec.Name] = table
	}
	return err
}

// serving returns the servers that may serve a call from now on.
func (r *cluster) serving() (all []*server) {
	for _, s := range r.shards {
		all = append(all, s.primary)
		if s.isHeld() {
			all = append(all, s.majority)
		}
		for _, former := range []*server{s.deposed, s.remembered} {
			if former != nil {
				all = append(all, former)
			}
		}
	}
	return all
}

// IsLocal returns true: then callers read in an order that a seed repeats.
func (r *cluster) IsLocal() bool { return true }

// Ping pings the primaries.
func (r *cluster) Ping(ctx context.Context) (err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.shards {
		err = errors.Join(err, s.primary.engine.Ping(ctx))
	}
	return err
}

// Close closes all servers.
func (r *cluster) Close() (err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.shards {
		r.resume(s)
	}
	for _, m := range r.servers {
		err = errors.Join(err, m.engine.Close())
	}
	return err
}

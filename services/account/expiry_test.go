package account

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/waybook/waybook/internal/docstore"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

// addSessions stores sessions of a user that end at the given times.
func (s *server) addSessions(t testing.TB, user int64, ends ...time.Time) {
	t.Helper()
	stored := make([]session, len(ends))
	for i, end := range ends {
		stored[i] = session{ID: tokenID(fmt.Sprint(user, i, end)), UserID: user, ExpireMillis: end.UnixMilli()}
	}
	insert(t, s.sessions, stored)
}

func insert[K docstore.Key, T any](t testing.TB, c *docstore.Collection[K, T], documents []T) {
	t.Helper()
	if err := c.Insert(t.Context(), documents...); err != nil {
		t.Fatal(err)
	}
}

func count[K docstore.Key, T any](t testing.TB, c *docstore.Collection[K, T]) int64 {
	t.Helper()
	n, err := c.Count(t.Context(), docstore.All(docstore.IDIndex).Everywhere())
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// every returns n times from first on, a step apart.
func every(step time.Duration, first time.Time, n int) []time.Time {
	times := make([]time.Time, n)
	for i := range times {
		times[i] = first.Add(time.Duration(i) * step)
	}
	return times
}

func TestClosingAllSessionsOfAUserDoesNotSweepThoseOfOthers(t *testing.T) {
	b := newBench(t)
	s := b.newServer(t)
	user, other := s.newUser(t, "", ""), s.newUser(t, "", "")
	const expired = 10_000
	s.addSessions(t, other, every(time.Millisecond, b.clock().Add(-time.Hour), expired)...)
	s.addSessions(t, user, b.clock().Add(-time.Hour), b.clock(), b.clock().Add(time.Hour), b.clock().Add(2*time.Hour))
	reply, err := s.CloseAllSessions(t.Context(), &accountv1.CloseAllSessionsRequest{UserId: user})
	if err != nil || reply.GetClosedCount() != 2 {
		t.Errorf("closed %v, %v, want 2", reply, err)
	}
	if left := count(t, s.sessions); left != expired {
		t.Errorf("%d sessions are left, want the %d of the other user", left, expired)
	}
}

// TestThreeReplicasSweepAtOnce expects that all expired documents go, and nothing else.
func TestThreeReplicasSweepAtOnce(t *testing.T) {
	b := newBench(t)
	replicas := []*server{b.newServer(t), b.newServer(t), b.newServer(t)}
	s, now := replicas[0], b.clock()
	const expired, open = 5000, 500
	ends := append(every(-time.Second, now, expired), every(time.Millisecond, now.Add(time.Millisecond), open)...)
	s.addSessions(t, 1, ends...)
	var counts []attempts
	for i, end := range ends {
		counts = append(counts, attempts{ID: fmt.Sprint(i), ExpireMillis: end.UnixMilli()})
	}
	insert(t, s.logins.attempts, counts)
	var all sync.WaitGroup
	for _, replica := range replicas {
		all.Go(func() {
			if err := replica.Sweep(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	expectLeft(t, s.sessions, now, open)
	expectLeft(t, s.logins.attempts, now, open)
}

// expectLeft checks that this many documents are left, and that none of them has expired.
func expectLeft[K docstore.Key, T any](t *testing.T, c *docstore.Collection[K, T], now time.Time, want int64) {
	t.Helper()
	expired, err := c.Count(t.Context(), byExpiry().In(docstore.UpTo(now.UnixMilli())).Everywhere())
	if left := count(t, c); err != nil || left != want || expired != 0 {
		t.Errorf("%s: %d documents are left, %d of them expired, want %d (%v)", c.Name(), left, expired, want, err)
	}
}

func TestASweepRemovesWhatHasExpiredWhenItBeginsAndEnds(t *testing.T) {
	b := newBench(t)
	s, began := b.newServer(t), b.clock()
	s.addSessions(t, 1, every(time.Second, began.Add(-time.Hour), 5000)...)
	isFirst := true
	s.now = func() time.Time {
		if !isFirst {
			b.advance(time.Minute) // more expires each time that the sweep looks at the clock
		}
		isFirst = false
		return b.clock()
	}
	if err := s.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	expectLeft(t, s.sessions, began, 5000-3601)
}

// halfway is a store whose ranges can be deleted only once.
type halfway struct {
	docstore.Engine
	isOver bool
}

var errHalfway = errors.New("the process was killed")

func (h *halfway) Open(ctx context.Context, spec docstore.Spec) (docstore.Table, error) {
	opened, err := h.Engine.Open(ctx, spec)
	return halfwayTable{opened, h}, err
}

type halfwayTable struct {
	docstore.Table
	store *halfway
}

func (t halfwayTable) DeleteAll(ctx context.Context, where docstore.Where) (int64, error) {
	if t.store.isOver {
		return 0, errHalfway
	}
	t.store.isOver = true
	return t.Table.DeleteAll(ctx, where)
}

func TestSweepsBeginAtDifferentMoments(t *testing.T) {
	b := newBench(t)
	whole := b.newServer(t)
	store := &halfway{Engine: b.store}
	b.store = store
	broken := b.newServer(t)
	left := map[int64]bool{}
	for range 20 {
		whole.addSessions(t, 1, every(-time.Second, b.clock(), 1000)...)
		store.isOver = false
		if err := removeExpired(t.Context(), broken.sessions, b.clock(), endOf); !errors.Is(err, errHalfway) {
			t.Fatalf("got %v", err)
		}
		left[count(t, whole.sessions)] = true
		if err := whole.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if len(left) < 10 {
		t.Errorf("after the first of two ranges, 20 sweeps leave only these counts: %v", left)
	}
}

// BenchmarkSweepExpired reports how many expired sessions a sweep removes per second.
func BenchmarkSweepExpired(b *testing.B) {
	const expired = 20_000
	bench := newBench(b)
	s := bench.newServer(b)
	for b.Loop() {
		b.StopTimer()
		s.addSessions(b, 1, every(time.Millisecond, bench.clock().Add(-time.Hour), expired)...)
		b.StartTimer()
		if err := s.Sweep(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(expired)*float64(b.N)/b.Elapsed().Seconds(), "documents/s")
	b.ReportMetric(0, "ns/op")
}

func endOf(old session) int64 { return old.ExpireMillis }

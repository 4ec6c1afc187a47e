package account

import (
	"fmt"
	"testing"
	"time"

	"github.com/waybook/waybook/internal/docstore"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

// addSessions stores sessions of a user that end at the given times.
func (s *Server) addSessions(t testing.TB, user int64, ends ...time.Time) {
	t.Helper()
	stored := make([]session, len(ends))
	for i, end := range ends {
		stored[i] = session{ID: sessionID(fmt.Sprint(user, i, end)), UserID: user, ExpireMillis: end.UnixMilli()}
	}
	insert(t, s.sessions, stored)
}

func insert[T any](t testing.TB, c *docstore.Collection[string, T], documents []T) {
	t.Helper()
	errs, err := c.InsertMany(t.Context(), documents)
	for _, each := range errs {
		if err == nil {
			err = each
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

func count[T any](t testing.TB, c *docstore.Collection[string, T]) int64 {
	t.Helper()
	n, err := c.Count(t.Context(), docstore.All(docstore.IDIndex))
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

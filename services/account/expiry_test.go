package account

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/storetest"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	"google.golang.org/grpc/codes"
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

func TestSweepsBeginAtDifferentMoments(t *testing.T) {
	b := newBench(t)
	whole := b.newServer(t)
	isOver, errHalfway := false, errors.New("the process was killed")
	b.store = &storetest.Hooked{Engine: b.store, Write: func(_ context.Context, _ storetest.Call, do func() error) error {
		if isOver {
			return errHalfway
		}
		isOver = true
		return do()
	}}
	broken := b.newServer(t)
	first := map[int]bool{}
	for range 20 {
		ends := every(-time.Second, b.clock(), 100)
		whole.addSessions(t, 1, ends...)
		isOver = false
		if err := removeExpired(t.Context(), broken.sessions, b.clock()); !errors.Is(err, errHalfway) {
			t.Fatalf("got %v", err)
		}
		for i, end := range ends {
			if _, err := whole.sessions.Get(t.Context(), tokenID(fmt.Sprint(1, i, end))); err != nil {
				first[i] = true
			}
		}
		if err := whole.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if len(first) < 10 {
		t.Errorf("20 sweeps began with these sessions only: %v", first)
	}
}

// TestAProcessWhoseClockIsAheadRemovesNothingThatOthersNeed lets it sweep.
func TestAProcessWhoseClockIsAheadRemovesNothingThatOthersNeed(t *testing.T) {
	b := newBench(t)
	s := b.newServerOf(t, Config{Sessions: SessionLife{Total: time.Hour}})
	user := s.newUser(t, "a@waybook.example", "password of a")
	opened := s.open(t, user)
	s.logins.limits.pair = 1
	wantFault(t, s.logIn(t.Context(), "a@waybook.example", "wrong", "client"), codes.Unauthenticated, "PASSWORD_INCORRECT")
	ahead := &bench{store: b.store, now: b.clock().Add(365 * 24 * time.Hour)}
	if err := ahead.newServer(t).Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.verifySession(t, opened); err != nil {
		t.Errorf("the session: %v", err)
	}
	wantFault(t, s.logIn(t.Context(), "a@waybook.example", "password of a", "client"), codes.ResourceExhausted, "TOO_MANY_ATTEMPTS")
}

package account

import (
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

func (b *bench) newServerWithSessions(t testing.TB, limit int) *server {
	t.Helper()
	return b.newServerOf(t, Config{Sessions: SessionLife{Total: time.Hour}, SessionsPerUser: limit})
}

func TestANewSessionClosesTheOldestOfTooMany(t *testing.T) {
	const limit = 3
	b := newBench(t)
	s := b.newServerWithSessions(t, limit)
	user, other := s.newUser(t, "", ""), s.newUser(t, "", "")
	spared := s.open(t, other)
	var opened []*accountv1.VerifySessionRequest
	for range 3 * limit {
		opened = append(opened, s.open(t, user))
		b.advance(time.Second)
		for i, session := range opened {
			if i < len(opened)-limit {
				wantFault(t, s.verifySession(t, session), codes.Unauthenticated, "LOGIN_REQUIRED")
			} else if err := s.verifySession(t, session); err != nil {
				t.Fatalf("session %d of %d: %v", i, len(opened), err)
			}
		}
	}
	if err := s.verifySession(t, spared); err != nil {
		t.Errorf("the session of another user: %v", err)
	}
}

func TestSessionsThatAreNotOpenTakeNoRoom(t *testing.T) {
	const limit = 3
	b := newBench(t)
	s := b.newServerWithSessions(t, limit)
	user := s.newUser(t, "", "")
	s.addSessions(t, user, every(-time.Second, b.clock(), 10)...)
	for generation := range int64(5) {
		stored := session{
			ID: tokenID(newToken()), UserID: user, CredentialGeneration: generation + 1, ExpireMillis: b.clock().Add(time.Hour).UnixMilli(),
		}
		if err := s.sessions.Insert(t.Context(), stored); err != nil {
			t.Fatal(err)
		}
	}
	for range limit {
		s.open(t, user)
	}
	if listed := s.list(t, user); len(listed) != limit {
		t.Errorf("%d sessions are open", len(listed))
	}
}

func TestConcurrentLoginsExceedTheLimitOfSessionsByTheirNumberAtMost(t *testing.T) {
	const limit, openers = 5, 8
	b := newBench(t)
	servers := []*server{b.newServerWithSessions(t, limit), b.newServerWithSessions(t, limit)}
	user := servers[0].newUser(t, "", "")
	for range 3 {
		var group sync.WaitGroup
		for i := range openers {
			group.Go(func() { servers[i%2].open(t, user) })
		}
		group.Wait()
		if n := len(servers[0].list(t, user)); n < limit || n >= limit+openers {
			t.Errorf("%d sessions are open", n)
		}
		b.advance(time.Second)
	}
	last := servers[0].open(t, user)
	if n := len(servers[0].list(t, user)); n != limit {
		t.Errorf("%d sessions are open after one more", n)
	}
	if err := servers[1].verifySession(t, last); err != nil {
		t.Errorf("the last session: %v", err)
	}
}

func TestALoweredLimitOfSessionsIsReachedInSteps(t *testing.T) {
	b := newBench(t)
	user := b.newServer(t).newUser(t, "", "")
	s := b.newServerWithSessions(t, 2)
	s.addSessions(t, user, every(time.Millisecond, b.clock().Add(time.Hour), 2*maxClosed)...)
	for _, want := range []int{maxClosed + 1, 2, 2} {
		s.open(t, user)
		b.advance(time.Millisecond)
		if n := len(s.list(t, user)); n != want {
			t.Errorf("%d sessions are open, want %d", n, want)
		}
	}
}

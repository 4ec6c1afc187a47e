package account

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/waybook/waybook/internal/docstore"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

func (s *server) open(t testing.TB, user int64) *accountv1.VerifySessionRequest {
	t.Helper()
	opened, err := s.OpenSession(t.Context(), &accountv1.OpenSessionRequest{UserId: user})
	if err != nil {
		t.Fatal(err)
	}
	return &accountv1.VerifySessionRequest{UserId: user, Token: opened.GetToken()}
}

func (s *server) verifySession(t testing.TB, request *accountv1.VerifySessionRequest) error {
	t.Helper()
	_, err := s.VerifySession(t.Context(), request)
	return err
}

// list returns all open sessions of a user, in pages of one.
func (s *server) list(t testing.TB, user int64) (sessions []*accountv1.Session) {
	t.Helper()
	request := &accountv1.ListSessionsRequest{UserId: user, PageSize: 1}
	for {
		page, err := s.ListSessions(t.Context(), request)
		if err != nil {
			t.Fatal(err)
		}
		sessions = append(sessions, page.GetSessions()...)
		if request.PageToken = page.GetNextPageToken(); request.PageToken == "" {
			return sessions
		}
	}
}

func TestASessionIsClosedByTheIdentifierInTheListAlone(t *testing.T) {
	b := newBench(t)
	here, there := b.newServer(t), b.newServer(t)
	user, other := here.newUser(t, "", ""), here.newUser(t, "", "")
	lost, kept, ofAnother := here.open(t, user), here.open(t, user), here.open(t, other)
	closing := func(user int64, id string) error {
		_, err := there.CloseSession(t.Context(), &accountv1.CloseSessionRequest{UserId: user, SessionId: id})
		return err
	}
	id := tokenID(lost.GetToken())[:publicIDDigits]
	wantFault(t, closing(other, id), codes.NotFound, "SESSION_NOT_FOUND")
	if err := closing(user, id); err != nil {
		t.Fatal(err)
	}
	wantFault(t, here.verifySession(t, lost), codes.Unauthenticated, "LOGIN_REQUIRED")
	wantFault(t, closing(user, id), codes.NotFound, "SESSION_NOT_FOUND")
	for _, session := range []*accountv1.VerifySessionRequest{kept, ofAnother} {
		if err := here.verifySession(t, session); err != nil {
			t.Errorf("another session: %v", err)
		}
	}
	if left := here.list(t, user); len(left) != 1 || left[0].GetSessionId() != tokenID(kept.GetToken())[:publicIDDigits] {
		t.Errorf("left are %v", left)
	}
}

func TestOpenSessionsAreListedWithoutTheirSecrets(t *testing.T) {
	b := newBench(t)
	s := b.newServer(t)
	user, other := s.newUser(t, "", ""), s.newUser(t, "", "")
	first := b.clock()
	tokens := []string{s.open(t, user).GetToken()}
	b.advance(time.Minute)
	tokens = append(tokens, s.open(t, user).GetToken())
	s.open(t, other)
	listed := s.list(t, user)
	if len(listed) != 2 {
		t.Fatalf("listed %v", listed)
	}
	slices.SortFunc(listed, func(a, b *accountv1.Session) int {
		return a.GetCreateTime().AsTime().Compare(b.GetCreateTime().AsTime())
	})
	for i, session := range listed {
		created := first.Add(time.Duration(i) * time.Minute)
		if session.GetUserId() != user || !session.GetCreateTime().AsTime().Equal(created) ||
			!session.GetExpireTime().AsTime().Equal(created.Add(time.Hour)) || session.GetLastUsedTime() != nil {
			t.Errorf("session %d is %v", i, session)
		}
		if id := session.GetSessionId(); len(id) != 16 || strings.Contains(tokens[i], id) || id == listed[1-i].GetSessionId() {
			t.Errorf("session %d has the public id %q", i, id)
		}
	}
	b.advance(59 * time.Minute)
	if left := s.list(t, user); len(left) != 1 || left[0].GetSessionId() != listed[1].GetSessionId() {
		t.Errorf("after the first session expired: listed %v", left)
	}
	_, err := s.ListSessions(t.Context(), &accountv1.ListSessionsRequest{UserId: 1})
	wantFault(t, err, codes.NotFound, "USER_NOT_FOUND")
}

func TestAnIdleSessionEndsAndAUsedSessionDoesNot(t *testing.T) {
	b := newBench(t)
	s := b.newServerWith(t, SessionLife{Total: 24 * time.Hour, Idle: time.Hour})
	user := s.newUser(t, "", "")
	used, unused := s.open(t, user), s.open(t, user)
	for range 4 {
		b.advance(40 * time.Minute)
		if err := s.verifySession(t, used); err != nil {
			t.Fatal(err)
		}
	}
	wantFault(t, s.verifySession(t, unused), codes.Unauthenticated, "LOGIN_REQUIRED")
	if listed := s.list(t, user); len(listed) != 1 || !listed[0].GetLastUsedTime().AsTime().Equal(b.clock()) {
		t.Errorf("listed %v", listed)
	}
	b.advance(time.Hour)
	wantFault(t, s.verifySession(t, used), codes.Unauthenticated, "LOGIN_REQUIRED")
}

func TestASessionInConstantUseEndsAfterItsTotalLifetime(t *testing.T) {
	b := newBench(t)
	s := b.newServerWith(t, SessionLife{Total: 24 * time.Hour, Idle: time.Hour})
	used := s.open(t, s.newUser(t, "", ""))
	for range 47 {
		b.advance(30 * time.Minute)
		if err := s.verifySession(t, used); err != nil {
			t.Fatal(err)
		}
	}
	b.advance(30 * time.Minute)
	wantFault(t, s.verifySession(t, used), codes.Unauthenticated, "LOGIN_REQUIRED")
}

func TestVerifyingASessionWritesAtMostEveryFiveMinutes(t *testing.T) {
	b := newBench(t)
	s := b.newServerWith(t, SessionLife{Total: 24 * time.Hour, Idle: 8 * time.Hour})
	user := s.newUser(t, "", "")
	session := s.open(t, user)
	noted := map[time.Time]bool{}
	for range 60 {
		b.advance(10 * time.Second)
		if err := s.verifySession(t, session); err != nil {
			t.Fatal(err)
		}
		noted[s.list(t, user)[0].GetLastUsedTime().AsTime()] = true
	}
	if len(noted) != 3 { // when it was opened, after five and after ten minutes
		t.Errorf("uses were stored at %v, want 3", noted)
	}
}

// tokenNamed is the secret of a session.
func tokenNamed(name string) string { return strings.Repeat("0", 32-len(name)) + name }

func TestANewSessionClosesTheOldestOfTooMany(t *testing.T) {
	const limit = 3
	b := newBench(t)
	s := b.newServerOf(t, Config{Sessions: SessionLife{Total: time.Hour}, SessionsPerUser: limit})
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

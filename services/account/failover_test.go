package account

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/platform/apierror"
	"github.com/waybook/waybook/internal/storetest"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

// failing is a bench on a store that fails over, and chooses by a seed.
type failing struct {
	*bench
	*rand.Rand
	cluster *storetest.Replica
}

func newFailing(t *testing.T, seed uint64) *failing {
	t.Helper()
	b := newBench(t)
	cluster := storetest.NewReplica(t, storetest.ReplicaSettings{Shards: 2, Now: b.clock})
	b.store = cluster
	return &failing{b, rand.New(rand.NewPCG(seed, 0)), cluster}
}

// newMortal returns a service in a process that crashes at one of its next writes, if it makes so many.
func (b *failing) newMortal(t *testing.T) *server {
	t.Helper()
	return b.newMortalOf(t, Config{Sessions: SessionLife{Total: time.Hour}})
}

func (b *failing) newMortalOf(t *testing.T, config Config) *server {
	t.Helper()
	store, _ := storetest.NewMortal(b.cluster.Process(), b.IntN(12), storetest.Outcome(b.IntN(2) == 0))
	return (&bench{store: store, now: b.now}).newServerOf(t, config)
}

// isDone reports whether a call succeeded. It may fail only because the store did.
func isDone(t *testing.T, err error) bool {
	t.Helper()
	if err != nil && !errors.Is(err, docstore.ErrUnavailable) && !errors.Is(err, storetest.ErrBroken) {
		t.Error(err)
	}
	return err == nil
}

func TestAnInsertionDuringFailoversIsMendedByTheNext(t *testing.T) {
	storetest.Seeds(t, func(t *testing.T, seed uint64) {
		b := newFailing(t, seed)
		s := b.newServer(t)
		s.wantResults(t, "INSERTED", oldAnn())
		b.cluster.Trouble(seed)
		wasDone := false
		for range 1 + b.IntN(4) {
			_, err := b.newMortal(t).MoveIn(t.Context(), requestOf(false, someRecords()...))
			wasDone = isDone(t, err) || wasDone
		}
		b.cluster.Settle()
		s.wantMoved(t, wasDone)
	})
}

func TestANewPasswordDuringFailoversLeavesNoSessionOfTheOld(t *testing.T) {
	storetest.Seeds(t, func(t *testing.T, seed uint64) {
		b := newFailing(t, seed)
		s := b.newServer(t)
		user := s.newUser(t, "a@waybook.example", "the old one")
		sessions := []*accountv1.VerifySessionRequest{s.open(t, user), s.open(t, user)}
		b.cluster.Trouble(seed)
		isNew := false
		for range 1 + b.IntN(4) {
			_, err := b.newMortal(t).UpdateUser(t.Context(), &accountv1.UpdateUserRequest{UserId: user, Password: proto.String("the new one")})
			isNew = isDone(t, err) || isNew
		}
		b.cluster.Settle()
		isOld := s.logIn(t.Context(), "a@waybook.example", "the old one", "") == nil
		if isOld && isNew {
			t.Error("the old password is valid after success")
		}
		for _, session := range sessions {
			if isOpen := s.verifySession(t, session) == nil; isOpen != isOld {
				t.Errorf("the old password is valid: %t, its session is open: %t", isOld, isOpen)
			}
		}
	})
}

func TestADeletionDuringFailoversIsMendedByTheNext(t *testing.T) {
	storetest.Seeds(t, func(t *testing.T, seed uint64) {
		b := newFailing(t, seed)
		s := b.newServer(t)
		s.resultsOf(t, false, someRecords()...)
		if err := s.logIn(t.Context(), "ann@waybook.example", "hashcat", "home"); err != nil {
			t.Fatal(err)
		}
		s.open(t, 7)
		other := &accountv1.VerifySessionRequest{UserId: 8, Token: tokenNamed("2")}
		s.disable(t, 7, true)
		b.cluster.Trouble(seed)
		wasDone := false
		for range 1 + b.IntN(4) {
			_, err := b.newMortal(t).DeleteUser(t.Context(), &accountv1.DeleteUserRequest{UserId: 7})
			wasDone = isDone(t, err) || wasDone
		}
		b.cluster.Settle()
		for again := range 2 {
			if again > 0 {
				if _, err := s.DeleteUser(t.Context(), &accountv1.DeleteUserRequest{UserId: 7}); err != nil {
					t.Fatal(err)
				}
			} else if !wasDone {
				continue
			}
			_, err := s.GetUser(t.Context(), &accountv1.GetUserRequest{UserId: 7})
			wantFault(t, err, codes.NotFound, "USER_NOT_FOUND")
			for name, n := range map[string]int64{
				"sessions": count(t, s.sessions), "rewards": count(t, s.rewards), "users": count(t, s.users),
			} {
				if want := map[string]int64{"sessions": 1, "rewards": 1, "users": 1}[name]; n != want {
					t.Errorf("%d %s, want %d", n, name, want)
				}
			}
		}
		if err := s.verifySession(t, other); err != nil {
			t.Errorf("the other user: %v", err)
		}
		if _, buried, err := s.moved.OfManyOrGone(t.Context(), []string{"7"}); err != nil || !buried["7"] {
			t.Errorf("the deletion will be forgotten: %v, %v", buried, err)
		}
		s.newUser(t, "ann@waybook.example", "of somebody else") // the address is free
	})
}

func TestGuessesDuringFailoversExceedNoLimit(t *testing.T) {
	limits := attemptLimits{pair: 2, client: 4, email: 3}
	storetest.Seeds(t, func(t *testing.T, seed uint64) {
		b := newFailing(t, seed)
		b.cluster.Trouble(seed)
		made := map[string]int64{}
		for range 5 + b.IntN(15) {
			s := b.newMortal(t)
			s.logins.limits = limits
			email, client := fmt.Sprint("email ", b.IntN(2)), fmt.Sprint("client ", b.IntN(2))
			err := s.logIn(t.Context(), email, "a wrong password", client)
			switch failed := apierror.From(err); failed.Reason {
			case "PASSWORD_INCORRECT":
				made[email]++
				made[client]++
				made[email+client]++
			case "TOO_MANY_ATTEMPTS":
			default:
				isDone(t, err)
			}
			if made[email] > limits.email || made[client] > limits.client || made[email+client] > limits.pair {
				t.Fatalf("these guesses were checked: %v", made)
			}
		}
	})
}

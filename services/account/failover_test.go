package account

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/platform/apierror"
	"github.com/waybook/waybook/internal/storetest"
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

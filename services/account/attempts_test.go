package account

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"google.golang.org/grpc/codes"

	"github.com/waybook/waybook/internal/storetest"
)

func TestRightPasswordsAtTheSameMomentRefuseNobody(t *testing.T) {
	eachWay(t, func(t *testing.T, b *bench) {
		servers := []*server{b.newServer(t), b.newServer(t)}
		for _, s := range servers {
			s.logins.limits = attemptLimits{pair: 1, client: 1, email: 1}
		}
		servers[0].newUser(t, "a@waybook.example", "password of a")
		var group sync.WaitGroup
		for i := range 40 {
			group.Go(func() {
				if err := servers[i%2].logIn(t.Context(), "a@waybook.example", "password of a", "client"); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
	})
}

// TestTheStoreDecidesWhetherARightPasswordCameBeforeTheLastGuess lets others make that guess between the
// check of a password and the write that lets it pass.
func TestTheStoreDecidesWhetherARightPasswordCameBeforeTheLastGuess(t *testing.T) {
	for name, c := range map[string]struct {
		limits attemptLimits
		// write is the write of the count that the guess fills.
		write int
	}{
		"of the pair":   {attemptLimits{pair: 1, client: 9, email: 9}, 0},
		"of the email":  {attemptLimits{pair: 9, client: 9, email: 1}, 0},
		"of the client": {attemptLimits{pair: 9, client: 1, email: 9}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			others := b.newServer(t)
			others.newUser(t, "a@waybook.example", "password of a")
			others.logins.limits = c.limits
			logIn := func(s *server, password string) error {
				return s.logIn(t.Context(), "a@waybook.example", password, "client")
			}
			if err := logIn(others, "password of a"); err != nil { // the counts exist
				t.Fatal(err)
			}
			writes := 0
			b.store = &storetest.Hooked{Engine: b.store, Write: func(_ context.Context, call storetest.Call, do func() error) error {
				if call.Collection == "login_attempts" {
					if writes == c.write {
						wantFault(t, logIn(others, "a wrong password"), codes.Unauthenticated, "PASSWORD_INCORRECT")
					}
					writes++
				}
				return do()
			}}
			s := b.newServer(t)
			s.logins.limits = c.limits
			wantFault(t, logIn(s, "password of a"), codes.ResourceExhausted, "TOO_MANY_ATTEMPTS")
		})
	}
}

func TestAGuessCountsAlsoIfItsCallerHasGone(t *testing.T) {
	b := newBench(t)
	s := b.newServer(t)
	s.newUser(t, "a@waybook.example", "password of a")
	for n := range s.logins.limits.pair {
		ctx, leave := context.WithCancel(t.Context())
		s.passwords.derive = func(password, salt []byte, passes, memoryKiB uint32, lanes uint8, keyBytes uint32) []byte {
			leave()
			return b.derive(password, salt, passes, memoryKiB, lanes, keyBytes)
		}
		wantFault(t, s.logIn(ctx, "a@waybook.example", fmt.Sprint("guess number ", n), ""), codes.Unauthenticated, "PASSWORD_INCORRECT")
	}
	wantFault(t, s.logIn(t.Context(), "a@waybook.example", "password of a", ""), codes.ResourceExhausted, "TOO_MANY_ATTEMPTS")
}

package account

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/waybook/waybook/internal/platform/admission"
	"github.com/waybook/waybook/internal/platform/apierror"
	"github.com/waybook/waybook/internal/storetest"
)

func TestAnUnknownUserCostsTheSameWorkAsAWrongPassword(t *testing.T) {
	b := newBench(t)
	s := b.newServer(t)
	s.newUser(t, "a@waybook.example", "password of a")
	s.newUser(t, "b@waybook.example", "")
	noAddress := s.newUser(t, "", "")
	s.wantResults(t, "INSERTED", oldAnn()) // with the hash of an old service
	b.hashed()
	today := []cost{{passes: 2, memoryKiB: 19 * 1024, lanes: 1, keyBytes: 32}}
	var words []string
	for _, email := range []string{
		"a@waybook.example", "ann@waybook.example", "b@waybook.example", "nobody@waybook.example", "no address", noEmailKey(noAddress),
	} {
		failed := wantFault(t, s.logIn(t.Context(), email, "a wrong password", "client"), codes.Unauthenticated, "PASSWORD_INCORRECT")
		if done := b.hashed(); !slices.Equal(done, today) {
			t.Errorf("%s: the hashes cost %v, want %v", email, done, today)
		}
		words = append(words, failed.Message)
	}
	if len(slices.Compact(words)) != 1 {
		t.Errorf("the messages differ: %q", words)
	}
}

// guess lets many wrong passwords for an email address be tried at once, each from the address
// that client returns. It returns the numbers of refusals by reason.
func guess(t *testing.T, servers []*server, count int, client func(int) string) map[string]int {
	t.Helper()
	var group sync.WaitGroup
	failures := make([]*apierror.Error, count)
	for i := range failures {
		group.Go(func() {
			server := servers[i%len(servers)]
			failures[i] = apierror.From(server.logIn(t.Context(), "a@waybook.example", fmt.Sprint("guess number ", i), client(i)))
		})
	}
	group.Wait()
	reasons := map[string]int{}
	for _, failed := range failures {
		reasons[failed.Reason]++
	}
	return reasons
}

func TestConcurrentGuessesExceedNoLimit(t *testing.T) {
	limits := defaultAttemptLimits()
	for name, c := range map[string]struct {
		client func(int) string
		limit  int64
	}{
		"from one address":          {func(int) string { return "client" }, limits.pair},
		"from one unknown address":  {func(int) string { return "" }, limits.pair},
		"each from another address": {func(i int) string { return fmt.Sprint("client ", i) }, limits.email},
		"from the /64 of one /60":   {func(i int) string { return fmt.Sprintf("2001:db8:1:1%x::/64", i%16) }, 2 * limits.pair},
		"from the /64 of one /48":   {func(i int) string { return fmt.Sprintf("2001:db8:1:%x::/64", i<<8) }, 4 * limits.pair},
		"from addresses of one /48": {func(i int) string { return fmt.Sprintf("2001:db8:1:%x::1", i<<8) }, 4 * limits.pair},
	} {
		t.Run(name, func(t *testing.T) {
			eachWay(t, func(t *testing.T, b *bench) {
				servers := []*server{b.newServer(t), b.newServer(t)}
				servers[0].newUser(t, "a@waybook.example", "password of a")
				count := 3 * int(c.limit) / 2
				reasons := guess(t, servers, count, c.client)
				if reasons["PASSWORD_INCORRECT"] != int(c.limit) || reasons["TOO_MANY_ATTEMPTS"] != count-int(c.limit) {
					t.Errorf("got these numbers of refusals by reason: %v", reasons)
				}
				b.hashed()
				// The correct password is also refused, without a check, in any spelling of the address.
				wantFault(t, servers[1].logIn(t.Context(), "A@Waybook.Example", "password of a", c.client(0)), codes.ResourceExhausted, "TOO_MANY_ATTEMPTS")
				if n := len(b.hashed()); n != 0 {
					t.Errorf("%d hashes for a refused attempt", n)
				}
			})
		})
	}
}

func TestGuessesFromOneAddressRefuseNoOtherAddress(t *testing.T) {
	b := newBench(t)
	s := b.newServer(t)
	s.newUser(t, "a@waybook.example", "password of a")
	guess(t, []*server{s}, 300, func(int) string { return "client" })
	guess(t, []*server{s}, 300, func(n int) string { return fmt.Sprintf("2001:db8:1:%x::/64", n) })
	for _, other := range []string{"other", "2001:db8:2:1::/64"} {
		if err := s.logIn(t.Context(), "a@waybook.example", "password of a", other); err != nil {
			t.Errorf("%s: %v", other, err)
		}
	}
}

func TestEachLimitAloneBoundsConcurrentGuesses(t *testing.T) {
	const limit = 4
	for name, limits := range map[string]attemptLimits{
		"of the client": {pair: 9, client: limit, email: 9},
		"of the pair":   {pair: limit, client: 9, email: 9},
		"of the email":  {pair: 9, client: 9, email: limit},
	} {
		t.Run(name, func(t *testing.T) {
			eachWay(t, func(t *testing.T, b *bench) {
				servers := []*server{b.newServer(t), b.newServer(t)}
				for _, s := range servers {
					s.logins.limits = limits
				}
				if checked := guess(t, servers, 40, func(int) string { return "client" })["PASSWORD_INCORRECT"]; checked != limit {
					t.Errorf("%d guesses were checked, want %d", checked, limit)
				}
			})
		})
	}
}

// TestARefusedAttemptDoesTheSameForAnUnknownUser compares the calls of the store. Refused attempts
// hash nothing, so their time would reveal who exists.
func TestARefusedAttemptDoesTheSameForAnUnknownUser(t *testing.T) {
	b := newBench(t)
	whole := b.newServer(t)
	whole.newUser(t, "a@waybook.example", "password of a")
	var calls []storetest.Call
	b.store = &storetest.Hooked{Engine: b.store, Read: func(_ context.Context, call storetest.Call, do func() error) error {
		calls = append(calls, call)
		return do()
	}, Write: func(_ context.Context, call storetest.Call, do func() error) error {
		t.Errorf("a refusal writes: %v", call)
		return do()
	}}
	s := b.newServer(t)
	s.logins.limits.client = 1
	wantFault(t, whole.logIn(t.Context(), "other@waybook.example", "wrong", "home"), codes.Unauthenticated, "PASSWORD_INCORRECT")
	b.hashed()
	made := map[string]string{}
	for _, email := range []string{"a@waybook.example", "nobody@waybook.example"} {
		calls = nil
		wantFault(t, s.logIn(t.Context(), email, "password of a", "home"), codes.ResourceExhausted, "TOO_MANY_ATTEMPTS")
		made[email] = fmt.Sprint(calls)
	}
	if made["a@waybook.example"] != made["nobody@waybook.example"] || made["a@waybook.example"] == "[]" {
		t.Errorf("the calls are %v", made)
	}
	if n := len(b.hashed()); n != 0 {
		t.Errorf("%d passwords were checked", n)
	}
}

func TestASuccessfulLoginResetsThePairAndReturnsOneAttemptToTheOthers(t *testing.T) {
	b := newBench(t)
	s := b.newServer(t)
	s.logins.limits = attemptLimits{pair: 3, client: 5, email: 6}
	s.newUser(t, "a@waybook.example", "password of a")
	s.newUser(t, "b@waybook.example", "password of b")
	wrong := func(email, client string) {
		t.Helper()
		wantFault(t, s.logIn(t.Context(), email, "a wrong password", client), codes.Unauthenticated, "PASSWORD_INCORRECT")
	}
	right := func(email, client string) {
		t.Helper()
		if err := s.logIn(t.Context(), email, "password of "+email[:1], client); err != nil {
			t.Fatal(err)
		}
	}
	tooMany := func(email, client string) {
		t.Helper()
		wantFault(t, s.logIn(t.Context(), email, "password of "+email[:1], client), codes.ResourceExhausted, "TOO_MANY_ATTEMPTS")
	}
	for range 2 { // without the reset of the pair, the second round would exceed its limit
		wrong("a@waybook.example", "client")
		wrong("a@waybook.example", "client")
		right("a@waybook.example", "client")
	}
	// Four attempts of the client and of the email address have failed. Successes reset neither.
	wrong("a@waybook.example", "other")
	wrong("a@waybook.example", "other")
	tooMany("a@waybook.example", "third")
	right("b@waybook.example", "client")
	wrong("b@waybook.example", "client")
	tooMany("b@waybook.example", "client")
	right("b@waybook.example", "other")
}

func TestASweepRemovesCountsOfPastWindows(t *testing.T) {
	b := newBench(t)
	s := b.newServer(t)
	s.logins.limits.pair = 1
	wrong := func() error { return s.logIn(t.Context(), "a@waybook.example", "a wrong password", "client") }
	left := func() int64 {
		t.Helper()
		if err := s.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		return count(t, s.logins.attempts)
	}
	const counts = 2 // for the client, and for the email address
	wantFault(t, wrong(), codes.Unauthenticated, "PASSWORD_INCORRECT")
	b.advance(attemptWindow - time.Millisecond)
	if n := left(); n != counts {
		t.Errorf("%d counts are left, want those of the current window", n)
	}
	wantFault(t, wrong(), codes.ResourceExhausted, "TOO_MANY_ATTEMPTS")
	b.advance(attemptGrace)
	wantFault(t, wrong(), codes.Unauthenticated, "PASSWORD_INCORRECT")
	b.advance(time.Millisecond)
	if n := left(); n != counts {
		t.Errorf("%d counts are left, want those of the current window", n)
	}
	wantFault(t, wrong(), codes.ResourceExhausted, "TOO_MANY_ATTEMPTS")
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

// TestAFloodOfWrongPasswordsIsBounded lets strangers with many addresses fill the queue of hashes. No hash of theirs ends before the test says so.
func TestAFloodOfWrongPasswordsIsBounded(t *testing.T) {
	b := newBench(t)
	s := b.newServer(t)
	s.newUser(t, "a@waybook.example", "password of a")
	release := make(chan struct{})
	s.passwords.derive = func(password, salt []byte, passes, memoryKiB uint32, lanes uint8, keyBytes uint32) []byte {
		if strings.HasPrefix(string(password), "wrong") {
			<-release
		}
		return b.derive(password, salt, passes, memoryKiB, lanes, keyBytes)
	}
	b.hashed()
	const bound = hashesAtOnce + hashesWaiting
	const flood = 2 * bound
	s.passwords.room = admission.New(admission.Limits{Slots: hashesAtOnce, Queue: hashesWaiting, Wait: time.Hour})
	var group sync.WaitGroup
	refused := make(chan string, flood)
	for i := range flood {
		group.Go(func() {
			refused <- apierror.From(s.logIn(t.Context(), fmt.Sprintf("%d@waybook.example", i), "wrong password", fmt.Sprint("client ", i))).Reason
		})
	}
	for range flood - bound { // refused at once, for nothing ends before the release
		if reason := <-refused; reason != "SERVICE_BUSY" {
			t.Fatalf("a stranger above the bound got %s", reason)
		}
	}
	for s.passwords.room.Stats() != (admission.Stats{Inside: hashesAtOnce, Waiting: hashesWaiting, Refused: flood - bound}) {
		runtime.Gosched()
	}
	wantFault(t, s.logIn(t.Context(), "a@waybook.example", "password of a", "home"), codes.ResourceExhausted, "SERVICE_BUSY")
	if n := len(b.hashed()); n != 0 {
		t.Errorf("%d hashes were made", n)
	}
	close(release)
	group.Wait()
	for range bound {
		if reason := <-refused; reason != "PASSWORD_INCORRECT" {
			t.Errorf("a stranger in the queue got %s", reason)
		}
	}
	if err := s.logIn(t.Context(), "a@waybook.example", "password of a", "home"); err != nil {
		t.Errorf("after the flood: %v", err)
	}
}

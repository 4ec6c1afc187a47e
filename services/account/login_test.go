package account

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

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

func TestACountThatIsRemovedWhileItIsRaisedIsMadeAnew(t *testing.T) {
	s := newBench(t).newServer(t)
	from := source{emailKey: "a@waybook.example"}
	var begun attempt
	for range 2 {
		var err error
		if begun, err = s.logins.begin(t.Context(), from); err != nil {
			t.Fatal(err)
		}
		if err := s.logins.judged(t.Context(), begun, false); err != nil {
			t.Fatal(err)
		}
	}
	id := begun.counters[0].id
	if err := s.logins.attempts.Delete(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if err := s.logins.judged(t.Context(), begun, false); err != nil {
		t.Fatal(err)
	}
	if stored, err := s.logins.attempts.Get(t.Context(), id); err != nil || stored.Failed[everybody] != 1 {
		t.Errorf("got %v, %v", stored, err)
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

package account

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/waybook/waybook/internal/docstore/docstoretest"
	"github.com/waybook/waybook/internal/platform/apierror"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

// logInFrom logs in with device tokens and returns the reply.
func (s *server) logInFrom(t testing.TB, email, password, client string, tokens ...string) (*accountv1.AuthenticateResponse, error) {
	t.Helper()
	return s.Authenticate(t.Context(), &accountv1.AuthenticateRequest{
		Email: email, Password: password, ClientAddress: client, DeviceTokens: tokens,
	})
}

// newDevice logs in without a token and returns the token of the reply.
func (s *server) newDevice(t testing.TB, email, password string) string {
	t.Helper()
	reply, err := s.logInFrom(t, email, password, "home")
	if err != nil || !strings.HasPrefix(reply.GetDeviceToken(), fmt.Sprint(reply.GetUser().GetUserId(), "-")) {
		t.Fatalf("got %v, %v", reply, err)
	}
	return reply.GetDeviceToken()
}

func (s *server) devicesOf(t testing.TB, id int64) []device {
	t.Helper()
	stored, err := s.devices.stored.Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return stored.Devices
}

func TestAKnownDeviceIsRefusedByNoLimitOfOthers(t *testing.T) {
	for name, limits := range map[string]attemptLimits{
		"of its pair":             {pair: 1, client: 100, email: 100, device: 10},
		"of its client address":   {pair: 100, client: 1, email: 100, device: 10},
		"of its email address":    {pair: 100, client: 100, email: 1, device: 10},
		"of many addresses":       defaultAttemptLimits(),
		"of one address and more": {pair: 1, client: 1, email: 1, device: 10},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			here, there := b.newServer(t), b.newServer(t)
			here.newUser(t, "a@waybook.example", "password of a")
			token := here.newDevice(t, "a@waybook.example", "password of a")
			here.logins.limits, there.logins.limits = limits, limits
			guess(t, []*server{here, there}, 150, func(i int) string { return []string{"home", fmt.Sprint(i)}[i%2] })
			wantFault(t, there.logIn(t.Context(), "a@waybook.example", "password of a", "home"), codes.ResourceExhausted, "TOO_MANY_ATTEMPTS")
			for range 3 {
				reply, err := there.logInFrom(t, "A@waybook.example", "password of a", "home", "1-"+newToken(), token)
				if err != nil || reply.GetDeviceToken() != token {
					t.Fatalf("got %v, %v", reply, err)
				}
			}
		})
	}
}

func TestConcurrentGuessesFromADeviceExceedNoLimitAndHarmNobodyElse(t *testing.T) {
	b := newBench(t)
	s := b.newServer(t)
	s.newUser(t, "a@waybook.example", "password of a")
	token, other := s.newDevice(t, "a@waybook.example", "password of a"), s.newDevice(t, "a@waybook.example", "password of a")
	var group sync.WaitGroup
	reasons := make([]string, 32)
	for i := range reasons {
		group.Go(func() {
			_, err := s.logInFrom(t, "a@waybook.example", fmt.Sprint("guess number ", i), "home", token)
			reasons[i] = apierror.From(err).Reason
		})
	}
	group.Wait()
	slices.Sort(reasons)
	if n := slices.Index(reasons, "TOO_MANY_ATTEMPTS"); int64(n) != s.logins.limits.device {
		t.Errorf("%d guesses were checked: %v", n, reasons)
	}
	_, err := s.logInFrom(t, "a@waybook.example", "password of a", "home", token)
	wantFault(t, err, codes.ResourceExhausted, "TOO_MANY_ATTEMPTS")
	for name, tokens := range map[string][]string{"another device": {other}, "no device": nil} {
		if _, err := s.logInFrom(t, "a@waybook.example", "password of a", "home", tokens...); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestOnlyATokenOfThisUserAndGenerationNamesADevice(t *testing.T) {
	b := newBench(t)
	s := b.newServer(t)
	s.newUser(t, "a@waybook.example", "password of a")
	s.newUser(t, "b@waybook.example", "password of b")
	expired := s.newDevice(t, "a@waybook.example", "password of a")
	b.advance(deviceLife)
	of := s.newDevice(t, "b@waybook.example", "password of b")
	s.logins.limits.pair = 1
	wantFault(t, s.logIn(t.Context(), "a@waybook.example", "a wrong password", "home"), codes.Unauthenticated, "PASSWORD_INCORRECT")
	wantFault(t, s.logIn(t.Context(), "nobody@waybook.example", "a wrong password", "home"), codes.Unauthenticated, "PASSWORD_INCORRECT")
	id, _, _ := strings.Cut(expired, "-")
	_, secret, _ := strings.Cut(of, "-")
	for name, token := range map[string]string{
		"an invented token": id + "-" + newToken(), "a token of another user": of, "the secret of another user": id + "-" + secret,
		"an expired token": expired, "nobody's token": "1-" + newToken(),
	} {
		for _, email := range []string{"a@waybook.example", "nobody@waybook.example"} {
			_, err := s.logInFrom(t, email, "password of a", "home", token)
			if failed := apierror.From(err); failed.Reason != "TOO_MANY_ATTEMPTS" {
				t.Errorf("%s of %s: got %v", name, email, err)
			}
		}
	}
}

func TestTheDevicesOfAUserAreBoundedAndTheOldestGoes(t *testing.T) {
	b := newBench(t)
	s := b.newServer(t)
	id := s.newUser(t, "a@waybook.example", "password of a")
	first, used := s.newDevice(t, "a@waybook.example", "password of a"), s.newDevice(t, "a@waybook.example", "password of a")
	b.advance(deviceRenewal)
	if _, err := s.logInFrom(t, "a@waybook.example", "password of a", "home", used); err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for range maxDevices - 1 {
		group.Go(func() { s.newDevice(t, "a@waybook.example", "password of a") })
	}
	group.Wait()
	stored := s.devicesOf(t, id)
	has := func(token string) bool {
		return slices.ContainsFunc(stored, func(d device) bool { return d.ID == tokenID(token) })
	}
	if len(stored) != maxDevices || has(first) || !has(used) {
		t.Errorf("%d devices, the oldest is among them: %t, the one in use: %t", len(stored), has(first), has(used))
	}
	// Devices of an earlier generation make room first.
	if _, err := s.CloseAllSessions(t.Context(), &accountv1.CloseAllSessionsRequest{UserId: id}); err != nil {
		t.Fatal(err)
	}
	later := []string{s.newDevice(t, "a@waybook.example", "password of a"), s.newDevice(t, "a@waybook.example", "password of a")}
	stored = s.devicesOf(t, id)
	if len(stored) != maxDevices || !has(later[0]) || !has(later[1]) {
		t.Errorf("%d devices after closing all: %v", len(stored), stored)
	}
}

func TestALoginFromAKnownDeviceExtendsItsTimeAtMostOnceADay(t *testing.T) {
	b := newBench(t)
	s := b.newServer(t)
	id := s.newUser(t, "a@waybook.example", "password of a")
	token := s.newDevice(t, "a@waybook.example", "password of a")
	began := b.clock()
	for range 40 {
		b.advance(time.Hour)
		reply, err := s.logInFrom(t, "a@waybook.example", "password of a", "home", token)
		if err != nil {
			t.Fatal(err)
		}
		stored := s.devicesOf(t, id)
		want := began.Add(deviceLife)
		if b.clock().Sub(began) >= deviceRenewal {
			want = want.Add(deviceRenewal)
		}
		if len(stored) != 1 || stored[0].ExpireMillis != want.UnixMilli() || !reply.GetDeviceExpireTime().AsTime().Equal(want) {
			t.Fatalf("%v after the first login: %v, %v", b.clock().Sub(began), stored, reply)
		}
	}
	b.advance(2 * deviceLife)
	if err := s.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if exists, err := s.devices.stored.Exists(t.Context(), id); exists || err != nil {
		t.Errorf("after the sweep: %t, %v", exists, err)
	}
}

func TestADeviceTokenIsStoredAsItsSHA256Only(t *testing.T) {
	b := newBench(t)
	s := b.newServer(t)
	id := s.newUser(t, "a@waybook.example", "password of a")
	token := s.newDevice(t, "a@waybook.example", "password of a")
	if got := s.devicesOf(t, id); len(got) != 1 || got[0].ID != tokenID(token) {
		t.Errorf("stored %v for %s", got, token)
	}
}

// TestARefusedAttemptDoesTheSameForAnUnknownUser compares the calls of the store. Refused attempts
// hash nothing, so their time would reveal who exists.
func TestARefusedAttemptDoesTheSameForAnUnknownUser(t *testing.T) {
	b := newBench(t)
	whole := b.newServer(t)
	id := whole.newUser(t, "a@waybook.example", "password of a")
	whole.newUser(t, "eve@waybook.example", "password of eve")
	whole.newDevice(t, "a@waybook.example", "password of a")
	own := whole.newDevice(t, "eve@waybook.example", "password of eve")
	var calls []docstoretest.Call
	b.store = &docstoretest.Hooked{Engine: b.store, Read: func(_ context.Context, call docstoretest.Call, do func() error) error {
		calls = append(calls, call)
		return do()
	}, Write: func(_ context.Context, call docstoretest.Call, do func() error) error {
		t.Errorf("a refusal writes: %v", call)
		return do()
	}}
	s := b.newServer(t)
	s.logins.limits.pair = 0
	for name, tokens := range map[string][]string{
		"no token": nil, "a guessed token": {fmt.Sprint(id, "-", newToken())}, "a token of the guesser": {own},
		"several tokens": {own, fmt.Sprint(id, "-", newToken()), "1-" + newToken()},
	} {
		made := map[string]string{}
		for _, email := range []string{"a@waybook.example", "nobody@waybook.example"} {
			calls = nil
			_, err := s.logInFrom(t, email, "password of a", "home", tokens...)
			wantFault(t, err, codes.ResourceExhausted, "TOO_MANY_ATTEMPTS")
			made[email] = fmt.Sprint(calls)
		}
		if made["a@waybook.example"] != made["nobody@waybook.example"] || made["a@waybook.example"] == "[]" {
			t.Errorf("%s: the calls are %v", name, made)
		}
	}
}

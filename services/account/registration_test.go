package account

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/platform/apierror"
	"github.com/waybook/waybook/internal/storetest"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

// registering returns a service at which people register, with the default limits.
func (b *bench) registering(t testing.TB, who Registration) *server {
	t.Helper()
	return b.newServerOf(t, Config{
		Sessions: SessionLife{Total: time.Hour}, Registration: who,
		RegistrationsPerAddress: DefaultRegistrationsPerAddress, RegistrationsPerHour: DefaultRegistrationsPerHour,
	})
}

// register registers a user, and returns why it failed.
func (s *server) register(t testing.TB, email, invitation, client string) *apierror.Error {
	t.Helper()
	_, err := s.RegisterUser(t.Context(), &accountv1.RegisterUserRequest{
		Email: email, Password: "password of it", Name: "x", Invitation: invitation, ClientAddress: client,
	})
	return apierror.From(err)
}

func (s *server) invite(t testing.TB) string {
	t.Helper()
	made, err := s.CreateInvitation(t.Context(), &accountv1.CreateInvitationRequest{})
	if err != nil {
		t.Fatal(err)
	}
	return made.GetCode()
}

func TestNobodyRegistersWhereItIsClosed(t *testing.T) {
	s := newBench(t).registering(t, Closed)
	wantFault(t, s.register(t, "a@waybook.example", "", "home"), codes.FailedPrecondition, "REGISTRATION_CLOSED")
	_, err := s.CreateInvitation(t.Context(), &accountv1.CreateInvitationRequest{})
	wantFault(t, err, codes.FailedPrecondition, "INVITATIONS_OFF")
}

func TestAnInvitationIsGoodOnceForSevenDays(t *testing.T) {
	b := newBench(t)
	s := b.registering(t, ByInvitation)
	late, code := s.invite(t), s.invite(t)
	if late == code || len(code) != 32 {
		t.Errorf("the codes are %q and %q", late, code)
	}
	invalid := wantFault(t, s.register(t, "a@waybook.example", "", "home"), codes.PermissionDenied, "INVITATION_INVALID").Message
	b.advance(invitationTTL - time.Second)
	if failed := s.register(t, "a@waybook.example", code, "home"); failed != nil {
		t.Fatal(failed)
	}
	b.advance(time.Second)
	for _, each := range []string{code, late, "guessed", "A" + code[1:]} {
		if got := wantFault(t, s.register(t, "b@waybook.example", each, "home"), codes.PermissionDenied, "INVITATION_INVALID").Message; got != invalid {
			t.Errorf("%q and %q tell something", got, invalid)
		}
	}
	if err := s.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := count(t, s.invitations); n != 0 {
		t.Errorf("%d invitations are left", n)
	}
}

func TestAnInvitationThatFailsIsNotUsed(t *testing.T) {
	b := newBench(t)
	s := b.registering(t, ByInvitation)
	s.newUser(t, "taken@waybook.example", "")
	code := s.invite(t)
	wantFault(t, s.register(t, "taken@waybook.example", code, "home"), codes.AlreadyExists, "EMAIL_TAKEN")
	if failed := s.register(t, "free@waybook.example", code, "home"); failed != nil {
		t.Error(failed)
	}
	// Nobody without an invitation learns who has an account.
	wantFault(t, s.register(t, "taken@waybook.example", "guessed", "home"), codes.PermissionDenied, "INVITATION_INVALID")
}

// TestACrashBetweenAnyTwoWritesOfARegistrationLosesNoInvitation kills a registration after each number of writes. Its
// repeat makes the user, or finds the user made.
func TestACrashBetweenAnyTwoWritesOfARegistrationLosesNoInvitation(t *testing.T) {
	for _, outcome := range []storetest.Outcome{storetest.NotHappened, storetest.Happened} {
		for writes := 0; ; writes++ {
			b := newBench(t)
			s := b.registering(t, ByInvitation)
			request := &accountv1.RegisterUserRequest{
				RequestId: "00000000-0000-4000-8000-000000000001", Email: "a@waybook.example", Password: "password of a", Name: "x",
				Invitation: s.invite(t), ClientAddress: "home",
			}
			store, process := storetest.NewMortal(b.store, writes, outcome)
			dying := (&bench{store: store, now: b.now}).registering(t, ByInvitation)
			_, err := dying.RegisterUser(t.Context(), request)
			if !process.Died() {
				if err != nil {
					t.Fatal(err)
				}
				break
			}
			for range 2 {
				if _, err := s.RegisterUser(t.Context(), request); err != nil {
					t.Errorf("%v, dead after %d writes: %v", outcome, writes, err)
				}
			}
			wantFault(t, s.register(t, "b@waybook.example", request.GetInvitation(), "home"), codes.PermissionDenied, "INVITATION_INVALID")
			if n := count(t, s.users); n != 1 {
				t.Errorf("%v, dead after %d writes: %d users", outcome, writes, n)
			}
		}
	}
}

func TestAnInvitationOfADeletedUserStaysUsed(t *testing.T) {
	b := newBench(t)
	s := b.registering(t, ByInvitation)
	code := s.invite(t)
	if failed := s.register(t, "a@waybook.example", code, "home"); failed != nil {
		t.Fatal(failed)
	}
	found, err := s.users.Find(t.Context(), byEmail().Is("a@waybook.example"))
	if err != nil {
		t.Fatal(err)
	}
	s.disable(t, found.ID, true)
	if _, err := s.DeleteUser(t.Context(), &accountv1.DeleteUserRequest{UserId: found.ID}); err != nil {
		t.Fatal(err)
	}
	wantFault(t, s.register(t, "a@waybook.example", code, "home"), codes.PermissionDenied, "INVITATION_INVALID")
	s.kept = 0
	b.advance(time.Hour)
	if err := s.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.users.Find(t.Context(), docstore.All(docstore.IDIndex)); err == nil {
		t.Error("the user is there")
	}
	wantFault(t, s.register(t, "b@waybook.example", code, "home"), codes.PermissionDenied, "INVITATION_INVALID")
}

// flood registers 2,000 users, and returns how many were made, and how many passwords were hashed for them.
func flood(t *testing.T, b *bench, who Registration, client func(int) string) (made, hashes int) {
	t.Helper()
	servers := []*server{b.registering(t, who), b.registering(t, who)}
	var group sync.WaitGroup
	var mu sync.Mutex
	for worker := range 8 {
		group.Go(func() {
			for i := worker; i < 2000; i += 8 {
				failed := servers[i%2].register(t, fmt.Sprintf("%d@waybook.example", i), fmt.Sprint("guess ", i), client(i))
				mu.Lock()
				if failed == nil {
					made++
				} else if failed.Reason != "INVITATION_INVALID" && (failed.Reason != "TOO_MANY_ATTEMPTS" || failed.RetryAfter <= 0 || failed.RetryAfter > time.Hour) {
					t.Error(failed)
				}
				mu.Unlock()
			}
		})
	}
	group.Wait()
	if n := count(t, servers[0].users); n != int64(made) {
		t.Errorf("there are %d users, of whom %d know", n, made)
	}
	return made, len(b.hashed())
}

func TestAFloodOfRegistrationsIsBounded(t *testing.T) {
	fromOne := func(int) string { return "192.0.2.1" }
	from1000 := func(i int) string { return fmt.Sprintf("198.51.%d.%d", i%1000/250, i%250) }
	for name, c := range map[string]struct {
		who    Registration
		client func(int) string
		made   int
	}{
		"from one address":                               {Open, fromOne, DefaultRegistrationsPerAddress},
		"from the /64 of one /48":                        {Open, func(i int) string { return fmt.Sprintf("2001:db8:1:%x::/64", i) }, 4 * DefaultRegistrationsPerAddress},
		"from 1,000 addresses":                           {Open, from1000, DefaultRegistrationsPerHour},
		"from one address, with guessed invitations":     {ByInvitation, fromOne, 0},
		"from 1,000 addresses, with guessed invitations": {ByInvitation, from1000, 0},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			whole := b.store
			if c.who == ByInvitation {
				b.store = &storetest.Hooked{Engine: b.store, Write: func(_ context.Context, call storetest.Call, do func() error) error {
					t.Errorf("a guess writes: %v", call)
					return do()
				}}
			}
			made, hashes := flood(t, b, c.who, c.client)
			b.store = whole
			if made != c.made || hashes != c.made {
				t.Errorf("%d users were made with %d hashes, want %d", made, hashes, c.made)
			}
			s := b.registering(t, c.who)
			code := ""
			if c.who == ByInvitation {
				code = s.invite(t) // guesses take nothing from whoever has an invitation
			}
			if made == DefaultRegistrationsPerHour {
				b.advance(time.Hour)
			}
			if failed := s.register(t, "honest@waybook.example", code, "203.0.113.1"); failed != nil {
				t.Error(failed)
			}
		})
	}
}

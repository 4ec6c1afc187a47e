package account

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/waybook/waybook/internal/platform/apierror"
	"github.com/waybook/waybook/internal/requestsig"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

func (s *server) newApplication(t testing.TB, request *accountv1.CreateApplicationRequest) (key, secret string) {
	t.Helper()
	reply, err := s.CreateApplication(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	return reply.GetApplication().GetKey(), reply.GetSecret()
}

// signed returns a request that an application signed at the given time. Its signature
// may be used once.
func signed(key, secret string, at time.Time, content string) *accountv1.VerifySignatureRequest {
	digest := requestsig.Digest(content)
	return &accountv1.VerifySignatureRequest{
		RequestId: "00000000-0000-4000-8000-000000000001", Key: key, TimestampSeconds: at.Unix(),
		Use:  accountv1.SignatureUse_SIGNATURE_USE_ONCE,
		Form: &accountv1.VerifySignatureRequest_Hmac{Hmac: &accountv1.HmacSignature{CanonicalSha256: digest[:], Signature: requestsig.Sign(secret, digest)}},
	}
}

func signedLegacy(key, secret string, at time.Time, text string) *accountv1.VerifySignatureRequest {
	request := signed(key, secret, at, text)
	request.Form = &accountv1.VerifySignatureRequest_Legacy{Legacy: &accountv1.LegacySignature{Text: []byte(text), Signature: requestsig.SignLegacy(secret, text)}}
	return request
}

// again returns the same request as another call would send it.
func again(request *accountv1.VerifySignatureRequest) *accountv1.VerifySignatureRequest {
	other := proto.CloneOf(request)
	other.RequestId = "00000000-0000-4000-8000-000000000002"
	return other
}

func (s *server) verify(t testing.TB, request *accountv1.VerifySignatureRequest) error {
	_, err := s.VerifySignature(t.Context(), request)
	return err
}

func (s *server) wantValid(t *testing.T, request *accountv1.VerifySignatureRequest) {
	t.Helper()
	if err := s.verify(t, request); err != nil {
		t.Errorf("a valid signature was refused: %v", err)
	}
}

func (s *server) wantRefused(t *testing.T, reason string, request *accountv1.VerifySignatureRequest) *apierror.Error {
	t.Helper()
	return wantFault(t, s.verify(t, request), codes.Unauthenticated, reason)
}

func TestAllWrongSignaturesGetTheSameRefusal(t *testing.T) {
	b := newBench(t)
	s := b.newServer(t)
	now := b.clock()
	key, secret := s.newApplication(t, &accountv1.CreateApplicationRequest{Name: "x"})
	old, oldSecret := s.newApplication(t, &accountv1.CreateApplicationRequest{
		Name: "x", Key: "old", Secret: "a-secret-of-2009", AllowLegacy: true,
	})
	disabled, disabledSecret := s.newApplication(t, &accountv1.CreateApplicationRequest{Name: "x", AllowLegacy: true})
	if _, err := s.UpdateApplication(t.Context(), &accountv1.UpdateApplicationRequest{Key: disabled, Disabled: new(true)}); err != nil {
		t.Fatal(err)
	}
	s.wantValid(t, signed(key, secret, now, "content"))
	s.wantValid(t, signed(old, oldSecret, now, "content"))
	s.wantValid(t, signedLegacy(old, oldSecret, now, "content"))

	otherContent := signed(key, secret, now, "content")
	otherContent.GetHmac().CanonicalSha256[31] ^= 1
	otherText := signedLegacy(old, oldSecret, now, "content")
	otherText.GetLegacy().Text = append(otherText.GetLegacy().Text, 's')
	words := map[string]bool{}
	for name, request := range map[string]*accountv1.VerifySignatureRequest{
		"a wrong secret":                     signed(key, oldSecret, now, "content"),
		"another content":                    otherContent,
		"another application":                signed(old, secret, now, "content"),
		"an unknown application":             signed("nobody", secret, now, "content"),
		"an unknown application, legacy":     signedLegacy("nobody", secret, now, "content"),
		"the stand-in secret":                signed("nobody", s.signatures.nobody.Secret, now, "content"),
		"the stand-in secret, legacy":        signedLegacy("nobody", s.signatures.nobody.Secret, now, "content"),
		"a disabled application":             signed(disabled, disabledSecret, now, "content"),
		"a disabled application, legacy":     signedLegacy(disabled, disabledSecret, now, "content"),
		"the legacy form without permission": signedLegacy(key, secret, now, "content"),
		"another legacy text":                otherText,
		"a wrong and old signature":          signed(key, oldSecret, now.Add(-time.Hour), "content"),
	} {
		t.Run(name, func(t *testing.T) {
			words[s.wantRefused(t, "SIGNATURE_INVALID", request).Message] = true
		})
	}
	if len(words) != 1 {
		t.Errorf("the messages differ: %v", words)
	}
}

func TestAChangeOfAnApplicationTakesEffectAtOnceAtAllReplicas(t *testing.T) {
	b := newBench(t)
	s, other := b.newServer(t), b.newServer(t)
	key, secret := s.newApplication(t, &accountv1.CreateApplicationRequest{Name: "x"})
	change := func(request *accountv1.UpdateApplicationRequest) {
		t.Helper()
		request.Key = key
		if _, err := s.UpdateApplication(t.Context(), request); err != nil {
			t.Fatal(err)
		}
	}
	modern := func(content string) *accountv1.VerifySignatureRequest { return signed(key, secret, b.clock(), content) }
	other.wantValid(t, modern("1"))
	change(&accountv1.UpdateApplicationRequest{Disabled: new(true)})
	other.wantRefused(t, "SIGNATURE_INVALID", modern("2"))
	change(&accountv1.UpdateApplicationRequest{Disabled: new(false), AllowLegacy: new(true)})
	other.wantValid(t, modern("3"))
	other.wantValid(t, signedLegacy(key, secret, b.clock(), "4"))
	change(&accountv1.UpdateApplicationRequest{AllowLegacy: new(false)})
	other.wantRefused(t, "SIGNATURE_INVALID", signedLegacy(key, secret, b.clock(), "5"))
	rotated, err := s.RotateApplicationSecret(t.Context(), &accountv1.RotateApplicationSecretRequest{Key: key})
	if err != nil || rotated.GetSecret() == secret {
		t.Fatalf("the secret did not change: %v", err)
	}
	other.wantRefused(t, "SIGNATURE_INVALID", modern("6"))
	secret = rotated.GetSecret()
	other.wantValid(t, modern("7"))
	if _, err := s.DeleteApplication(t.Context(), &accountv1.DeleteApplicationRequest{Key: key}); err != nil {
		t.Fatal(err)
	}
	other.wantRefused(t, "SIGNATURE_INVALID", modern("8"))
}

func TestASignatureIsAcceptedWithinTheTimeWindow(t *testing.T) {
	b := newBench(t)
	s := b.newServer(t)
	key, secret := s.newApplication(t, &accountv1.CreateApplicationRequest{Name: "x"})
	for name, step := range map[string]struct {
		by    time.Duration
		valid bool
	}{
		"now":          {0, true},
		"just in time": {DefaultSignatureWindow, true},
		"too old":      {DefaultSignatureWindow + time.Second, false},
		"early":        {-DefaultSignatureWindow, true},
		"too early":    {-DefaultSignatureWindow - time.Second, false},
	} {
		request := signed(key, secret, b.clock(), name)
		b.advance(step.by)
		if step.valid {
			s.wantValid(t, request)
		} else {
			s.wantRefused(t, "SIGNATURE_EXPIRED", request)
		}
		b.advance(-step.by)
	}
	forever := signed(key, secret, b.clock(), "forever")
	for _, at := range []int64{0, 1<<53 - 1} {
		forever.TimestampSeconds = at
		s.wantRefused(t, "SIGNATURE_EXPIRED", forever)
	}
}

func TestASignatureIsUsedOnceOverAllReplicas(t *testing.T) {
	b := newBench(t)
	servers := []*server{b.newServer(t), b.newServer(t)}
	key, secret := servers[0].newApplication(t, &accountv1.CreateApplicationRequest{Name: "x", AllowLegacy: true})
	for _, request := range []*accountv1.VerifySignatureRequest{
		signed(key, secret, b.clock(), "content"), signedLegacy(key, secret, b.clock(), "content"),
	} {
		var group sync.WaitGroup
		errs := make([]error, 16)
		for i := range errs {
			call := proto.CloneOf(request)
			call.RequestId = fmt.Sprintf("00000000-0000-4000-8000-%012d", i)
			group.Go(func() { errs[i] = servers[i%2].verify(t, call) })
		}
		group.Wait()
		admitted := 0
		for _, err := range errs {
			if err == nil {
				admitted++
			} else {
				wantFault(t, err, codes.Unauthenticated, "SIGNATURE_REPLAYED")
			}
		}
		if admitted != 1 {
			t.Errorf("the signature was accepted %d times, want once", admitted)
		}
	}
}

func TestARetriedCallCountsAsTheSameUse(t *testing.T) {
	b := newBench(t)
	s := b.newServer(t)
	key, secret := s.newApplication(t, &accountv1.CreateApplicationRequest{Name: "x"})
	request := signed(key, secret, b.clock(), "content")
	s.wantValid(t, request)
	s.wantValid(t, request)
	s.wantRefused(t, "SIGNATURE_REPLAYED", again(request))
}

func TestARepeatableSignatureMayBeUsedAgainAndIsNotStored(t *testing.T) {
	b := newBench(t)
	s := b.newServer(t)
	key, secret := s.newApplication(t, &accountv1.CreateApplicationRequest{Name: "x"})
	request := signed(key, secret, b.clock(), "content")
	request.Use, request.RequestId = accountv1.SignatureUse_SIGNATURE_USE_REPEATABLE, ""
	s.wantValid(t, request)
	s.wantValid(t, request)
	s.wantUsed(t, 0)
}

func (s *server) wantUsed(t *testing.T, want int64) {
	t.Helper()
	if n, err := s.signatures.used.Count(t.Context(), byExpiry().All().Everywhere()); err != nil || n != want {
		t.Errorf("%d used signatures are stored, want %d (%v)", n, want, err)
	}
}

func TestOnlyCorrectSignaturesAreStoredAndOnlyUntilTheyExpireEverywhere(t *testing.T) {
	b := newBench(t)
	s := b.newServer(t)
	key, secret := s.newApplication(t, &accountv1.CreateApplicationRequest{Name: "x"})
	s.wantRefused(t, "SIGNATURE_INVALID", signed(key, "x", b.clock(), "content"))
	s.wantRefused(t, "SIGNATURE_EXPIRED", signed(key, secret, b.clock().Add(-time.Hour), "content"))
	s.wantUsed(t, 0)

	early := signed(key, secret, b.clock().Add(DefaultSignatureWindow), "content")
	s.wantValid(t, early)
	for _, step := range []struct {
		by     time.Duration
		reason string
		stored int64
	}{
		{2 * DefaultSignatureWindow, "SIGNATURE_REPLAYED", 1},
		{time.Second, "SIGNATURE_EXPIRED", 1},
		{MaxSignatureWindow - DefaultSignatureWindow + signatureGrace, "SIGNATURE_EXPIRED", 0},
	} {
		b.advance(step.by)
		if err := s.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.wantRefused(t, step.reason, again(early))
		s.wantUsed(t, step.stored)
	}
}

func TestAUsedSignatureStaysUsedWhenTheWindowBecomesWider(t *testing.T) {
	b := newBench(t)
	narrow := b.newServerOf(t, Config{SignatureWindow: time.Minute})
	key, secret := narrow.newApplication(t, &accountv1.CreateApplicationRequest{Name: "x"})
	used := signed(key, secret, b.clock(), "content")
	narrow.wantValid(t, used)
	wide := b.newServerOf(t, Config{SignatureWindow: MaxSignatureWindow})
	b.advance(MaxSignatureWindow)
	if err := wide.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	wide.wantRefused(t, "SIGNATURE_REPLAYED", again(used))
	if err := (Config{SignatureWindow: MaxSignatureWindow + 1}).Check(); err == nil {
		t.Error("a wider window than signatures are kept for is allowed")
	}
}

func TestARepeatedCreationReturnsNoSecret(t *testing.T) {
	s := newBench(t).newServer(t)
	request := &accountv1.CreateApplicationRequest{RequestId: "00000000-0000-4000-8000-000000000001", Name: "x"}
	key, secret := s.newApplication(t, request)
	if len(key) != 32 || len(secret) != 64 {
		t.Errorf("got key %q and secret %q, want 32 and 64 digits", key, secret)
	}
	if sameKey, none := s.newApplication(t, request); sameKey != key || none != "" {
		t.Errorf("the repeated request got key %s and secret %q, want %s and none", sameKey, none, key)
	}
	_, err := s.CreateApplication(t.Context(), &accountv1.CreateApplicationRequest{Name: "y", Key: key})
	wantFault(t, err, codes.AlreadyExists, "KEY_TAKEN")
	if _, err := s.DeleteApplication(t.Context(), &accountv1.DeleteApplicationRequest{Key: key}); err != nil {
		t.Fatal(err)
	}
	_, err = s.CreateApplication(t.Context(), &accountv1.CreateApplicationRequest{Name: "y", Key: key})
	wantFault(t, err, codes.AlreadyExists, "KEY_TAKEN")
	if !strings.Contains(err.Error(), "was deleted; the key becomes free 168h0m0s after the deletion") {
		t.Errorf("the key of a deleted application: %v", err)
	}
}

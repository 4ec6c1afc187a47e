package rpc_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/waybook/waybook/internal/requestsig"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

// signatureOf returns a request to verify the signature of an application for content. The
// signature may be used once.
func signatureOf(key, secret string, seconds int64, content string) *accountv1.VerifySignatureRequest {
	digest := requestsig.Digest(content)
	return &accountv1.VerifySignatureRequest{
		RequestId: requestID(1), Key: key, TimestampSeconds: seconds, Use: accountv1.SignatureUse_SIGNATURE_USE_ONCE,
		Form: &accountv1.VerifySignatureRequest_Hmac{Hmac: &accountv1.HmacSignature{
			CanonicalSha256: digest[:], Signature: requestsig.Sign(secret, digest),
		}},
	}
}

func TestAnApplicationIsShownWithoutItsSecret(t *testing.T) {
	t.Parallel()
	w := start(t)
	created := must(w.account.CreateApplication(t.Context(), &accountv1.CreateApplicationRequest{
		Name: "地圖", Key: "Map-1.0_", Secret: "!a-secret-of-2009~", AllowLegacy: true,
	}))(t)
	shown := must(w.account.GetApplication(t.Context(), &accountv1.GetApplicationRequest{Key: "Map-1.0_"}))(t)
	application := shown.GetApplication()
	if application.GetName() != "地圖" || !application.GetAllowLegacy() || application.GetDisabled() ||
		!application.GetCreateTime().AsTime().Equal(created.GetApplication().GetCreateTime().AsTime()) {
		t.Errorf("got %v", application)
	}
	if created.GetSecret() != "!a-secret-of-2009~" || strings.Contains(fmt.Sprint(shown), created.GetSecret()) {
		t.Errorf("created %v, shown %v", created, shown)
	}
}

func TestApplicationsAreListedByKey(t *testing.T) {
	t.Parallel()
	w := start(t)
	var want []string
	for i := range 25 {
		key := fmt.Sprintf("app%02d", i*7%25)
		want = append(want, key)
		must(w.account.CreateApplication(t.Context(), &accountv1.CreateApplicationRequest{Name: "x", Key: key}))(t)
	}
	slices.Sort(want)
	var keys []string
	for token := ""; ; {
		page := must(w.account.ListApplications(t.Context(), &accountv1.ListApplicationsRequest{PageToken: token}))(t)
		for _, each := range page.GetApplications() {
			keys = append(keys, each.GetKey())
		}
		if token = page.GetNextPageToken(); token == "" {
			break
		}
		if len(page.GetApplications()) != 20 {
			t.Errorf("a page of %d", len(page.GetApplications()))
		}
	}
	if !slices.Equal(keys, want) {
		t.Errorf("listed %v", keys)
	}
}

func TestCallsAboutApplicationsFailAsTheContractSays(t *testing.T) {
	t.Parallel()
	w, ctx := start(t), t.Context()
	secret := must(w.account.CreateApplication(ctx, &accountv1.CreateApplicationRequest{Name: "x", Key: "taken"}))(t).GetSecret()
	now := time.Now().Unix()
	used := signatureOf("taken", secret, now, "x")
	must(w.account.VerifySignature(ctx, used))(t)
	used.RequestId = requestID(2)
	expectFailures(t, []failure{
		{"create with a key that is taken", calling(w.account.CreateApplication, &accountv1.CreateApplicationRequest{Name: "y", Key: "taken"}), codes.AlreadyExists, "KEY_TAKEN"},
		{"get", calling(w.account.GetApplication, &accountv1.GetApplicationRequest{Key: "Taken"}), codes.NotFound, "APPLICATION_NOT_FOUND"},
		{"update", calling(w.account.UpdateApplication, &accountv1.UpdateApplicationRequest{Key: "no"}), codes.NotFound, "APPLICATION_NOT_FOUND"},
		{"rotate", calling(w.account.RotateApplicationSecret, &accountv1.RotateApplicationSecretRequest{Key: "no"}), codes.NotFound, "APPLICATION_NOT_FOUND"},
		{"delete", calling(w.account.DeleteApplication, &accountv1.DeleteApplicationRequest{Key: "no"}), codes.NotFound, "APPLICATION_NOT_FOUND"},
		{"verify for an unknown application", calling(w.account.VerifySignature, signatureOf("no", secret, now, "x")),
			codes.Unauthenticated, "SIGNATURE_INVALID"},
		{"verify after the window", calling(w.account.VerifySignature, signatureOf("taken", secret, 0, "x")),
			codes.Unauthenticated, "SIGNATURE_EXPIRED"},
		{"verify again", calling(w.account.VerifySignature, used), codes.Unauthenticated, "SIGNATURE_REPLAYED"},
	})
}

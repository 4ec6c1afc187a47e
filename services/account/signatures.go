package account

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/platform/apierror"
	"github.com/waybook/waybook/internal/requestsig"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

const (
	// DefaultSignatureWindow is the default of -signature-window. Clocks that are not
	// synchronized differ by minutes.
	DefaultSignatureWindow = 5 * time.Minute
	// signatureGrace is how long a used signature is kept after a replica with a correct
	// clock stops accepting it. It is longer than the difference between replicas' clocks.
	signatureGrace = 5 * time.Minute
)

// verifier decides whether a correct signature may be used. It works over all processes
// that share the store. It may be used concurrently.
type verifier struct {
	used   *docstore.Collection[string, usedSignature]
	now    func() time.Time
	window time.Duration
	// nobody has the secret that is used for an application that does not exist.
	nobody application
}

func newVerifier(used *docstore.Collection[string, usedSignature], now func() time.Time, window time.Duration) *verifier {
	if window <= 0 {
		window = DefaultSignatureWindow
	}
	return &verifier{used: used, now: now, window: window, nobody: application{Secret: randomHex(applicationSecretBytes), AllowLegacy: true}}
}

// VerifySignature checks that an application signed a request. It does the same work for
// an unknown application as for a wrong signature. Only a correct signature gets a
// specific reason for a refusal, and only correct signatures are stored as used.
func (s *Server) VerifySignature(ctx context.Context, request *accountv1.VerifySignatureRequest) (*accountv1.VerifySignatureResponse, error) {
	signer, err := s.applications.Get(ctx, request.GetKey())
	exists := err == nil
	if errors.Is(err, docstore.ErrNotFound) {
		signer, err = s.signatures.nobody, nil
	}
	if err != nil {
		return nil, err
	}
	if isRight := matches(signer, request); !isRight || !exists || signer.Disabled {
		return nil, apierror.New(codes.Unauthenticated, "SIGNATURE_INVALID", "the signature is wrong, or the application is unknown, disabled or not allowed to use this form")
	}
	if err := s.signatures.admit(ctx, request); err != nil {
		return nil, err
	}
	return &accountv1.VerifySignatureResponse{Application: applicationProto(signer)}, nil
}

// matches reports whether a signature is correct and has a form that the application may
// use. The comparison takes constant time.
func matches(signer application, request *accountv1.VerifySignatureRequest) bool {
	if legacy := request.GetLegacy(); legacy != nil {
		right := requestsig.SignLegacy(signer.Secret, string(legacy.GetText()))
		return hmac.Equal([]byte(right), []byte(legacy.GetSignature())) && signer.AllowLegacy
	}
	right := requestsig.Sign(signer.Secret, [sha256.Size]byte(request.GetHmac().GetCanonicalSha256()))
	return hmac.Equal([]byte(right), []byte(request.GetHmac().GetSignature()))
}

// admit refuses a correct signature whose time is outside the window, or that may be used
// once and was used before.
func (v *verifier) admit(ctx context.Context, request *accountv1.VerifySignatureRequest) error {
	signed := time.Unix(request.GetTimestampSeconds(), 0)
	if now := v.now(); signed.Before(now.Add(-v.window)) || signed.After(now.Add(v.window)) {
		return apierror.New(codes.Unauthenticated, "SIGNATURE_EXPIRED", "the time of the signature is more than %v from now; check the clock and sign again", v.window)
	}
	if request.GetUse() != accountv1.SignatureUse_SIGNATURE_USE_ONCE {
		return nil
	}
	use := usedSignature{
		ID: signatureID(request), RequestID: request.GetRequestId(),
		ExpireMillis: signed.Add(v.window + signatureGrace).UnixMilli(),
	}
	err := v.used.Insert(ctx, use)
	var before *docstore.DuplicateError
	if !errors.As(err, &before) {
		return err
	}
	first, err := v.used.GetLinearizable(ctx, use.ID)
	if err == nil && first.RequestID == use.RequestID {
		return nil // a retry of the same call
	}
	if err != nil && !errors.Is(err, docstore.ErrNotFound) {
		return err
	}
	return apierror.New(codes.Unauthenticated, "SIGNATURE_REPLAYED", "the signature was used before; sign each request separately")
}

// signatureID returns the id of a stored used signature.
func signatureID(request *accountv1.VerifySignatureRequest) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%d\n%s%s", request.GetKey(), request.GetTimestampSeconds(),
		request.GetHmac().GetSignature(), request.GetLegacy().GetSignature()))
	return hex.EncodeToString(sum[:])
}

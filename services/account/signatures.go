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
	// DefaultSignatureWindow is how far the time of a signature may be from now unless
	// the program is told otherwise: clocks that nobody looks after differ by minutes.
	DefaultSignatureWindow = 5 * time.Minute
	// signatureGrace is how long used signatures are kept after the last replica whose
	// clock is right would take them: longer than clocks of replicas differ.
	signatureGrace = 5 * time.Minute
)

// verifier knows when signatures may be used, over all processes that share the store.
// It may be used concurrently.
type verifier struct {
	used   *docstore.Collection[usedSignature]
	now    func() time.Time
	window time.Duration
	// nobody's secret stands in for that of an application that does not exist.
	nobody application
}

func newVerifier(used *docstore.Collection[usedSignature], now func() time.Time, window time.Duration) *verifier {
	if window <= 0 {
		window = DefaultSignatureWindow
	}
	return &verifier{used: used, now: now, window: window, nobody: application{Secret: randomHex(applicationSecretBytes), AllowLegacy: true}}
}

// VerifySignature tells whether a request is signed by an application. One that does
// not exist costs the work of a wrong signature. What is wrong with a signature is told
// only to who can make a right one, and only such signatures are stored as used.
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
		return nil, apierror.New(codes.Unauthenticated, "SIGNATURE_INVALID", "the signature is not that of an application that may sign so")
	}
	if err := s.signatures.admit(ctx, request); err != nil {
		return nil, err
	}
	return &accountv1.VerifySignatureResponse{Application: applicationProto(signer)}, nil
}

// matches reports whether a signature is the one that an application makes, in a form
// that it may use. It takes the same time whether it is nearly right or not at all.
func matches(signer application, request *accountv1.VerifySignatureRequest) bool {
	if legacy := request.GetLegacy(); legacy != nil {
		right := requestsig.SignLegacy(signer.Secret, legacy.GetText())
		return hmac.Equal([]byte(right), []byte(legacy.GetSignature())) && signer.AllowLegacy
	}
	right := requestsig.Sign(signer.Secret, [sha256.Size]byte(request.GetHmac().GetCanonicalSha256()))
	return hmac.Equal([]byte(right), []byte(request.GetHmac().GetSignature()))
}

// admit refuses a right signature that is too old or too new, or was used and may be
// used once.
func (v *verifier) admit(ctx context.Context, request *accountv1.VerifySignatureRequest) error {
	signed := time.Unix(request.GetTimestampSeconds(), 0)
	if now := v.now(); signed.Before(now.Add(-v.window)) || signed.After(now.Add(v.window)) {
		return apierror.New(codes.Unauthenticated, "SIGNATURE_EXPIRED", "the time of the signature is more than %v from now", v.window)
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
	first, err := v.used.Get(ctx, use.ID)
	if err == nil && first.RequestID == use.RequestID {
		return nil // the same call, repeated
	}
	if err != nil && !errors.Is(err, docstore.ErrNotFound) {
		return err
	}
	return apierror.New(codes.Unauthenticated, "SIGNATURE_REPLAYED", "the signature was used before")
}

func (v *verifier) removeExpired(ctx context.Context) error {
	return removeExpired(ctx, v.used, v.now(), func(old usedSignature) string { return old.ID })
}

// signatureID is under what a used signature is stored.
func signatureID(request *accountv1.VerifySignatureRequest) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%d\n%s%s", request.GetKey(), request.GetTimestampSeconds(),
		request.GetHmac().GetSignature(), request.GetLegacy().GetSignature()))
	return hex.EncodeToString(sum[:])
}

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
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/platform/apierror"
	"github.com/waybook/waybook/internal/platform/service"
	"github.com/waybook/waybook/internal/requestsig"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

const (
	// applicationKeyBytes is the size of a generated key, large enough to be unique.
	applicationKeyBytes = 16
	// applicationSecretBytes is the size of a generated secret: 256 bits, the strength of
	// HMAC-SHA256.
	applicationSecretBytes = 32
	// applicationsPage is the default page size, and maxApplications the largest.
	applicationsPage, maxApplications = 20, 100
)

// CreateApplication creates an application. A repeated request returns the existing
// application without its secret, because the secret may have changed.
func (s *server) CreateApplication(ctx context.Context, request *accountv1.CreateApplicationRequest) (*accountv1.CreateApplicationResponse, error) {
	now := s.now()
	created := application{
		Key: request.GetKey(), Name: request.GetName(), Secret: request.GetSecret(), AllowLegacy: request.GetAllowLegacy(),
		CreateTime: now, SecretTime: now,
	}
	if created.Key == "" {
		created.Key = randomHex(applicationKeyBytes)
	}
	if created.Secret == "" {
		created.Secret = randomHex(applicationSecretBytes)
	}
	if created.RequestKey = request.GetRequestId(); created.RequestKey == "" {
		created.RequestKey = "#" + created.Key // as unique as the key; no UUID starts with #
	}
	// Whether a repeat has the same secret stays open, as with passwords.
	shown := proto.CloneOf(request)
	shown.Secret = ""
	asked := docstore.Request{ID: request.GetRequestId(), Digest: service.Digest(shown)}
	err := s.applications.InsertFor(ctx, asked, created)
	if err == nil {
		return &accountv1.CreateApplicationResponse{Application: applicationProto(created), Secret: created.Secret}, nil
	}
	var taken *docstore.DuplicateError
	if !errors.As(err, &taken) {
		return nil, err
	}
	first, isRepeated, err := s.applications.Answered(ctx, asked)
	if err != nil {
		return nil, err
	}
	if !isRepeated {
		return nil, s.keyTaken(ctx, created.Key)
	}
	return &accountv1.CreateApplicationResponse{Application: applicationProto(first)}, nil
}

func (s *server) keyTaken(ctx context.Context, key string) error {
	_, gone, err := s.applications.GetManyOrGone(ctx, []string{key})
	switch {
	case err != nil:
		return err
	case gone[key]:
		return apierror.New(codes.AlreadyExists, "KEY_TAKEN",
			"the application with the key %s was deleted; the key becomes free %v after the deletion", key, s.kept)
	}
	return apierror.New(codes.AlreadyExists, "KEY_TAKEN", "another application already has the key %s", key)
}

// GetApplication returns an application.
func (s *server) GetApplication(ctx context.Context, request *accountv1.GetApplicationRequest) (*accountv1.GetApplicationResponse, error) {
	found, err := s.applications.Get(ctx, request.GetKey())
	if err != nil {
		return nil, noApplication(err, request.GetKey())
	}
	return &accountv1.GetApplicationResponse{Application: applicationProto(found)}, nil
}

// ListApplications returns a page of applications.
func (s *server) ListApplications(ctx context.Context, request *accountv1.ListApplicationsRequest) (*accountv1.ListApplicationsResponse, error) {
	page, err := s.applications.Page(ctx, docstore.Query{
		Where: docstore.All(docstore.IDIndex), Token: request.GetPageToken(), Limit: service.PageSize(request.GetPageSize(), applicationsPage, maxApplications),
	})
	if err != nil {
		return nil, err
	}
	reply := &accountv1.ListApplicationsResponse{NextPageToken: page.Next}
	for _, each := range page.Documents {
		reply.Applications = append(reply.Applications, applicationProto(each))
	}
	return reply, nil
}

// UpdateApplication changes an application.
func (s *server) UpdateApplication(ctx context.Context, request *accountv1.UpdateApplicationRequest) (*accountv1.UpdateApplicationResponse, error) {
	updated, err := s.applications.Update(ctx, request.GetKey(), func(a *application) error {
		if request.Name != nil {
			a.Name = request.GetName()
		}
		if request.AllowLegacy != nil {
			a.AllowLegacy = request.GetAllowLegacy()
		}
		if request.Disabled != nil {
			a.Disabled = request.GetDisabled()
		}
		return nil
	})
	if err != nil {
		return nil, noApplication(err, request.GetKey())
	}
	return &accountv1.UpdateApplicationResponse{Application: applicationProto(updated)}, nil
}

// RotateApplicationSecret replaces the secret of an application.
func (s *server) RotateApplicationSecret(ctx context.Context, request *accountv1.RotateApplicationSecretRequest) (*accountv1.RotateApplicationSecretResponse, error) {
	rotated, err := s.applications.Update(ctx, request.GetKey(), func(a *application) error {
		a.Secret, a.SecretTime = randomHex(applicationSecretBytes), s.now()
		return nil
	})
	if err != nil {
		return nil, noApplication(err, request.GetKey())
	}
	return &accountv1.RotateApplicationSecretResponse{Application: applicationProto(rotated), Secret: rotated.Secret}, nil
}

// DeleteApplication deletes an application.
func (s *server) DeleteApplication(ctx context.Context, request *accountv1.DeleteApplicationRequest) (*accountv1.DeleteApplicationResponse, error) {
	if err := s.applications.Delete(ctx, request.GetKey()); err != nil {
		return nil, noApplication(err, request.GetKey())
	}
	return &accountv1.DeleteApplicationResponse{}, nil
}

func noApplication(err error, key string) error {
	if errors.Is(err, docstore.ErrNotFound) {
		return apierror.NotFound("APPLICATION_NOT_FOUND", "there is no application with the key %s", key)
	}
	return err
}

// applicationProto leaves out the secret.
func applicationProto(a application) *accountv1.Application {
	return &accountv1.Application{
		Key: a.Key, Name: a.Name, AllowLegacy: a.AllowLegacy, Disabled: a.Disabled,
		CreateTime: timestamppb.New(a.CreateTime), SecretTime: timestamppb.New(a.SecretTime),
	}
}

const (
	// DefaultSignatureWindow is the default of -signature-window. Clocks that are not
	// synchronized differ by minutes.
	DefaultSignatureWindow = 5 * time.Minute
	// MaxSignatureWindow is the maximum of -signature-window. A used signature is kept as if it were the
	// window, because another process may have a wider one, now or later.
	MaxSignatureWindow = time.Hour
	// signatureGrace is how long a used signature is kept after that. It is longer than the
	// difference between replicas' clocks.
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
func (s *server) VerifySignature(ctx context.Context, request *accountv1.VerifySignatureRequest) (*accountv1.VerifySignatureResponse, error) {
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
		ExpireMillis: signed.Add(MaxSignatureWindow + signatureGrace).UnixMilli(),
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

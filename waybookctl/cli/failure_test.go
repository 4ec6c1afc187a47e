package cli

import (
	"errors"
	"slices"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/waybook/waybook/internal/platform/apierror"
)

func TestAServiceFailureKeepsItsMessageAndHasAStatus(t *testing.T) {
	for _, test := range []struct {
		answer error
		want   failure
	}{
		{apierror.NotFound("ALBUM_NOT_FOUND", "there is no album 3"), failure{statusNotFound, "there is no album 3", nil}},
		{apierror.NotOwner("only 1 may"), failure{statusRefused, "only 1 may", []string{"without --as you act as the owner"}}},
		{apierror.NotAllowed(), failure{statusRefused, "this client may not call this method",
			[]string{"present a certificate with the name operator, or one that -clients of the service names"}}},
		{apierror.New(codes.AlreadyExists, "EMAIL_TAKEN", "taken"), failure{statusRefused, "taken", nil}},
		{apierror.New(codes.FailedPrecondition, "EMAIL_REQUIRED", "no address"),
			failure{statusRefused, "no address", []string{"give the user an address first: waybookctl user set-email"}}},
		{apierror.New(codes.Unauthenticated, "LOGIN_REQUIRED", "not open"), failure{statusRefused, "not open", nil}},
		{apierror.Invalid("INVALID_PARAMETER", apierror.Violation{Field: "title", Message: "too long"}, apierror.Violation{Field: "location.lat", Message: "too far"}),
			failure{statusRefused, "the album service refuses the request", []string{"title: too long", "location.lat: too far"}}},
		{apierror.New(codes.Unavailable, "STORE_UNAVAILABLE", "no store"), failure{statusUnavailable, "no store", nil}},
		{apierror.New(codes.Aborted, "CONFLICT", "others"), failure{statusUnavailable, "others", nil}},
		{apierror.New(codes.ResourceExhausted, "TOO_MANY_ATTEMPTS", "too many"), failure{statusUnavailable, "too many", nil}},
		{apierror.New(codes.DeadlineExceeded, "DEADLINE_EXCEEDED", "too long"), failure{statusUnavailable, "too long", nil}},
		{apierror.New(codes.Internal, "INTERNAL", "oops"), failure{statusFailed, "oops", []string{"see the service's log for the cause"}}},
		{status.Error(codes.Internal, "stream terminated by RST_STREAM"),
			failure{statusFailed, "the album service at a:1 failed (Internal)", []string{"see its log for the cause"}}},
		{status.Error(codes.PermissionDenied, "x509"), failure{statusRefused, "the album service at a:1 denies access to this program", nil}},
	} {
		got := describe(t.Context(), &callError{&link{service: "album", address: "a:1", timeout: time.Second}, asAnswered(test.answer)})
		if got.status != test.want.status || got.message != test.want.message || !slices.Equal(got.details, test.want.details) {
			t.Errorf("%v is described as %+v, want %+v", test.answer, got, test.want)
		}
	}
}

// asAnswered returns an error as a client receives it.
func asAnswered(err error) error {
	answer, _ := status.FromError(err)
	return answer.Err()
}

func TestAnyOtherErrorIsStatus1(t *testing.T) {
	if got := describe(t.Context(), errors.New("disk full")); got.status != statusFailed || got.message != "disk full" {
		t.Errorf("%+v", got)
	}
}

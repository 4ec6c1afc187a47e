package apierror_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/platform/admission"
	"github.com/waybook/waybook/internal/platform/apierror"
)

// secret stands for text that may appear in the log only.
const secret = "bolt: page 17 of /var/lib/waybook.db"

func TestAConvertedErrorContainsOnlyWhatCallersMayKnow(t *testing.T) {
	for name, test := range map[string]struct {
		err    error
		code   codes.Code
		reason string
	}{
		"an API error":               {apierror.NotFound("ALBUM_NOT_FOUND", "there is no album 7"), codes.NotFound, "ALBUM_NOT_FOUND"},
		"a wrapped API error":        {fmt.Errorf("%s: %w", secret, apierror.NotOwner("no")), codes.PermissionDenied, "NOT_OWNER"},
		"a deadline":                 {fmt.Errorf("%s: %w", secret, context.DeadlineExceeded), codes.DeadlineExceeded, "DEADLINE_EXCEEDED"},
		"a canceled call":            {fmt.Errorf("%s: %w", secret, context.Canceled), codes.Canceled, "CANCELED"},
		"a bad page token":           {fmt.Errorf("%s: %w", secret, docstore.ErrBadToken), codes.InvalidArgument, "INVALID_PARAMETER"},
		"an unavailable store":       {fmt.Errorf("%w: %s", docstore.ErrUnavailable, secret), codes.Unavailable, "STORE_UNAVAILABLE"},
		"a conflict":                 {fmt.Errorf("%w: %s", docstore.ErrConflict, secret), codes.Aborted, "CONFLICT"},
		"a deleted creation":         {fmt.Errorf("%s: %w", secret, docstore.ErrGone), codes.NotFound, "GONE"},
		"a reused request id":        {fmt.Errorf("%s: %w", secret, docstore.ErrRequestReused), codes.AlreadyExists, "REQUEST_ID_REUSED"},
		"a full gate":                {fmt.Errorf("%s: %w", secret, admission.ErrFull), codes.ResourceExhausted, "SERVICE_BUSY"},
		"a duplicate":                {fmt.Errorf("%s: %w", secret, &docstore.DuplicateError{Index: secret}), codes.Aborted, "CONFLICT"},
		"a document not found":       {fmt.Errorf("%s: %w", secret, docstore.ErrNotFound), codes.Internal, "INTERNAL"},
		"anything else":              {errors.New(secret), codes.Internal, "INTERNAL"},
		"a service that is down":     {status.Error(codes.Unavailable, secret), codes.Unavailable, "SERVICE_UNAVAILABLE"},
		"a slow service":             {status.Error(codes.DeadlineExceeded, secret), codes.DeadlineExceeded, "DEADLINE_EXCEEDED"},
		"a canceled remote call":     {status.Error(codes.Canceled, secret), codes.Canceled, "CANCELED"},
		"a status of another system": {status.Error(codes.NotFound, secret), codes.Internal, "INTERNAL"},
	} {
		t.Run(name, func(t *testing.T) {
			got := apierror.From(test.err)
			if got.Kind != test.code || got.Reason != test.reason {
				t.Errorf("got %v %s, want %v %s", got.Kind, got.Reason, test.code, test.reason)
			}
			if shown := fmt.Sprint(got.GRPCStatus().Proto()); strings.Contains(shown, "bolt") || strings.Contains(shown, "/var") {
				t.Errorf("the status contains the private cause: %s", shown)
			}
		})
	}
}

func TestFromNilIsNil(t *testing.T) {
	if got := apierror.From(nil); got != nil {
		t.Errorf("got %v, want nil", got)
	}
}

func TestTheErrorTextForTheLogContainsTheCause(t *testing.T) {
	cause := errors.New(secret)
	got := apierror.From(fmt.Errorf("insert albums: %w", cause))
	if !errors.Is(got, cause) {
		t.Errorf("%v does not wrap its cause", got)
	}
	if !strings.Contains(got.Error(), secret) {
		t.Errorf("the error text lacks the cause: %v", got)
	}
}

func TestAStatusCarriesTheReasonAndEveryViolation(t *testing.T) {
	got := apierror.Invalid("INVALID_PARAMETER",
		apierror.Violation{Field: "title", Message: "is too long"},
		apierror.Violation{Field: "location.lat", Message: "is too high"},
	).GRPCStatus()
	if got.Code() != codes.InvalidArgument {
		t.Errorf("got code %v", got.Code())
	}
	var reason, fields []string
	for _, detail := range got.Details() {
		switch detail := detail.(type) {
		case *errdetails.ErrorInfo:
			reason = append(reason, detail.GetDomain(), detail.GetReason())
		case *errdetails.BadRequest:
			for _, v := range detail.GetFieldViolations() {
				fields = append(fields, v.GetField()+" "+v.GetDescription())
			}
		}
	}
	if want := "[waybook INVALID_PARAMETER]"; fmt.Sprint(reason) != want {
		t.Errorf("got reason %v, want %s", reason, want)
	}
	if want := "[title is too long location.lat is too high]"; fmt.Sprint(fields) != want {
		t.Errorf("got violations %v, want %s", fields, want)
	}
}

func TestTheMessageNamesEveryViolationUpToABound(t *testing.T) {
	few := apierror.Invalid("INVALID_PARAMETER",
		apierror.Violation{Field: "title", Message: "is too long"},
		apierror.Violation{Field: "location.lat", Message: "is too high"},
	)
	if want := "title: is too long; location.lat: is too high"; few.Message != want {
		t.Errorf("got %q, want %q", few.Message, want)
	}
	for name, test := range map[string]struct {
		count, size int
		end         string
	}{
		"many":           {1000, 150, "; and 987 more"},
		"few large ones": {3, 1500, "; and 2 more"},
		"a large one":    {1, 5000, "x"},
	} {
		violation := apierror.Violation{Field: "id", Message: strings.Repeat("x", test.size-len("; id: "))}
		many := apierror.Invalid("INVALID_PARAMETER", slices.Repeat([]apierror.Violation{violation}, test.count)...)
		if !strings.HasSuffix(many.Message, test.end) || test.count > 1 && len(many.Message) > 2100 {
			t.Errorf("%s: got %d bytes, %q, want the end %q", name, len(many.Message), many.Message, test.end)
		}
		if named := many.GRPCStatus().Details()[1].(*errdetails.BadRequest).GetFieldViolations(); len(named) != test.count {
			t.Errorf("%s: the details name %d of %d", name, len(named), test.count)
		}
	}
}

func TestAnErrorOfAnotherWaybookServiceIsPassedOnUnchanged(t *testing.T) {
	remote := apierror.NotFound("USER_NOT_FOUND", "there is no user 7").GRPCStatus().Err()
	got := apierror.From(fmt.Errorf("resolve user 7: %w", remote))
	if got.Kind != codes.NotFound || got.Reason != "USER_NOT_FOUND" || got.Message != "there is no user 7" {
		t.Errorf("got %v %s %q", got.Kind, got.Reason, got.Message)
	}
}

// The caller is not the one that was refused, and could do nothing about it.
func TestAServiceThatRefusesThisOneIsAnInternalErrorWithALoggedCause(t *testing.T) {
	got := apierror.From(fmt.Errorf("resolve user 7: %w", apierror.NotAllowed().GRPCStatus().Err()))
	if got.Kind != codes.Internal || got.Reason != "INTERNAL" {
		t.Errorf("got %v %s", got.Kind, got.Reason)
	}
	if !strings.Contains(got.Error(), "this client may not call this method") {
		t.Errorf("the cause is missing in %v", got)
	}
}

func TestTheRetryDelayIsInTheStatusAndIsPassedOn(t *testing.T) {
	busy := apierror.New(codes.ResourceExhausted, "TOO_MANY_ATTEMPTS", "too many attempts")
	if details := busy.GRPCStatus().Details(); len(details) != 1 {
		t.Errorf("got details %v, want the reason only", details)
	}
	busy.RetryAfter = 90 * time.Second
	got := apierror.From(fmt.Errorf("log in: %w", busy.GRPCStatus().Err()))
	if got.Reason != busy.Reason || got.RetryAfter != busy.RetryAfter {
		t.Errorf("got %s with retry delay %v", got.Reason, got.RetryAfter)
	}
}

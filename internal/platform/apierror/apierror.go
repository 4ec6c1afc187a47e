// Package apierror is the one error type of Waybook's services: a kind and a stable
// reason that callers act on, a message written for them, and a private cause that
// is logged and never leaves the process.
package apierror

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/protoadapt"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/platform/admission"
)

// Domain is the domain of the google.rpc.ErrorInfo that each fault carries.
const Domain = "waybook"

// Error is a failed call as its caller may see it.
type Error struct {
	// Kind is the gRPC status code.
	Kind codes.Code
	// Reason is a stable name in UPPER_SNAKE_CASE, for programs.
	Reason string
	// Message is for people.
	Message string
	// Violations are all fields of the request that are wrong, if that is why.
	Violations []Violation
	// RetryAfter, unless 0, is how long to wait before the same call may succeed.
	RetryAfter time.Duration

	cause error
}

// Violation is one field of a request that is wrong.
type Violation struct {
	// Field is the field's path in the request message, such as "location.lat".
	Field string
	// Message says what the field must be.
	Message string
}

// New makes a fault of a rule that was broken.
func New(kind codes.Code, reason, format string, args ...any) *Error {
	return &Error{Kind: kind, Reason: reason, Message: fmt.Sprintf(format, args...)}
}

// NotFound says that what the request names is not there.
func NotFound(reason, format string, args ...any) *Error {
	return New(codes.NotFound, reason, format, args...)
}

// NotOwner says that only somebody else may do that.
func NotOwner(format string, args ...any) *Error {
	return New(codes.PermissionDenied, "NOT_OWNER", format, args...)
}

// Invalid says which fields of a request are wrong.
func Invalid(reason string, violations ...Violation) *Error {
	e := New(codes.InvalidArgument, reason, "the request is not valid")
	e.Violations = violations
	if len(violations) > 0 {
		e.Message = violations[0].Field + ": " + violations[0].Message
	}
	return e
}

// From makes a fault of any error: itself if it is one, otherwise what callers may
// know of it. It is for the interceptors; a handler returns errors as they are.
func From(err error) *Error {
	if err == nil {
		return nil // before anything that would be allocated
	}
	var known *Error
	var duplicate *docstore.DuplicateError
	switch {
	case errors.As(err, &known):
		return known
	case errors.Is(err, context.DeadlineExceeded):
		known = tooLate()
	case errors.Is(err, context.Canceled):
		known = callerGone()
	case errors.Is(err, admission.ErrFull):
		// Not UNAVAILABLE, which callers repeat at once: that would add to what is too much.
		known = New(codes.ResourceExhausted, "SERVICE_BUSY", "too much is being done at the moment; try again")
		known.RetryAfter = time.Second
	case errors.Is(err, docstore.ErrBadToken):
		known = Invalid("INVALID_PARAMETER", Violation{Field: "page_token", Message: "is not a token of this list"})
	case errors.Is(err, docstore.ErrUnavailable):
		known = New(codes.Unavailable, "STORE_UNAVAILABLE", "the store can't be reached now; try again")
	case errors.Is(err, docstore.ErrConflict), errors.As(err, &duplicate):
		known = New(codes.Aborted, "CONFLICT", "others changed the same thing; try again")
	default:
		known = fromStatus(err)
	}
	known.cause = err
	return known
}

// fromStatus makes a fault of what a call to another service returned. Its code goes
// on; its reason, its message and when to try again only from a service of ours.
func fromStatus(err error) *Error {
	// Not status.FromError: its message has that of every error wrapped around.
	var answer interface{ GRPCStatus() *status.Status }
	if !errors.As(err, &answer) {
		return internalError()
	}
	remote := answer.GRPCStatus()
	var ours *Error
	var retryAfter time.Duration
	for _, detail := range remote.Details() {
		switch detail := detail.(type) {
		case *errdetails.ErrorInfo:
			if detail.GetDomain() == Domain {
				ours = New(remote.Code(), detail.GetReason(), "%s", remote.Message())
			}
		case *errdetails.RetryInfo:
			retryAfter = detail.GetRetryDelay().AsDuration()
		}
	}
	if ours != nil {
		ours.RetryAfter = retryAfter
		return ours
	}
	switch remote.Code() {
	case codes.Unavailable:
		return New(codes.Unavailable, "SERVICE_UNAVAILABLE", "a service that is needed can't be reached now; try again")
	case codes.DeadlineExceeded:
		return tooLate()
	case codes.Canceled:
		return callerGone()
	}
	return internalError()
}

func tooLate() *Error {
	return New(codes.DeadlineExceeded, "DEADLINE_EXCEEDED", "the call took longer than it may")
}

func callerGone() *Error {
	return New(codes.Canceled, "CANCELED", "the caller went away")
}

func internalError() *Error {
	return New(codes.Internal, "INTERNAL", "something went wrong here; it has been logged")
}

// Error gives the reason, the message and the private cause.
func (e *Error) Error() string {
	if e.cause != nil {
		return fmt.Sprintf("%s: %s: %v", e.Reason, e.Message, e.cause)
	}
	return e.Reason + ": " + e.Message
}

// Unwrap returns the private cause.
func (e *Error) Unwrap() error { return e.cause }

// GRPCStatus is what the caller sees: code, message, google.rpc.ErrorInfo with the
// reason, google.rpc.BadRequest with every violation, and google.rpc.RetryInfo.
func (e *Error) GRPCStatus() *status.Status {
	details := []protoadapt.MessageV1{&errdetails.ErrorInfo{Reason: e.Reason, Domain: Domain}}
	if len(e.Violations) > 0 {
		bad := &errdetails.BadRequest{}
		for _, v := range e.Violations {
			bad.FieldViolations = append(bad.FieldViolations,
				&errdetails.BadRequest_FieldViolation{Field: v.Field, Description: v.Message})
		}
		details = append(details, bad)
	}
	if e.RetryAfter > 0 {
		details = append(details, &errdetails.RetryInfo{RetryDelay: durationpb.New(e.RetryAfter)})
	}
	bare := status.New(e.Kind, e.Message)
	full, err := bare.WithDetails(details...)
	if err != nil {
		return bare
	}
	return full
}

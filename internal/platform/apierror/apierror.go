// Package apierror is the one error type of Waybook's services. An error has a kind and a
// stable reason, on which callers act, and a message for people. Its cause is private: it is
// logged and never leaves the process.
package apierror

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/protoadapt"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/platform/admission"
	"github.com/waybook/waybook/internal/platform/rules"
)

// The reasons of PERMISSION_DENIED.
const (
	ReasonNotOwner   = "NOT_OWNER"
	ReasonNotAllowed = "CLIENT_NOT_ALLOWED"
)

// Domain is the domain of the google.rpc.ErrorInfo in each error.
const Domain = "waybook"

// Error is the failure of a call as its caller may see it.
type Error struct {
	// Kind is the gRPC status code.
	Kind codes.Code
	// Reason is a stable name in UPPER_SNAKE_CASE, for programs.
	Reason string
	// Message is for people.
	Message string
	// Violations are all invalid fields of the request, if that is the reason.
	Violations []Violation
	// RetryAfter, unless 0, is how long the caller should wait before a retry.
	RetryAfter time.Duration

	cause error
}

// Violation is an invalid field of a request.
type Violation = rules.Violation

// New returns an error for a broken rule.
func New(kind codes.Code, reason, format string, args ...any) *Error {
	return &Error{Kind: kind, Reason: reason, Message: fmt.Sprintf(format, args...)}
}

// NotFound returns an error for a resource that does not exist.
func NotFound(reason, format string, args ...any) *Error {
	return New(codes.NotFound, reason, format, args...)
}

// NotOwner returns an error for a caller who is not the owner.
func NotOwner(format string, args ...any) *Error {
	return New(codes.PermissionDenied, ReasonNotOwner, format, args...)
}

// NotAllowed returns the error for a client that may not call a method. It is the same for
// all clients and methods, so it tells a stranger nothing else.
func NotAllowed() *Error {
	return New(codes.PermissionDenied, ReasonNotAllowed, "this client may not call this method")
}

// Invalid returns an error for invalid fields of a request. Its message names them.
func Invalid(reason string, violations ...Violation) *Error {
	e := New(codes.InvalidArgument, reason, "the request is invalid")
	e.Violations = violations
	if len(violations) > 0 {
		e.Message = listed(violations)
	}
	return e
}

// maxListed is how many bytes of violations a message names after the first, because proxies and
// clients limit the headers that carry it.
const maxListed = 2000

// listed names violations, and says how many it leaves out.
func listed(violations []Violation) string {
	var text strings.Builder
	for i, v := range violations {
		if i > 0 {
			if text.Len()+len("; ")+len(v.Field)+len(": ")+len(v.Message) > maxListed {
				fmt.Fprintf(&text, "; and %d more", len(violations)-i)
				break
			}
			text.WriteString("; ")
		}
		text.WriteString(v.Field + ": " + v.Message)
	}
	return text.String()
}

// From converts any error to an Error that contains only what callers may know. If err
// wraps an Error, it returns that one. From is for interceptors; handlers return errors
// unconverted.
func From(err error) *Error {
	if err == nil {
		return nil // first, to avoid allocations
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
		// Not UNAVAILABLE, because callers retry that at once and would add to the overload.
		known = New(codes.ResourceExhausted, "SERVICE_BUSY", "too many calls in flight; retry after 1s")
		known.RetryAfter = time.Second
	case errors.Is(err, docstore.ErrBadToken):
		known = Invalid("INVALID_PARAMETER",
			Violation{Field: "page_token", Message: "is not a page token of this list"})
	case errors.Is(err, docstore.ErrForgotten):
		known = New(codes.FailedPrecondition, "START_ANEW",
			"changes after the page token are forgotten; start anew with an empty page_token")
	case errors.Is(err, docstore.ErrUnavailable):
		known = New(codes.Unavailable, "STORE_UNAVAILABLE", "the store is unavailable; retry later")
	case errors.Is(err, docstore.ErrRequestReused):
		known = New(codes.AlreadyExists, "REQUEST_ID_REUSED",
			"an earlier call with this request_id asked for something else; use a new one for each create")
	case errors.Is(err, docstore.ErrGone):
		known = New(codes.NotFound, "GONE", "what an earlier call with this request_id created was deleted")
	case errors.Is(err, docstore.ErrConflict), errors.As(err, &duplicate):
		known = New(codes.Aborted, "CONFLICT", "the resource was changed concurrently; retry")
	default:
		known = fromStatus(err)
	}
	known.cause = err
	return known
}

// fromStatus converts the error of a call to another service. It takes over code, reason,
// message and retry delay from a Waybook service only. That the other service refuses this
// one is not a failure of the caller.
func fromStatus(err error) *Error {
	// Not status.FromError, whose message includes those of all wrapping errors.
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
			if detail.GetDomain() == Domain && detail.GetReason() != ReasonNotAllowed {
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
		return New(codes.Unavailable, "SERVICE_UNAVAILABLE", "a required service is unavailable; retry later")
	case codes.DeadlineExceeded:
		return tooLate()
	case codes.Canceled:
		return callerGone()
	}
	return internalError()
}

func tooLate() *Error {
	return New(codes.DeadlineExceeded, "DEADLINE_EXCEEDED", "the call exceeded its deadline")
}

func callerGone() *Error {
	return New(codes.Canceled, "CANCELED", "the caller canceled the call")
}

func internalError() *Error {
	return New(codes.Internal, "INTERNAL", "internal error; the cause is in the log of the service")
}

// Error returns the reason, the message and the private cause.
func (e *Error) Error() string {
	if e.cause != nil {
		return fmt.Sprintf("%s: %s: %v", e.Reason, e.Message, e.cause)
	}
	return e.Reason + ": " + e.Message
}

func (e *Error) Unwrap() error { return e.cause }

// GRPCStatus returns the status that the caller sees. Its details are google.rpc.ErrorInfo
// with the reason, google.rpc.BadRequest with all violations, and google.rpc.RetryInfo.
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

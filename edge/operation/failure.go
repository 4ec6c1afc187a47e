package operation

import (
	"context"
	"errors"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/waybook/waybook/edge/failure"
	"github.com/waybook/waybook/edge/form"
)

// ReasonDomain is the google.rpc.ErrorInfo domain of the services' own reasons.
const ReasonDomain = "waybook"

// FailureOf turns what a call to a service returned into what the client is told; in is
// what the request was read from. Text of a service is never passed on, only reasons that
// are known here.
func FailureOf(err error, in *form.Reader) *failure.Failure {
	var f *failure.Failure
	if errors.As(err, &f) {
		return f
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return failure.Temporary("SERVICE_TIMEOUT", failure.Unavailable, err)
	}
	answer, ok := status.FromError(err)
	if !ok {
		return failure.Internal(err)
	}
	switch answer.Code() {
	case codes.Unavailable, codes.Canceled: // the client is still here, so the service left
		return failure.Temporary("SERVICE_UNAVAILABLE", failure.Unavailable, err)
	case codes.DeadlineExceeded:
		return failure.Temporary("SERVICE_TIMEOUT", failure.Unavailable, err)
	case codes.ResourceExhausted:
		return tooMany(answer, err)
	}
	return failureOfDetails(answer, in, err)
}

// tooMany is the failure of RESOURCE_EXHAUSTED: of attempts to log in when the
// service says so, of everybody's requests when it is busy, else of this client's. The
// service may say when to try again.
func tooMany(answer *status.Status, cause error) *failure.Failure {
	f := failure.Temporary("TOO_MANY_REQUESTS", failure.TooMany, cause)
	for _, detail := range answer.Details() {
		switch detail := detail.(type) {
		case *errdetails.ErrorInfo:
			switch {
			case detail.GetDomain() != ReasonDomain:
			case detail.GetReason() == "TOO_MANY_ATTEMPTS":
				f.Say(detail.GetReason())
			case detail.GetReason() == "SERVICE_BUSY":
				f.Say(detail.GetReason())
				f.Kind = failure.Unavailable
			}
		case *errdetails.RetryInfo:
			f.RetryAfter = max(f.RetryAfter, detail.GetRetryDelay().AsDuration())
		}
	}
	return f
}

// failureOfDetails reads the details of a status: a known reason, else the
// violated parameters, else the bare code.
func failureOfDetails(answer *status.Status, in *form.Reader, cause error) *failure.Failure {
	for _, detail := range answer.Details() {
		switch detail := detail.(type) {
		case *errdetails.ErrorInfo:
			if detail.GetDomain() != ReasonDomain {
				continue
			}
			if f := failureOfReason(detail.GetReason()); f != nil {
				return f
			}
		case *errdetails.BadRequest:
			for _, violation := range detail.GetFieldViolations() {
				in.Refuse(violation.GetField())
			}
		}
	}
	if f := in.Failure(); f != nil {
		return f
	}
	switch answer.Code() {
	case codes.NotFound:
		return failure.New("NOT_FOUND")
	case codes.AlreadyExists:
		return failure.New("ALREADY_EXISTS")
	case codes.Aborted:
		return failure.New("ABORTED")
	case codes.FailedPrecondition:
		return failure.New("FAILED_PRECONDITION")
	}
	// INVALID_ARGUMENT for a field that no parameter feeds, UNAUTHENTICATED and
	// PERMISSION_DENIED without a reason: the edge's own mistake or identity.
	return failure.Internal(cause)
}

// failureOfReason knows the reasons that the contracts promise; nil for others.
func failureOfReason(reason string) *failure.Failure {
	switch reason {
	case "ALBUM_NOT_FOUND", "BLOG_NOT_FOUND", "POI_NOT_FOUND", "PHOTO_NOT_FOUND",
		"COMMENT_NOT_FOUND", "USER_NOT_FOUND", "VOTE_NOT_FOUND", "CHOICE_NOT_FOUND",
		"ALREADY_VOTED", "CONFLICT", "NOT_OWNER", "LOGIN_REQUIRED", "PASSWORD_INCORRECT",
		"SIGNATURE_INVALID", "SIGNATURE_EXPIRED", "SIGNATURE_REPLAYED":
		return failure.New(reason)
	case "QUOTED_BLOG_NOT_FOUND":
		quoted := form.Parameter{Name: paramReplyBlogID.Name, Hint: "no such blog"}
		return &failure.Failure{Reason: reason, Info: quoted.Invalid().Info}
	}
	return nil
}

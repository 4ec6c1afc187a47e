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

// FailureOf converts the error of a call to the failure that the client sees. in is the reader
// that built the request. Only known reasons reach the client, never a text of a service.
func FailureOf(err error, in *form.Reader) *failure.Failure {
	if f, isFailure := errors.AsType[*failure.Failure](err); isFailure {
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
	case codes.Unavailable, codes.Canceled: // the client is still connected, so the service ended the call
		return failure.Temporary("SERVICE_UNAVAILABLE", failure.Unavailable, err)
	case codes.DeadlineExceeded:
		return failure.Temporary("SERVICE_TIMEOUT", failure.Unavailable, err)
	case codes.ResourceExhausted:
		return tooMany(answer, err)
	}
	return failureOfDetails(answer, in, err)
}

// tooMany converts RESOURCE_EXHAUSTED. By the reason of the service, it is about attempts to log
// in or a busy service. Without a reason, this client sends too many requests. The service may set
// the time of the retry.
func tooMany(answer *status.Status, cause error) *failure.Failure {
	f := failure.Temporary("TOO_MANY_REQUESTS", failure.TooMany, cause)
	for _, detail := range answer.Details() {
		switch detail := detail.(type) {
		case *errdetails.ErrorInfo:
			switch {
			case detail.GetDomain() != ReasonDomain:
			case detail.GetReason() == "TOO_MANY_ATTEMPTS", detail.GetReason() == "TOO_MANY_COMMENTS":
				f.Say(detail.GetReason())
			case detail.GetReason() == "COMMENT_LIMIT_REACHED":
				return failure.New(detail.GetReason()) // no retry helps
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

// failureOfDetails reads the details of a status: first a known reason, then the violated
// fields. Anything else is an internal failure.
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
	// INVALID_ARGUMENT for a field that no parameter feeds is a bug of the edge. UNAUTHENTICATED
	// or PERMISSION_DENIED without a reason rejects the edge itself. Other reasons are the
	// operator's concern.
	return failure.Internal(cause)
}

// failureOfReason returns the failure of a reason that is meant for clients; nil for other
// reasons.
func failureOfReason(reason string) *failure.Failure {
	switch reason {
	case "ALBUM_NOT_FOUND", "BLOG_NOT_FOUND", "POI_NOT_FOUND", "PHOTO_NOT_FOUND",
		"COMMENT_NOT_FOUND", "USER_NOT_FOUND", "ICON_NOT_FOUND", "VOTE_NOT_FOUND", "CHOICE_NOT_FOUND",
		"ALREADY_VOTED", "CONFLICT", "NOT_OWNER", "LOGIN_REQUIRED", "PASSWORD_INCORRECT",
		"PHOTO_NOT_SUPPORTED", "PHOTO_TOO_LARGE", "PHOTO_DAMAGED", "UPLOADS_OFF", "REQUEST_ID_REUSED",
		"REGISTRATION_CLOSED", "INVITATION_INVALID", "EMAIL_TAKEN":
		return failure.New(reason)
	case "QUOTED_BLOG_NOT_FOUND":
		quoted := form.Parameter{Name: paramReplyBlogID.Name, Hint: "no such blog"}
		return &failure.Failure{Reason: reason, Info: quoted.Invalid().Info}
	}
	return nil
}

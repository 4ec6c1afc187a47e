package edge

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/waybook/waybook/internal/platform/admission"
)

// reasonDomain is the google.rpc.ErrorInfo domain of the services' own reasons.
const reasonDomain = "waybook"

// failure is a reply that says FAILED.
type failure struct {
	// reason is stable, for programs: the header X-Waybook-Reason.
	reason string
	// info is the phrase for people.
	info string
	// status is the HTTP status. 0 is 200, because old clients read a body
	// only then (contract 7.3 leaves it open).
	status int
	// retryAfter is when the same request may succeed; 0 when waiting is no help.
	retryAfter time.Duration
	// cause is for the log and never leaves the process.
	cause error
}

func (f *failure) Error() string { return f.info }

func (f *failure) Unwrap() error { return f.cause }

// plainFailure derives the phrase from the reason: LOGIN_REQUIRED says LOGIN REQUIRED.
func plainFailure(reason string) *failure {
	return &failure{reason: reason, info: strings.ReplaceAll(reason, "_", " ")}
}

// refusal is a failure of the transport, before or beside any operation.
func refusal(reason string, status int) *failure {
	f := plainFailure(reason)
	f.status = status
	return f
}

func internalError(cause error) *failure {
	f := plainFailure("INTERNAL_ERROR")
	f.cause = cause
	return f
}

func missingParameter(p *parameter) *failure {
	return &failure{reason: "MISSING_PARAMETER", info: "MISSING PARAMETER: " + p.name}
}

func invalidParameter(p *parameter) *failure {
	return &failure{reason: "INVALID_PARAMETER", info: "INVALID PARAMETER: " + p.name + " (" + p.hint + ")"}
}

// brokenEncoding names the parameters that are not text.
func brokenEncoding(names []string) *failure {
	const phrase = "INVALID ENCODING: "
	return &failure{reason: "INVALID_ENCODING", info: phrase + strings.Join(names, "; "+phrase)}
}

// failureOf turns whatever an operation returned into what the client is told.
// Text of a service is never passed on, only reasons that are known here.
func failureOf(err error, in *input) *failure {
	var f *failure
	if errors.As(err, &f) {
		return f
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return unavailable("SERVICE_TIMEOUT", http.StatusServiceUnavailable, err)
	}
	if errors.Is(err, admission.ErrFull) {
		return unavailable("SERVICE_BUSY", http.StatusServiceUnavailable, err)
	}
	answer, ok := status.FromError(err)
	if !ok {
		return internalError(err)
	}
	switch answer.Code() {
	case codes.Unavailable, codes.Canceled: // the client is still here, so the service left
		return unavailable("SERVICE_UNAVAILABLE", http.StatusServiceUnavailable, err)
	case codes.DeadlineExceeded:
		return unavailable("SERVICE_TIMEOUT", http.StatusServiceUnavailable, err)
	case codes.ResourceExhausted:
		return tooMany(answer, err)
	}
	return failureOfDetails(answer, in, err)
}

// unavailable is a failure that is likely to pass in a moment.
func unavailable(reason string, status int, cause error) *failure {
	f := refusal(reason, status)
	f.retryAfter = time.Second
	f.cause = cause
	return f
}

// tooMany is the failure of RESOURCE_EXHAUSTED: of attempts to log in when the
// service says so, of everybody's requests when it is busy, else of this client's. The
// service may say when to try again.
func tooMany(answer *status.Status, cause error) *failure {
	reason, code, retryAfter := "TOO_MANY_REQUESTS", http.StatusTooManyRequests, time.Second
	for _, detail := range answer.Details() {
		switch detail := detail.(type) {
		case *errdetails.ErrorInfo:
			switch {
			case detail.GetDomain() != reasonDomain:
			case detail.GetReason() == "TOO_MANY_ATTEMPTS":
				reason = detail.GetReason()
			case detail.GetReason() == "SERVICE_BUSY":
				reason, code = detail.GetReason(), http.StatusServiceUnavailable
			}
		case *errdetails.RetryInfo:
			retryAfter = max(retryAfter, detail.GetRetryDelay().AsDuration())
		}
	}
	f := unavailable(reason, code, cause)
	f.retryAfter = retryAfter
	return f
}

// failureOfDetails reads the details of a status: a known reason, else the
// violated parameters, else the bare code.
func failureOfDetails(answer *status.Status, in *input, cause error) *failure {
	for _, detail := range answer.Details() {
		switch detail := detail.(type) {
		case *errdetails.ErrorInfo:
			if detail.GetDomain() != reasonDomain {
				continue
			}
			if f := failureOfReason(detail.GetReason()); f != nil {
				return f
			}
		case *errdetails.BadRequest:
			for _, violation := range detail.GetFieldViolations() {
				in.refuse(violation.GetField())
			}
		}
	}
	if f := in.failure(); f != nil {
		return f
	}
	switch answer.Code() {
	case codes.NotFound:
		return plainFailure("NOT_FOUND")
	case codes.AlreadyExists:
		return plainFailure("ALREADY_EXISTS")
	case codes.Aborted:
		return plainFailure("ABORTED")
	case codes.FailedPrecondition:
		return plainFailure("FAILED_PRECONDITION")
	}
	// INVALID_ARGUMENT for a field that no parameter feeds, UNAUTHENTICATED and
	// PERMISSION_DENIED without a reason: the edge's own mistake or identity.
	return internalError(cause)
}

// failureOfReason knows the reasons that the contracts promise; nil for others.
func failureOfReason(reason string) *failure {
	switch reason {
	case "ALBUM_NOT_FOUND", "BLOG_NOT_FOUND", "POI_NOT_FOUND", "PHOTO_NOT_FOUND",
		"COMMENT_NOT_FOUND", "USER_NOT_FOUND", "VOTE_NOT_FOUND", "CHOICE_NOT_FOUND",
		"ALREADY_VOTED", "CONFLICT", "NOT_OWNER", "LOGIN_REQUIRED", "PASSWORD_INCORRECT",
		"SIGNATURE_INVALID", "SIGNATURE_EXPIRED", "SIGNATURE_REPLAYED":
		return plainFailure(reason)
	case "QUOTED_BLOG_NOT_FOUND":
		quoted := parameter{name: paramReplyBlogID.name, hint: "no such blog"}
		return &failure{reason: reason, info: invalidParameter(&quoted).info}
	}
	return nil
}

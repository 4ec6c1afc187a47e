package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/waybook/waybook/internal/platform/apierror"
	"github.com/waybook/waybook/waybookctl/output"
	"github.com/waybook/waybook/waybookctl/transfer"
)

// The exit statuses. Scripts rely on them: they never change their meaning.
const (
	statusOK = 0
	// statusFailed is a failure that no other status covers.
	statusFailed = 1
	// statusUsage means that the command line is invalid.
	statusUsage = 2
	// statusNotFound means that something does not exist.
	statusNotFound = 3
	// statusRefused means that a service will refuse the request again: it is invalid, not allowed,
	// or asks for something taken.
	statusRefused = 4
	// statusUnavailable means that a retry may succeed.
	statusUnavailable = 5
	// statusDifferent and statusTrouble are those of diff, for compare and move verify only: replies differ; the
	// comparison could not be made, or not of all requests.
	statusDifferent = 1
	statusTrouble   = 2
	// statusInterrupted means that SIGINT or SIGTERM ended the command.
	statusInterrupted = 130
)

// usageError says why a command line is invalid.
type usageError string

// Error returns the reason.
func (e usageError) Error() string { return string(e) }

// failure is a failed command as its user sees it.
type failure struct {
	status  int
	message string
	// details are printed on lines of their own.
	details []string
}

func (f failure) print(out io.Writer) {
	lines := []string{output.Visible(name + ": " + f.message)}
	for _, detail := range f.details {
		lines = append(lines, output.Visible(detail))
	}
	_, _ = io.WriteString(out, strings.Join(lines, "\n  ")+"\n") // a failed write cannot be reported
}

// describe returns the exit status and the message for an error.
func describe(ctx context.Context, err error) failure {
	var usage usageError
	var parse *commandLineError
	var call *callError
	var file *transfer.InvalidFileError
	var refused refusedError
	var notKept notKeptError
	var different differentError
	var trouble troubleError
	switch {
	case ctx.Err() != nil, errors.Is(err, errGivenUp):
		return failure{status: statusInterrupted, message: "interrupted"}
	case errors.As(err, &different):
		return failure{status: statusDifferent, message: different.Error()}
	case errors.As(err, &trouble):
		return failure{status: statusTrouble, message: trouble.Error()}
	case errors.As(err, &usage):
		return failure{status: statusUsage, message: usage.Error()}
	case errors.As(err, &parse):
		return failure{statusUsage, parse.Error(), append(parse.twins, parse.help())}
	case errors.As(err, &call):
		return describeCall(call)
	case errors.As(err, &file):
		return describeFile(file)
	case errors.As(err, &notKept):
		return failure{status: statusNotFound, message: notKept.Error()}
	case errors.As(err, &refused):
		return failure{status: statusRefused, message: refused.Error()}
	}
	return failure{status: statusFailed, message: err.Error()}
}

// describeCall describes a failed call. It keeps the messages of Waybook's services, which are
// written for people, and replaces those of gRPC.
func describeCall(call *callError) failure {
	answer := status.Convert(call.cause)
	var reason string
	var violations []string
	for _, detail := range answer.Details() {
		switch detail := detail.(type) {
		case *errdetails.ErrorInfo:
			if detail.GetDomain() == apierror.Domain {
				reason = detail.GetReason()
			}
		case *errdetails.BadRequest:
			for _, violation := range detail.GetFieldViolations() {
				violations = append(violations, violation.GetField()+": "+violation.GetDescription())
			}
		}
	}
	if reason == "" {
		return describeTransport(call, answer.Code())
	}
	f := failure{statusOf(answer.Code()), answer.Message(), violations}
	if len(violations) > 0 {
		f.message = "the " + call.service + " service refuses the request"
	}
	if next := nextStep(reason); next != "" {
		f.details = append(f.details, next)
	}
	return f
}

// statusOf returns the exit status for a service's code.
func statusOf(code codes.Code) int {
	switch code {
	case codes.NotFound:
		return statusNotFound
	case codes.AlreadyExists, codes.PermissionDenied, codes.FailedPrecondition,
		codes.InvalidArgument, codes.Unauthenticated, codes.OutOfRange:
		return statusRefused
	case codes.Unavailable, codes.DeadlineExceeded, codes.Aborted, codes.ResourceExhausted:
		return statusUnavailable
	}
	return statusFailed
}

// nextStep returns advice for a reason whose message has none.
func nextStep(reason string) string {
	switch reason {
	case "NOT_OWNER":
		return "without --as you act as the owner"
	case "CLIENT_NOT_ALLOWED":
		return "present a certificate with the name operator, or one that -clients of the service names"
	case "EMAIL_REQUIRED":
		return "give the user an address first: " + name + " user set-email"
	case "STORE_NOT_EMBEDDED":
		return "for a MongoDB use mongodump; see docs/operations.md"
	case "INTERNAL":
		return "see the service's log for the cause"
	}
	return ""
}

// describeTransport describes a call that none of Waybook's services answered.
func describeTransport(call *callError, code codes.Code) failure {
	if f, found := describeTLS(call); found {
		return f
	}
	at := fmt.Sprintf("%s service", call.service)
	switch code {
	case codes.Unavailable:
		return failure{statusUnavailable, "no " + at + " answers at " + call.address, []string{
			fmt.Sprintf("is it running? set --address or --%s if it is elsewhere", call.service),
		}}
	case codes.DeadlineExceeded:
		return failure{statusUnavailable, fmt.Sprintf("the %s at %s did not answer within %s", at, call.address, call.timeout), []string{
			"retry, or raise --timeout; the operation may have been done",
		}}
	case codes.Unimplemented:
		return failure{statusFailed, fmt.Sprintf("the process at %s does not have this operation of the %s", call.address, at), []string{
			fmt.Sprintf("set --%s if the %s is elsewhere; otherwise, that process is older than this program", call.service, at),
		}}
	case codes.Unauthenticated, codes.PermissionDenied:
		return failure{status: statusRefused, message: fmt.Sprintf("the %s at %s denies access to this program", at, call.address)}
	}
	return failure{statusFailed, fmt.Sprintf("the %s at %s failed (%s)", at, call.address, code), []string{"see its log for the cause"}}
}

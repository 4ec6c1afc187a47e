package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
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
	statusOK          = 0
	statusFailed      = 1
	statusUsage       = 2
	statusNotFound    = 3
	statusRefused     = 4
	statusUnavailable = 5
	statusInterrupted = 130

	// statusDifferent and statusTrouble are those of diff, for compare only: replies differ; the
	// comparison could not be made, or not of all requests.
	statusDifferent = 1
	statusTrouble   = 2
)

// exitStatuses say what the statuses mean: to the help in a word, to docs/waybookctl.md in a
// sentence.
var exitStatuses = []struct {
	status        int
	word, meaning string
}{
	{statusOK, "success", "success"},
	{statusFailed, "failure", "any failure that no other status covers"},
	{statusUsage, "invalid command line", "invalid command line"},
	{statusNotFound, "not found", "not found; also a file"},
	{statusRefused, "refused", "refused: invalid, not allowed, taken already, changed since (`--etag`), not all " +
		"moved in or stored as the files say (`move`), or no permission to use the socket"},
	{statusUnavailable, "unavailable (retry)", "a service is unreachable, too slow or too busy: a retry may succeed"},
	{statusInterrupted, "interrupted", "interrupted (SIGINT or SIGTERM)"},
}

// statusLine returns the exit statuses on one line.
func statusLine() string {
	var all []string
	for _, each := range exitStatuses {
		all = append(all, fmt.Sprintf("%d %s", each.status, each.word))
	}
	return strings.Join(all, ", ")
}

// statusError ends a command with a status of its own.
type statusError struct {
	status  int
	message string
}

func (e statusError) Error() string { return e.message }

// usageError says why a command line is invalid.
func usageError(reason string) error { return statusError{statusUsage, reason} }

// refusedError says that a service refuses all or part of a request.
func refusedError(reason string) error { return statusError{statusRefused, reason} }

// differentError says that replies differ.
func differentError(count string) error { return statusError{statusDifferent, count} }

// trouble says why a comparison could not be made: any error of a command with the tag diff but
// differentError.
type trouble struct{ error }

func (t trouble) Unwrap() error { return t.error }

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
	if cause, isTrouble := err.(trouble); isTrouble {
		f := describe(ctx, cause.error)
		if f.status != statusInterrupted {
			f.status = statusTrouble
		}
		return f
	}
	var parse *commandLineError
	var call *callError
	var file *transfer.InvalidFileError
	var own statusError
	switch {
	case ctx.Err() != nil, errors.Is(err, errGivenUp):
		return failure{status: statusInterrupted, message: "interrupted"}
	case errors.Is(err, fs.ErrNotExist):
		return failure{status: statusNotFound, message: err.Error()}
	case errors.As(err, &parse):
		return failure{statusUsage, parse.Error(), append(parse.twins, parse.help())}
	case errors.As(err, &call):
		return describeCall(call)
	case errors.As(err, &file):
		return describeFile(file)
	case errors.As(err, &own):
		return failure{status: own.status, message: err.Error()}
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
	if reason == "ETAG_MISMATCH" { // a retry with the same etag fails again
		f.status = statusRefused
	}
	if len(violations) > 0 {
		f.message = "the " + call.service + " service refuses the request"
	}
	if next := nextSteps[reason]; next != "" {
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

// nextSteps are advice for reasons whose messages have none.
var nextSteps = map[string]string{
	"ETAG_MISMATCH":      "it was changed since; look at it again with show",
	"CLIENT_NOT_ALLOWED": "present a certificate with the name operator, or one that -clients of the service names",
	"EMAIL_REQUIRED":     "give the user an address first: " + name + " user update --email",
	"STORE_NOT_EMBEDDED": "for a MongoDB use mongodump; see docs/operations.md",
	"INTERNAL":           "see the service's log for the cause",
}

// describeTransport describes a call that none of Waybook's services answered.
func describeTransport(call *callError, code codes.Code) failure {
	if f, found := describeTLS(call); found {
		return f
	}
	at := fmt.Sprintf("%s service", call.service)
	switch code {
	case codes.Unavailable:
		text := strings.TrimSuffix(status.Convert(call.cause).Message(), `"`)
		cause := text[strings.LastIndex(text, ": ")+1:]
		if cause == " permission denied" {
			return refused("permission denied: "+call.address, "run as root, or as the user of the service")
		}
		return failure{statusUnavailable, "no " + at + " answers at " + call.address + ":" + cause, []string{
			fmt.Sprintf("is it running? set --address or --%s if it is elsewhere", call.service),
		}}
	case codes.DeadlineExceeded:
		return failure{statusUnavailable,
			fmt.Sprintf("the %s at %s did not answer within %s", at, call.address, call.timeout), []string{
				"retry, or raise --timeout; the operation may have been done",
			}}
	case codes.Unimplemented:
		return failure{statusFailed, fmt.Sprintf("the process at %s does not have this operation of the %s",
			call.address, at), []string{
			fmt.Sprintf("set --%s if the %s is elsewhere; otherwise, that process is older than this program",
				call.service, at),
		}}
	case codes.Unauthenticated, codes.PermissionDenied:
		return failure{status: statusRefused,
			message: fmt.Sprintf("the %s at %s denies access to this program", at, call.address)}
	}
	return failure{statusFailed, fmt.Sprintf("the %s at %s failed (%s)", at, call.address, code),
		[]string{"see its log for the cause"}}
}

// describeTLS describes a connection that failed because of a certificate, on either side. It
// reports false for any other failure. gRPC passes on only the text of crypto/tls and crypto/x509,
// and a server's refusal arrives after the client's handshake, so the text is all there is.
func describeTLS(call *callError) (failure, bool) {
	text := strings.TrimSuffix(status.Convert(call.cause).Message(), `"`)
	at := "the " + call.service + " service at " + call.address
	if _, refusal, found := strings.Cut(text, "remote error: tls: "); found {
		return refused(at+" does not accept the certificate in --tls-cert: "+refusal,
			"use a certificate from an authority that the service trusts, with --tls-cert and --tls-key"), true
	}
	if strings.Contains(text, "first record does not look like a TLS handshake") {
		return refused("the process at "+call.address+" does not use TLS",
			"leave out --tls-cert, --tls-key and --tls-ca, or set --address or --"+call.service+
				" if the service is elsewhere"), true
	}
	_, cause, found := strings.Cut(text, "x509: ")
	switch {
	case !found:
		return failure{}, false
	case strings.HasPrefix(cause, "certificate signed by unknown authority"):
		return refused("the certificate of "+at+" is from an authority that is not in --tls-ca",
			"use the services' ca.crt, for example the one in the Secret waybook-operator-tls"), true
	case strings.HasPrefix(cause, "certificate is "), strings.HasPrefix(cause, "cannot validate certificate for"):
		return refused("the certificate of "+at+" is for another name: "+cause,
			"set --tls-server-name "+call.service+" if this address is a tunnel to the service"), true
	}
	return refused("the certificate of "+at+" is not valid: "+cause, "see Certificates in docs/operations.md"), true
}

func refused(message, next string) failure {
	return failure{statusRefused, message, []string{next}}
}

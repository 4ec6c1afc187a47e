// Package failure describes why a request failed: a stable reason for programs, and a phrase for
// people.
package failure

import (
	"strings"
	"time"
)

// Kind says who must act on a failure.
type Kind int

const (
	// Refused: the client must change the request, or an operation does not allow it.
	Refused Kind = iota
	// Unavailable: a service does not answer at the moment.
	Unavailable
	// TooMany: the client sends too many requests.
	TooMany
)

// Failure is a reply with the status FAILED.
type Failure struct {
	// Reason is stable and for programs. The edge sends it in the header X-Waybook-Reason.
	Reason string
	// Info is the phrase for people.
	Info string
	Kind Kind
	// RetryAfter is the wait after which the same request may succeed; 0 when waiting does not
	// help.
	RetryAfter time.Duration
	// Cause is for the log; clients never see it.
	Cause error
}

// Error returns the phrase.
func (f *Failure) Error() string { return f.Info }

// Unwrap returns the cause.
func (f *Failure) Unwrap() error { return f.Cause }

// New returns a Failure whose phrase derives from the reason: LOGIN_REQUIRED becomes LOGIN
// REQUIRED.
func New(reason string) *Failure {
	f := &Failure{}
	f.Say(reason)
	return f
}

// Say sets the reason and derives the phrase from it.
func (f *Failure) Say(reason string) {
	f.Reason, f.Info = reason, strings.ReplaceAll(reason, "_", " ")
}

// Internal returns the failure of a fault on the server side.
func Internal(cause error) *Failure {
	f := New("INTERNAL_ERROR")
	f.Cause = cause
	return f
}

// Temporary returns a failure that is likely to pass within a second.
func Temporary(reason string, kind Kind, cause error) *Failure {
	f := New(reason)
	f.Kind, f.RetryAfter, f.Cause = kind, time.Second, cause
	return f
}

// Package failure says why a request failed, to programs by a stable reason and to people
// by a phrase.
package failure

import (
	"strings"
	"time"
)

// Kind says who has to do something about a failure.
type Kind int

const (
	// Refused: the request cannot succeed as it is, or an operation says no.
	Refused Kind = iota
	// Unavailable: a service does not answer now.
	Unavailable
	// TooMany: the client sends too much.
	TooMany
)

// Failure is a reply that says FAILED.
type Failure struct {
	// Reason is stable and for programs: the header X-Waybook-Reason.
	Reason string
	// Info is the phrase for people.
	Info string
	Kind Kind
	// RetryAfter is when the same request may succeed; 0 when waiting does not help.
	RetryAfter time.Duration
	// Cause is for the log and never leaves the process.
	Cause error
}

// Error returns the phrase.
func (f *Failure) Error() string { return f.Info }

// Unwrap returns the cause.
func (f *Failure) Unwrap() error { return f.Cause }

// New derives the phrase from the reason: LOGIN_REQUIRED says LOGIN REQUIRED.
func New(reason string) *Failure {
	f := &Failure{}
	f.Say(reason)
	return f
}

// Say sets the reason, and the phrase that derives from it.
func (f *Failure) Say(reason string) {
	f.Reason, f.Info = reason, strings.ReplaceAll(reason, "_", " ")
}

// Internal is a fault of this side, whatever the client sent.
func Internal(cause error) *Failure {
	f := New("INTERNAL_ERROR")
	f.Cause = cause
	return f
}

// Temporary is a failure that is likely to pass within a second.
func Temporary(reason string, kind Kind, cause error) *Failure {
	f := New(reason)
	f.Kind, f.RetryAfter, f.Cause = kind, time.Second, cause
	return f
}

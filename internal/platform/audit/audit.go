// Package audit writes the audit log: one line for each event that matters to security, such
// as a login or a new secret. The contracts declare the events of their methods
// (waybook/access/v1/access.proto). docs/operations.md describes the lines.
package audit

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"log/slog"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc/codes"

	"github.com/waybook/waybook/internal/platform/access"
	"github.com/waybook/waybook/internal/platform/apierror"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	photov1 "github.com/waybook/waybook/proto/gen/waybook/photo/v1"
)

// The events that no contract declares, because any method may cause them.
const (
	// CallRefused is a call of a method that the client may not call.
	CallRefused = "call_refused"
	// OwnerMismatch is a change by a user who is not the owner.
	OwnerMismatch = "owner_mismatch"
	// OperatorCall is a call by the operator of a method that is not a read and that has no
	// event of its own.
	OperatorCall = "operator_call"
)

// login is the event that the contract of account declares for attempts to log in.
const login = "login"

// The outcomes of an event.
const (
	succeeded = "ok"
	refused   = "refused" // by a rule: nothing has changed
	limited   = "limited" // by a limit: nothing has changed
	failed    = "failed"  // by a fault: something may have changed
)

// Log is the audit log. It may be used concurrently. A nil Log records nothing.
type Log struct {
	rules  access.Rules
	lines  *slog.Logger
	events *prometheus.CounterVec
}

// Register declares the flag -audit-log, whose value New takes as hasLines.
func Register(flags *flag.FlagSet, hasLines *bool) {
	flags.BoolVar(hasLines, "audit-log", true,
		"log one line with log=audit per event that matters to security, at any -log-level (docs/operations.md)")
}

// New returns a log that writes where log does, whatever the level of log. It counts the
// events in a metric of registry. Without hasLines it only counts.
func New(rules access.Rules, hasLines bool, log *slog.Logger, registry prometheus.Registerer) *Log {
	l := &Log{
		rules: rules, lines: slog.New(slog.DiscardHandler),
		events: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "waybook_audit_events_total",
			Help: "Events of the audit log, by event and outcome (ok, refused, limited or failed).",
		}, []string{"event", "outcome"}),
	}
	if hasLines {
		l.lines = slog.New(unfiltered{log.Handler()}).With("log", "audit")
	}
	registry.MustRegister(l.events)
	// Create these series now, so that their first increase is visible.
	for _, event := range []string{CallRefused, OwnerMismatch} {
		l.events.WithLabelValues(event, refused)
	}
	for _, outcome := range []string{succeeded, refused, limited} {
		l.events.WithLabelValues(login, outcome)
	}
	return l
}

// Call is a call that has ended.
type Call struct {
	// Method is the method's full name.
	Method string
	Caller access.Caller
	// Request and Reply are those of a unary call, and nil for a stream.
	Request, Reply any
	// User is the user that the first message of a stream names, or 0.
	User int64
	// Failure is why the call failed; nil if it succeeded.
	Failure *apierror.Error
}

type unrecorded struct{}

// Unrecorded returns a context whose calls in process are not recorded: those by which a program
// makes demo content.
func Unrecorded(ctx context.Context) context.Context {
	return context.WithValue(ctx, unrecorded{}, true)
}

// Record writes and counts the event of a call, if it is one. The line carries the request id
// of the context. It has neither secrets nor texts of users.
func (l *Log) Record(ctx context.Context, call *Call) {
	if l == nil {
		return
	}
	event := l.eventOf(call)
	if event == "" || ctx.Value(unrecorded{}) != nil {
		return
	}
	outcome := outcomeOf(call.Failure)
	l.events.WithLabelValues(event, outcome).Inc()
	attributes := make([]slog.Attr, 0, 9)
	attributes = append(attributes, slog.String("event", event), slog.String("outcome", outcome))
	if call.Failure != nil {
		attributes = append(attributes, slog.String("reason", call.Failure.Reason))
	}
	attributes = append(attributes, slog.String("caller", call.Caller.Name), slog.String("method", call.Method))
	level := slog.LevelInfo
	if event == CallRefused {
		level = slog.LevelWarn // a wrong configuration, or a stolen certificate
	}
	l.lines.LogAttrs(ctx, level, "audit", appendSubjects(attributes, call)...)
}

// eventOf returns the event of a call, or "" if the log does not record the call.
func (l *Log) eventOf(call *Call) string {
	if call.Failure != nil {
		switch {
		case call.Failure.Reason == apierror.ReasonNotAllowed:
			return CallRefused
		case call.Failure.Reason == apierror.ReasonNotOwner:
			return OwnerMismatch
		case call.Failure.Kind == codes.InvalidArgument:
			return "" // not a request that the service understands
		}
	}
	rule, known := l.rules.Of(call.Method)
	switch {
	case !known:
		return ""
	case rule.PasswordEvent != "" && hasPassword(call.Request):
		return rule.PasswordEvent
	case rule.Event != "":
		return rule.Event
	case call.Caller.IsOperator && !rule.IsRead:
		return OperatorCall
	}
	return ""
}

func outcomeOf(failure *apierror.Error) string {
	if failure == nil {
		return succeeded
	}
	switch failure.Kind {
	case codes.ResourceExhausted:
		return limited
	case codes.Internal, codes.Unavailable, codes.DeadlineExceeded, codes.Aborted, codes.Canceled, codes.Unknown,
		codes.DataLoss:
		return failed
	}
	return refused
}

// unfiltered is a handler that logs at every level.
type unfiltered struct{ slog.Handler }

func (unfiltered) Enabled(context.Context, slog.Level) bool { return true }

func (u unfiltered) WithAttrs(attributes []slog.Attr) slog.Handler {
	return unfiltered{u.Handler.WithAttrs(attributes)}
}

func (u unfiltered) WithGroup(name string) slog.Handler { return unfiltered{u.Handler.WithGroup(name)} }

// hashDigits is how many hexadecimal digits of the hash of an email address are logged.
// That is enough to tell addresses apart.
const hashDigits = 16

// appendSubjects adds the user, the client and the email address of a call, as far as its messages
// name them. It reads no other fields.
func appendSubjects(attributes []slog.Attr, call *Call) []slog.Attr {
	user := cmp.Or(call.User, userIn(call.Request))
	if made, ok := call.Reply.(interface{ GetUser() *accountv1.User }); ok && call.Failure == nil {
		user = cmp.Or(user, made.GetUser().GetUserId())
	}
	if user != 0 {
		attributes = append(attributes, slog.Int64("user_id", user))
	}
	if from, ok := call.Request.(interface{ GetClientAddress() string }); ok && from.GetClientAddress() != "" {
		attributes = append(attributes, slog.String("client_address", from.GetClientAddress()))
	}
	if of, ok := call.Request.(interface{ GetEmail() string }); ok && strings.Contains(of.GetEmail(), "@") {
		attributes = append(attributes, slog.String("email_hash", emailHash(of.GetEmail())))
	}
	return attributes
}

// UserOf returns the user that a message of the contracts names, or its start, if it begins a
// stream, or 0.
func UserOf(message any) int64 {
	if upload, ok := message.(interface{ GetStart() *photov1.UploadStart }); ok {
		message = upload.GetStart()
	}
	return userIn(message)
}

// userIn returns the user that a message names (rule 14.3), or 0.
func userIn(message any) (user int64) {
	if of, ok := message.(interface{ GetUserId() int64 }); ok {
		user = of.GetUserId()
	}
	if of, ok := message.(interface{ GetActorId() int64 }); ok {
		user = cmp.Or(user, of.GetActorId())
	}
	if of, ok := message.(interface{ GetOwnerId() int64 }); ok {
		user = cmp.Or(user, of.GetOwnerId())
	}
	if of, ok := message.(interface{ GetAuthorId() int64 }); ok {
		user = cmp.Or(user, of.GetAuthorId())
	}
	return user
}

// emailHash returns a part of the SHA-256 of an address in lower case. A text that is no address
// has none in the log: users type passwords into the wrong field.
func emailHash(email string) string {
	sum := sha256.Sum256([]byte(strings.ToLower(email)))
	return hex.EncodeToString(sum[:])[:hashDigits]
}

func hasPassword(request any) bool {
	of, ok := request.(interface{ GetPassword() string })
	return ok && of.GetPassword() != ""
}

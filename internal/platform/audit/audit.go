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
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/waybook/waybook/internal/platform/access"
	"github.com/waybook/waybook/internal/platform/apierror"
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
	rules  *access.Rules
	lines  *slog.Logger
	events *prometheus.CounterVec
}

// Register declares the flag -audit-log, whose value New takes as hasLines.
func Register(flags *flag.FlagSet, hasLines *bool) {
	flags.BoolVar(hasLines, "audit-log", true, "log one line with log=audit per event that matters to security, at any -log-level (docs/operations.md)")
}

// New returns a log that writes where log does, whatever the level of log. It counts the
// events in a metric of registry. Without hasLines it only counts.
func New(rules *access.Rules, hasLines bool, log *slog.Logger, registry prometheus.Registerer) *Log {
	l := &Log{
		rules: rules, lines: slog.New(slog.DiscardHandler),
		events: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "waybook_audit_events_total", Help: "Events of the audit log, by event and outcome (ok, refused, limited or failed).",
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

// Unrecorded returns a context whose calls in process are not recorded: those by which a program makes demo content.
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
	case rule.PasswordEvent != "" && hasField(call.Request, "password"):
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
	case codes.Internal, codes.Unavailable, codes.DeadlineExceeded, codes.Aborted, codes.Canceled, codes.Unknown, codes.DataLoss:
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
	request, reply := fieldsOf(call.Request), fieldsOf(call.Reply)
	if call.Failure != nil {
		reply = fields{}
	}
	user := cmp.Or(call.User, request.user(), reply.part("user").user())
	if user != 0 {
		attributes = append(attributes, slog.Int64("user_id", user))
	}
	if address := request.text("client_address"); address != "" {
		attributes = append(attributes, slog.String("client_address", address))
	}
	if hash := emailHash(request.text("email")); hash != "" {
		attributes = append(attributes, slog.String("email_hash", hash))
	}
	return attributes
}

// UserOf returns the user that a message of the contracts names, or its start, if it begins a stream, or 0.
func UserOf(message any) int64 {
	of := fieldsOf(message)
	return cmp.Or(of.user(), of.part("start").user())
}

// emailHash returns a part of the SHA-256 of an address in lower case. It returns "" for a
// text that is no address: users type passwords into the wrong field.
func emailHash(email string) string {
	if !strings.Contains(email, "@") {
		return ""
	}
	sum := sha256.Sum256([]byte(strings.ToLower(email)))
	return hex.EncodeToString(sum[:])[:hashDigits]
}

func hasField(message any, name protoreflect.Name) bool {
	_, has := fieldsOf(message).value(name, protoreflect.StringKind)
	return has
}

// fields are the fields of a message. The zero value has none.
type fields struct{ protoreflect.Message }

func fieldsOf(message any) fields {
	if m, ok := message.(proto.Message); ok {
		return fields{m.ProtoReflect()}
	}
	return fields{}
}

// value returns a field that is set and has the given kind.
func (f fields) value(name protoreflect.Name, kind protoreflect.Kind) (protoreflect.Value, bool) {
	if f.Message == nil {
		return protoreflect.Value{}, false
	}
	field := f.Message.Descriptor().Fields().ByName(name)
	if field == nil || field.Kind() != kind || field.Cardinality() == protoreflect.Repeated || !f.Message.Has(field) {
		return protoreflect.Value{}, false
	}
	return f.Message.Get(field), true
}

func (f fields) text(name protoreflect.Name) string {
	value, ok := f.value(name, protoreflect.StringKind)
	if !ok {
		return ""
	}
	return value.String()
}

func (f fields) part(name protoreflect.Name) fields {
	value, ok := f.value(name, protoreflect.MessageKind)
	if !ok {
		return fields{}
	}
	return fields{value.Message()}
}

// user returns the user that a message names (rule 14.3), or 0.
func (f fields) user() int64 {
	for _, name := range [...]protoreflect.Name{"user_id", "actor_id", "owner_id", "author_id"} {
		if value, ok := f.value(name, protoreflect.Int64Kind); ok {
			return value.Int()
		}
	}
	return 0
}

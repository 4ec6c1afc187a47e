package edge

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
	"google.golang.org/grpc"
	"google.golang.org/grpc/status"

	"github.com/waybook/waybook/edge/failure"
	"github.com/waybook/waybook/internal/platform/admission"
)

// The most lines about failures in any second, and in any minute about one address. Half of them
// may come at once, and the others follow at an even rate.
const (
	failuresPerSecond        = 50
	addressFailuresPerMinute = 10
)

// failureLog limits the lines about failures. It may be used concurrently.
type failureLog struct {
	all       *rate.Limiter
	addresses *admission.Rate

	// leftOut counts the failures without a line since the last line.
	leftOut atomic.Int64
}

func newFailureLog() failureLog {
	return failureLog{
		all:       rate.NewLimiter(failuresPerSecond/2, failuresPerSecond/2),
		addresses: admission.NewRate(addressFailuresPerMinute/2/time.Minute.Seconds(), time.Minute, time.Now),
	}
}

// take reports whether the limits allow a line about an address. Only an address that gets a line
// takes memory, and one beyond its limit takes nothing from others.
func (l *failureLog) take(address string) bool {
	return l.addresses.Wait(address) == 0 && l.all.Allow() && l.addresses.Take(address) == 0
}

// log writes the one line about a failed request. The limits do not hold for errors: each has a
// cause that an operator must see.
func (h *handler) log(x *exchange, err error, f *failure.Failure) {
	ctx, level, address := context.WithoutCancel(x.request.Context()), x.levelOf(f), x.Address()
	switch {
	case !h.config.Log.Enabled(ctx, level):
		return
	case level < slog.LevelError && !h.failures.take(address):
		h.failures.leftOut.Add(1)
		x.isLeftOut = true
		return
	}
	attributes := x.describe(err, f)
	if address != "" {
		attributes = append(attributes, slog.String("client_address", address))
	}
	if level > slog.LevelInfo && f.Cause != nil {
		attributes = append(attributes, slog.Any("error", f.Cause))
	}
	if leftOut := h.failures.leftOut.Swap(0); leftOut > 0 {
		attributes = append(attributes, slog.Int64("left_out", leftOut))
	}
	h.config.Log.LogAttrs(ctx, level, "request failed", attributes...)
}

// levelOf returns the level of a failure: an error is a fault of the server or a reply that was
// cut short, a warning is temporary, and the client must mend the others.
func (x *exchange) levelOf(f *failure.Failure) slog.Level {
	switch {
	case x.response.started, f.Cause != nil && f.RetryAfter == 0:
		return slog.LevelError
	case f.Kind == failure.Unavailable:
		return slog.LevelWarn
	}
	return slog.LevelInfo
}

// describe returns what the log has about a failure: what was asked, the call that failed, the
// reply, and the user whom the cookie names.
func (x *exchange) describe(err error, f *failure.Failure) []slog.Attr {
	attributes := append(make([]slog.Attr, 0, 11), slog.String("func", x.function))
	if call, isCall := errors.AsType[*callError](err); isCall {
		service, method, _ := strings.Cut(strings.TrimPrefix(call.method, "/"), "/")
		attributes = append(attributes, slog.String("service", service), slog.String("method", method),
			slog.String("code", status.Code(call).String()))
	}
	sent := statusOf(err, f)
	if x.response.started {
		sent = x.response.status
		attributes = append(attributes, slog.Bool("cut_short", true))
	}
	attributes = append(attributes, slog.Int("status", sent), slog.String("reason", f.Reason))
	if user := x.op.In.User; user != 0 {
		attributes = append(attributes, slog.Int64("user_id", int64(user)))
	}
	return attributes
}

// callError is the error of a call to a service.
type callError struct {
	error
	// method is the full name.
	method string
}

// Unwrap returns the error.
func (e *callError) Unwrap() error { return e.error }

// namedCalls makes the log name the calls that fail.
type namedCalls struct{ grpc.ClientConnInterface }

// NamedCalls returns a connection to a service whose failed calls the log of failures names.
func NamedCalls(to grpc.ClientConnInterface) grpc.ClientConnInterface { return namedCalls{to} }

// Invoke implements [grpc.ClientConnInterface].
func (c namedCalls) Invoke(ctx context.Context, method string, request, reply any, options ...grpc.CallOption) error {
	return named(method, c.ClientConnInterface.Invoke(ctx, method, request, reply, options...))
}

// NewStream implements [grpc.ClientConnInterface].
func (c namedCalls) NewStream(ctx context.Context, of *grpc.StreamDesc, method string,
	options ...grpc.CallOption) (grpc.ClientStream, error) {
	stream, err := c.ClientConnInterface.NewStream(ctx, of, method, options...)
	return namedStream{stream, method}, named(method, err)
}

// namedStream names its method in the error that ends it.
type namedStream struct {
	grpc.ClientStream
	method string
}

func (s namedStream) RecvMsg(message any) error {
	err := s.ClientStream.RecvMsg(message)
	if err == io.EOF {
		return err
	}
	return named(s.method, err)
}

func named(method string, err error) error {
	if err == nil {
		return err
	}
	return &callError{err, method}
}

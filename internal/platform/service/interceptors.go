package service

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/waybook/waybook/internal/platform/access"
	"github.com/waybook/waybook/internal/platform/apierror"
	"github.com/waybook/waybook/internal/platform/audit"
	"github.com/waybook/waybook/internal/platform/process"
	"github.com/waybook/waybook/internal/platform/rules"
)

const (
	// unaryTimeout bounds a call that has no deadline, or a later one.
	unaryTimeout = 10 * time.Second
	// retryTime bounds how quickly a call must fail as UNAVAILABLE for callers to retry it
	// at once. process.Transport's connections retry such calls. A slower call has already
	// waited; immediate retries would multiply its caller's wait.
	retryTime = time.Second
	// streamTimeout bounds a stream. A slow reader may fetch a million landmarks.
	streamTimeout = 30 * time.Minute
)

// Interceptors process each call before its handler, the same over TCP and in process. They
// measure and log calls, contain panics, and turn errors into statuses. Over TLS they reject
// callers that may not call the method, before anything else. They limit the duration of a
// call and the number of calls in flight, apply the masks of updates, validate requests against
// the contract, and resolve the old identifiers in them. They may be used concurrently.
type Interceptors struct {
	gates   *gates
	events  *audit.Log
	metrics *process.Metrics
	log     *slog.Logger
	admit   admit
}

// admit returns the caller of a method, or an error if it may not call the method.
type admit func(ctx context.Context, method string) (access.Caller, error)

// NewInterceptors returns interceptors that enforce the rules of the contracts and the concurrency
// limits of load. They record calls in events, which may be nil. They admit every caller,
// because they are for calls in process; Serve makes those of a port from them.
func NewInterceptors(load Load, events *audit.Log, metrics *process.Metrics, log *slog.Logger) *Interceptors {
	rules.Load()
	return &Interceptors{
		gates: &gates{load: load, metrics: metrics, known: map[string]pair{}}, events: events, metrics: metrics,
		log:   log,
		admit: admitAll(access.InProcess),
	}
}

// admitAll admits every caller, under one name.
func admitAll(name string) admit {
	return func(context.Context, string) (access.Caller, error) { return access.Caller{Name: name}, nil }
}

// under returns the same interceptors, with the same limits, for callers that admit admits.
func (i *Interceptors) under(admit admit) *Interceptors {
	changed := *i
	changed.admit = admit
	return &changed
}

// Unary is the interceptor of unary calls.
func (i *Interceptors) Unary(ctx context.Context, request any, info *grpc.UnaryServerInfo,
	handler grpc.UnaryHandler) (reply any, err error) {
	began := time.Now()
	i.metrics.CallsInFlight.Inc()
	defer i.metrics.CallsInFlight.Dec()
	call := audit.Call{Method: info.FullMethod, Request: request}
	defer func() {
		if r := recover(); r != nil {
			reply, err = nil, panicError(r)
		}
		call.Reply = reply
		err = i.finish(ctx, &call, began, err)
		if hasWaited(began, err) {
			_ = grpc.SetTrailer(ctx, noRetry) // fails in process, where no client retries
		}
	}()
	if call.Caller, err = i.admit(ctx, info.FullMethod); err != nil {
		return nil, err
	}
	if deadline, ok := ctx.Deadline(); !ok || deadline.After(began.Add(unaryTimeout)) {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, unaryTimeout)
		defer cancel()
	}
	gate := i.gates.of(info.FullMethod).calls
	if err := gate.Enter(ctx, 1); err != nil {
		return nil, err
	}
	defer gate.Leave(1)
	request, violations := normalized(request)
	call.Request = request
	if err := i.validate(request, violations...); err != nil {
		return nil, err
	}
	if _, err := resolve(ctx, info.Server, request, false); err != nil {
		return nil, err
	}
	reply, err = handler(ctx, request)
	if failed := apierror.From(err); failed != nil &&
		(failed.Kind == codes.NotFound || failed.Reason == "QUOTED_BLOG_NOT_FOUND") {
		if isChanged, _ := resolve(ctx, info.Server, request, true); isChanged {
			return handler(ctx, request)
		}
	}
	return reply, err
}

// Stream is the interceptor of streaming calls.
func (i *Interceptors) Stream(server any, stream grpc.ServerStream, info *grpc.StreamServerInfo,
	handler grpc.StreamHandler) (err error) {
	began := time.Now()
	i.metrics.StreamsOpen.Inc()
	defer i.metrics.StreamsOpen.Dec()
	ctx := stream.Context()
	call := audit.Call{Method: info.FullMethod}
	defer func() {
		if r := recover(); r != nil {
			err = panicError(r)
		}
		err = i.finish(ctx, &call, began, err)
		if hasWaited(began, err) {
			stream.SetTrailer(noRetry)
		}
	}()
	if call.Caller, err = i.admit(ctx, info.FullMethod); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, streamTimeout)
	defer cancel()
	gate := i.gates.of(info.FullMethod).streams
	if err := gate.Enter(ctx, 1); err != nil {
		return err
	}
	defer gate.Leave(1)
	return handler(server, &checkedStream{ServerStream: WithContext(ctx, stream), server: server, validate: i.validate,
		call: &call})
}

// checkedStream validates the request and resolves its old identifiers, and reports a caller that
// has gone as such.
type checkedStream struct {
	grpc.ServerStream
	server   any
	validate func(any, ...apierror.Violation) error
	call     *audit.Call
}

func (s *checkedStream) RecvMsg(message any) error {
	if err := s.ServerStream.RecvMsg(message); err != nil {
		return callerGone(err)
	}
	if user := audit.UserOf(message); user != 0 { // a chunk names none, and may come when the call ends
		s.call.User = user
	}
	if err := s.validate(message); err != nil {
		return err
	}
	_, err := resolve(s.Context(), s.server, message, false)
	return err
}

// Resolver is a server whose requests may hold old identifiers.
type Resolver interface {
	// ResolveIDs replaces the old identifiers in a valid request by those that they stand for, and
	// reports whether there was one. A number that may be an identifier of Waybook is replaced
	// only if the request has found nothing. It changes only fields of the message itself, because
	// its parts may be shared.
	ResolveIDs(ctx context.Context, request proto.Message, foundNothing bool) (isChanged bool, err error)
}

// resolve replaces the old identifiers in a request.
func resolve(ctx context.Context, server, request any, foundNothing bool) (isChanged bool, err error) {
	resolver, ok := server.(Resolver)
	if !ok {
		return false, nil
	}
	return resolver.ResolveIDs(ctx, request.(proto.Message), foundNothing) // validate has seen that it is one
}

func (s *checkedStream) SendMsg(message any) error {
	return callerGone(s.ServerStream.SendMsg(message))
}

// callerGone returns context.Canceled for the error of a stream whose connection has broken: its
// caller hung up. gRPC says UNAVAILABLE then, as if this service or one behind it had failed.
func callerGone(err error) error {
	if status.Code(err) != codes.Unavailable {
		return err
	}
	return fmt.Errorf("%w: %w", context.Canceled, err)
}

// validate returns an error that names every invalid field, and known violations.
func (i *Interceptors) validate(request any, known ...apierror.Violation) error {
	message, ok := request.(proto.Message)
	if !ok {
		return fmt.Errorf("request is a %T, not a protobuf message", request)
	}
	if violations := append(known, rules.Violations(message)...); len(violations) > 0 {
		return apierror.Invalid("INVALID_PARAMETER", violations...)
	}
	return nil
}

// finish turns an error into the status that the caller may see. It logs the errors that an
// operator must look at, counts the call, and records it in the audit log.
func (i *Interceptors) finish(ctx context.Context, call *audit.Call, began time.Time, err error) error {
	failed := apierror.From(err)
	code := codes.OK
	if failed != nil {
		code = failed.Kind
	}
	i.metrics.Calls.WithLabelValues(call.Method, code.String()).Observe(time.Since(began).Seconds())
	call.Failure = failed
	i.events.Record(ctx, call)
	if failed == nil {
		return nil
	}
	switch code {
	case codes.Internal, codes.Unavailable, codes.DeadlineExceeded, codes.Aborted:
		of, method, _ := strings.Cut(strings.TrimPrefix(call.Method, "/"), "/")
		attributes := []any{"service", of, "method", method, "code", code.String(), "reason", failed.Reason}
		if user := cmp.Or(call.User, audit.UserOf(call.Request)); user != 0 {
			attributes = append(attributes, "user_id", user)
		}
		i.log.ErrorContext(ctx, "call failed", append(attributes, "error", failed)...)
	case codes.Canceled:
		i.log.DebugContext(ctx, "caller gone", "method", call.Method, "error", failed)
	}
	return failed.GRPCStatus().Err()
}

// noRetry makes gRPC clients not retry a call by themselves.
var noRetry = metadata.Pairs("grpc-retry-pushback-ms", "-1")

// hasWaited reports whether a call waited before it failed as UNAVAILABLE.
func hasWaited(began time.Time, err error) bool {
	return status.Code(err) == codes.Unavailable && time.Since(began) >= retryTime
}

func panicError(r any) error {
	return fmt.Errorf("panic: %v\n%s", r, debug.Stack())
}

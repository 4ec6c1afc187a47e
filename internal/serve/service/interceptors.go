package service

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"buf.build/go/protovalidate"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/waybook/waybook/internal/fault"
	"github.com/waybook/waybook/internal/serve"
)

const (
	// unaryTimeout bounds a call whose caller set no deadline, or a later one.
	unaryTimeout = 10 * time.Second
	// streamTimeout bounds a stream: a million landmarks to a slow reader.
	streamTimeout = 30 * time.Minute
)

// Interceptors are what each call passes on its way to a handler, the same over TCP
// and in process: measure and log, contain panics, turn errors into statuses, bound
// the time, check the request against the rules of its contract. It may be used
// concurrently.
type Interceptors struct {
	validator protovalidate.Validator
	metrics   *serve.Metrics
	log       *slog.Logger
}

// NewInterceptors returns interceptors that enforce validator's rules.
func NewInterceptors(validator protovalidate.Validator, metrics *serve.Metrics, log *slog.Logger) *Interceptors {
	return &Interceptors{validator: validator, metrics: metrics, log: log}
}

// Unary is the interceptor of unary calls.
func (i *Interceptors) Unary(ctx context.Context, request any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (reply any, err error) {
	began := time.Now()
	defer func() {
		if r := recover(); r != nil {
			reply, err = nil, panicError(r)
		}
		err = i.finish(ctx, info.FullMethod, began, err)
	}()
	ctx, cancel := context.WithTimeout(ctx, unaryTimeout)
	defer cancel()
	if err := i.validate(request); err != nil {
		return nil, err
	}
	return handler(ctx, request)
}

// Stream is the interceptor of streaming calls.
func (i *Interceptors) Stream(server any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) (err error) {
	began := time.Now()
	defer func() {
		if r := recover(); r != nil {
			err = panicError(r)
		}
		err = i.finish(stream.Context(), info.FullMethod, began, err)
	}()
	ctx, cancel := context.WithTimeout(stream.Context(), streamTimeout)
	defer cancel()
	return handler(server, &checkedStream{ServerStream: stream, ctx: ctx, validate: i.validate})
}

// checkedStream checks each message that comes in.
type checkedStream struct {
	grpc.ServerStream
	ctx      context.Context
	validate func(any) error
}

func (s *checkedStream) Context() context.Context { return s.ctx }

func (s *checkedStream) RecvMsg(message any) error {
	if err := s.ServerStream.RecvMsg(message); err != nil {
		return err
	}
	return s.validate(message)
}

// validate returns a fault that names every field that breaks a rule.
func (i *Interceptors) validate(request any) error {
	message, ok := request.(proto.Message)
	if !ok {
		return fmt.Errorf("request is a %T, not a protobuf message", request)
	}
	violations, err := Violations(i.validator, message)
	if err != nil {
		return err
	}
	if len(violations) > 0 {
		return fault.Invalid("INVALID_PARAMETER", violations...)
	}
	return nil
}

// Violations names every field of a message that breaks a rule.
func Violations(validator protovalidate.Validator, message proto.Message) ([]fault.Violation, error) {
	err := validator.Validate(message)
	if err == nil {
		return nil, nil
	}
	var invalid *protovalidate.ValidationError
	if !errors.As(err, &invalid) {
		return nil, fmt.Errorf("validate: %w", err)
	}
	violations := make([]fault.Violation, len(invalid.Violations))
	for n, v := range invalid.Violations {
		violations[n] = fault.Violation{
			Field:   protovalidate.FieldPathString(v.Proto.GetField()),
			Message: v.Proto.GetMessage(),
		}
	}
	return violations, nil
}

// finish turns an error into what the caller may know of it, logs one that somebody
// has to look at, and counts the call.
func (i *Interceptors) finish(ctx context.Context, method string, began time.Time, err error) error {
	failed := fault.From(err)
	code := codes.OK
	if failed != nil {
		code = failed.Kind
	}
	i.metrics.ObserveCall(method, code, time.Since(began))
	if failed == nil {
		return nil
	}
	switch code {
	case codes.Internal, codes.Unavailable, codes.DeadlineExceeded, codes.Aborted:
		i.log.ErrorContext(ctx, "call failed", "method", method, "code", code.String(), "error", failed)
	}
	return failed.GRPCStatus().Err()
}

func panicError(r any) error {
	return fmt.Errorf("panic: %v\n%s", r, debug.Stack())
}

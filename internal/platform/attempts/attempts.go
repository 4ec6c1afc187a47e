// Package attempts tells what a failed call tried: the addresses, the status of each, and how long it took.
package attempts

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/stats"
	"google.golang.org/grpc/status"
)

// most bounds the attempts that are remembered of a call. A method is tried at most four times, and more often
// while no server has seen it.
const most = 8

// Error is the error of a call, with what it tried.
type Error struct {
	// Service and Method are those of the call, such as waybook.album.v1.AlbumService and GetAlbum.
	Service, Method string
	// Target is the address that the connection was made for, such as dns:///album:9092.
	Target string
	// Attempts are the first ones, in their order, and Tries is how many there were.
	Attempts []Attempt
	Tries    int
	// Elapsed is the time of the whole call, with its pauses.
	Elapsed time.Duration

	err error
}

// Attempt is one attempt of a call.
type Attempt struct {
	// Address is that of the server; empty without a connection.
	Address string
	Code    codes.Code
	Elapsed time.Duration
}

// Error returns the text of the status.
func (e *Error) Error() string { return e.err.Error() }

// Unwrap returns the error of the call.
func (e *Error) Unwrap() error { return e.err }

// GRPCStatus returns the status of the call.
func (e *Error) GRPCStatus() *status.Status { return status.Convert(e.err) }

// LogValue is what a line of the log has about the call.
func (e *Error) LogValue() slog.Value {
	answer := e.GRPCStatus()
	return slog.GroupValue(
		slog.String("service", e.Service), slog.String("method", e.Method), slog.String("target", e.Target),
		slog.String("code", answer.Code().String()), slog.String("reason", e.Reason()),
		slog.String("message", answer.Message()), slog.Int("tries", e.Tries),
		slog.String("attempts", e.Tried()), slog.Float64("duration_ms", float64(e.Elapsed.Microseconds())/1000),
	)
}

// Tried names the address of each attempt, its status, and how long it took.
func (e *Error) Tried() string {
	tried := make([]string, len(e.Attempts))
	for i, each := range e.Attempts {
		tried[i] = fmt.Sprintf("%s: %s after %v", cmp.Or(each.Address, "no connection"), each.Code, each.Elapsed.Round(10*time.Microsecond))
	}
	return strings.Join(tried, ", ")
}

// Reason returns the reason that the service gives; empty if it gives none.
func (e *Error) Reason() string { return ReasonOf(e.err) }

// ReasonOf returns the reason in the status of a failed call; empty if there is none.
func ReasonOf(err error) string {
	for _, detail := range status.Convert(err).Details() {
		if info, isInfo := detail.(*errdetails.ErrorInfo); isInfo {
			return info.GetReason()
		}
	}
	return ""
}

// In returns what a failed call tried, if err is from one over a connection with DialOptions or Around; nil otherwise.
func In(err error) *Error {
	of, _ := errors.AsType[*Error](err)
	return of
}

// call collects the attempts of a call. It is safe for concurrent use, because a late attempt may end beside
// the reader of the result.
type call struct {
	method, target string
	began          time.Time

	mu       sync.Mutex
	attempts []Attempt
	tries    int
}

type callKey struct{}

// attempt is an attempt that runs. gRPC reports its events one after the other.
type attempt struct {
	of      *call
	address string
}

type attemptKey struct{}

// DialOptions make the calls of a connection fail with an Error. failed is told about each attempt that fails:
// the name of the service, such as waybook.album.v1.AlbumService, and the status.
func DialOptions(failed func(service string, code codes.Code)) []grpc.DialOption {
	return []grpc.DialOption{
		grpc.WithStatsHandler(watcher{failed}),
		grpc.WithChainUnaryInterceptor(func(
			ctx context.Context, method string, request, reply any, connection *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption,
		) error {
			of := &call{method: method, target: connection.Target(), began: time.Now()}
			return of.failure(invoke(context.WithValue(ctx, callKey{}, of), method, request, reply, connection, options...))
		}),
		grpc.WithChainStreamInterceptor(func(
			ctx context.Context, description *grpc.StreamDesc, connection *grpc.ClientConn, method string, open grpc.Streamer, options ...grpc.CallOption,
		) (grpc.ClientStream, error) {
			of := &call{method: method, target: connection.Target(), began: time.Now()}
			opened, err := open(context.WithValue(ctx, callKey{}, of), description, connection, method, options...)
			if err != nil {
				return nil, of.failure(err)
			}
			return stream{opened, of.failure}, nil
		}),
	}
}

// failure returns the error of a call with its attempts; nil without an error, and what ends a stream as it is.
func (c *call) failure(err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		return err
	}
	return c.failed(err)
}

func (c *call) failed(err error) *Error {
	c.mu.Lock()
	defer c.mu.Unlock()
	service, method := split(c.method)
	return &Error{service, method, c.target, c.attempts, c.tries, time.Since(c.began), err}
}

func split(method string) (service, name string) {
	service, name, _ = strings.Cut(strings.TrimPrefix(method, "/"), "/")
	return service, name
}

type stream struct {
	grpc.ClientStream
	failure func(error) error
}

// RecvMsg implements [grpc.ClientStream].
func (s stream) RecvMsg(message any) error { return s.failure(s.ClientStream.RecvMsg(message)) }

// watcher collects attempts. It implements [stats.Handler].
type watcher struct {
	failed func(service string, code codes.Code)
}

// TagRPC begins an attempt.
func (watcher) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context {
	of, _ := ctx.Value(callKey{}).(*call)
	return context.WithValue(ctx, attemptKey{}, &attempt{of: of})
}

// HandleRPC notes the address and the end of an attempt.
func (w watcher) HandleRPC(ctx context.Context, event stats.RPCStats) {
	switch event := event.(type) {
	case *stats.OutHeader:
		ctx.Value(attemptKey{}).(*attempt).address = event.RemoteAddr.String()
	case *stats.End:
		ended := ctx.Value(attemptKey{}).(*attempt)
		if ended.of == nil {
			return
		}
		ended.of.mu.Lock()
		defer ended.of.mu.Unlock()
		ended.of.tries++
		code := status.Code(event.Error)
		if code == codes.OK || code == codes.Canceled && ctx.Err() != nil { // its caller ended it
			return
		}
		service, _ := split(ended.of.method)
		w.failed(service, code)
		if len(ended.of.attempts) < most {
			ended.of.attempts = append(ended.of.attempts, Attempt{ended.address, code, event.EndTime.Sub(event.BeginTime)})
		}
	}
}

// within is a connection to services in the same process, where a call is one attempt.
type within struct {
	services grpc.ClientConnInterface
	failed   func(service string, code codes.Code)
}

// Around makes calls to services in the same process fail with an Error. See DialOptions.
func Around(services grpc.ClientConnInterface, failed func(service string, code codes.Code)) grpc.ClientConnInterface {
	return within{services, failed}
}

// Invoke implements [grpc.ClientConnInterface].
func (w within) Invoke(ctx context.Context, method string, request, reply any, options ...grpc.CallOption) error {
	began := time.Now()
	return w.failure(method, began, w.services.Invoke(ctx, method, request, reply, options...))
}

// NewStream implements [grpc.ClientConnInterface].
func (w within) NewStream(
	ctx context.Context, description *grpc.StreamDesc, method string, options ...grpc.CallOption,
) (grpc.ClientStream, error) {
	began := time.Now()
	opened, err := w.services.NewStream(ctx, description, method, options...)
	if err != nil {
		return nil, w.failure(method, began, err)
	}
	return stream{opened, func(err error) error { return w.failure(method, began, err) }}, nil
}

func (w within) failure(method string, began time.Time, err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		return err
	}
	code, elapsed := status.Code(err), time.Since(began)
	if code == codes.Unknown {
		code = status.FromContextError(err).Code()
	}
	of := &call{method: method, target: "this process", began: began, tries: 1, attempts: []Attempt{{"this process", code, elapsed}}}
	failed := of.failed(err)
	w.failed(failed.Service, code)
	return failed
}

// TagConn implements [stats.Handler].
func (watcher) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }

// HandleConn implements [stats.Handler].
func (watcher) HandleConn(context.Context, stats.ConnStats) {}

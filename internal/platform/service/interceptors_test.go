package service_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/waybook/waybook/internal/platform/apierror"
	"github.com/waybook/waybook/internal/platform/process"
	"github.com/waybook/waybook/internal/platform/service"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// chain is the interceptors with their log and their metrics.
type chain struct {
	*service.Interceptors
	metrics *process.Metrics
	log     bytes.Buffer
}

func newChain(t *testing.T) *chain { return newChainUnder(t, service.Load{}) }

func newChainUnder(t *testing.T, load service.Load) *chain {
	t.Helper()
	c := &chain{metrics: process.NewMetrics()}
	log := slog.New(slog.NewTextHandler(&c.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	c.Interceptors = service.NewInterceptors(load, nil, c.metrics, log)
	return c
}

const method = "/waybook.album.v1.AlbumService/GetAlbum"

func (c *chain) unary(ctx context.Context, request any, handler grpc.UnaryHandler) error {
	_, err := c.Unary(ctx, request, &grpc.UnaryServerInfo{FullMethod: method}, handler)
	return err
}

// incoming is a server's stream that receives the given messages, and then broken, or the end.
type incoming struct {
	grpc.ServerStream
	ctx      context.Context
	messages []*albumv1.GetAlbumRequest
	broken   error
}

func (s *incoming) Context() context.Context { return s.ctx }

func (s *incoming) RecvMsg(into any) error {
	if len(s.messages) == 0 {
		return cmp.Or(s.broken, io.EOF)
	}
	into.(*albumv1.GetAlbumRequest).AlbumId = s.messages[0].GetAlbumId()
	s.messages = s.messages[1:]
	return nil
}

func (s *incoming) SendMsg(any) error { return s.broken }

func (c *chain) stream(ctx context.Context, messages []*albumv1.GetAlbumRequest, handler grpc.StreamHandler) error {
	return c.Stream(nil, &incoming{ctx: ctx, messages: messages}, &grpc.StreamServerInfo{FullMethod: method}, handler)
}

// expect checks a status. It also checks that private texts are in the log and not in the
// status.
func (c *chain) expect(t *testing.T, err error, code codes.Code, reason string, private ...string) {
	t.Helper()
	got := status.Convert(err)
	if got.Code() != code {
		t.Errorf("code %v, want %v", got.Code(), code)
	}
	if info := detail[*errdetails.ErrorInfo](got); info.GetReason() != reason || info.GetDomain() != "waybook" {
		t.Errorf("reason %v, want %s", info, reason)
	}
	for _, text := range private {
		if strings.Contains(fmt.Sprint(got.Proto()), text) {
			t.Errorf("the status exposes %q: %v", text, got.Proto())
		}
		if !strings.Contains(c.log.String(), text) {
			t.Errorf("%q is not in the log: %s", text, c.log.String())
		}
	}
}

func detail[T any](s *status.Status) T {
	for _, d := range s.Details() {
		if found, ok := d.(T); ok {
			return found
		}
	}
	var none T
	return none
}

var valid = &albumv1.GetAlbumRequest{AlbumId: 1}

func TestAPanicIsInternalAndItsStackIsLogged(t *testing.T) {
	c := newChain(t)
	c.expect(t, c.unary(t.Context(), valid, func(context.Context, any) (any, error) {
		panic("secret index 7")
	}), codes.Internal, "INTERNAL", "secret index 7", "interceptors_test.go")
	c.log.Reset()
	c.expect(t, c.stream(t.Context(), nil, func(any, grpc.ServerStream) error {
		panic("secret index 8")
	}), codes.Internal, "INTERNAL", "secret index 8", "interceptors_test.go")
}

func TestAPanicIsLoggedWithoutTheRequestsContents(t *testing.T) {
	c := newChain(t)
	request := &accountv1.AuthenticateRequest{Email: "s3cr3t@example.com", Password: "s3cr3t-s3cr3t"}
	c.expect(t, c.unary(t.Context(), request, func(_ context.Context, request any) (any, error) {
		return request.([]string)[7], nil
	}), codes.Internal, "INTERNAL", "interface conversion")
	if strings.Contains(c.log.String(), "s3cr3t") {
		t.Errorf("logged %s", c.log.String())
	}
}

func TestAPrivateCauseIsLoggedButNotReturned(t *testing.T) {
	c := newChain(t)
	failure := fmt.Errorf("insert albums: %w", errors.New("page 17 of waybook.db"))
	c.expect(t, c.unary(t.Context(), &accountv1.GetUserRequest{UserId: 7}, func(context.Context, any) (any, error) {
		return nil, failure
	}), codes.Internal, "INTERNAL", "page 17 of waybook.db", "service=waybook.album.v1.AlbumService method=GetAlbum code=Internal reason=INTERNAL user_id=7 error=")
	c.log.Reset()
	c.expect(t, c.stream(t.Context(), nil, func(any, grpc.ServerStream) error {
		return failure
	}), codes.Internal, "INTERNAL", "page 17 of waybook.db")
}

func TestACallersMistakeIsNotLogged(t *testing.T) {
	c := newChain(t)
	c.expect(t, c.unary(t.Context(), valid, func(context.Context, any) (any, error) {
		return nil, apierror.NotFound("ALBUM_NOT_FOUND", "there is no album 1")
	}), codes.NotFound, "ALBUM_NOT_FOUND")
	if c.log.Len() > 0 {
		t.Errorf("logged %s", c.log.String())
	}
}

func TestEveryCallHasADeadline(t *testing.T) {
	c := newChain(t)
	check := func(what string, ctx context.Context) {
		t.Helper()
		if _, ok := ctx.Deadline(); !ok {
			t.Errorf("a %s call has no deadline", what)
		}
	}
	if err := c.unary(t.Context(), valid, func(ctx context.Context, _ any) (any, error) {
		check("unary", ctx)
		return nil, nil
	}); err != nil {
		t.Error(err)
	}
	if err := c.stream(t.Context(), nil, func(_ any, stream grpc.ServerStream) error {
		check("streaming", stream.Context())
		return nil
	}); err != nil {
		t.Error(err)
	}
}

func TestACallersOwnDeadlineHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newChain(t)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		c.expect(t, c.unary(ctx, valid, func(ctx context.Context, _ any) (any, error) {
			<-ctx.Done()
			return nil, fmt.Errorf("get albums: %w", ctx.Err())
		}), codes.DeadlineExceeded, "DEADLINE_EXCEEDED", "get albums")
	})
}

func TestEveryViolationOfARequestIsNamedBeforeTheHandlerRuns(t *testing.T) {
	c := newChain(t)
	err := c.unary(t.Context(), &albumv1.CreateAlbumRequest{
		RequestId: "x", Title: "", Category: 17, Location: &typev1.Location{Lat: 91, Lng: -181},
	}, func(context.Context, any) (any, error) {
		t.Error("the handler ran")
		return nil, nil
	})
	c.expect(t, err, codes.InvalidArgument, "INVALID_PARAMETER")
	fields := map[string]bool{}
	for _, v := range detail[*errdetails.BadRequest](status.Convert(err)).GetFieldViolations() {
		fields[v.GetField()] = v.GetDescription() != ""
	}
	for _, field := range []string{"request_id", "owner_id", "title", "category", "location.lat", "location.lng"} {
		if !fields[field] {
			t.Errorf("%s is not named in %v", field, fields)
		}
	}
}

func TestARuleAboutSeveralFieldsNamesTheFieldToReport(t *testing.T) {
	c := newChain(t)
	err := c.unary(t.Context(), &accountv1.CreateUserRequest{Name: "x", Password: "long enough"}, nil)
	c.expect(t, err, codes.InvalidArgument, "INVALID_PARAMETER")
	violations := detail[*errdetails.BadRequest](status.Convert(err)).GetFieldViolations()
	if len(violations) != 1 || violations[0].GetField() != "password" || violations[0].GetDescription() != "needs an email address" {
		t.Errorf("violations %v", violations)
	}
}

func TestEachMessageOfAStreamIsChecked(t *testing.T) {
	c := newChain(t)
	received := 0
	messages := []*albumv1.GetAlbumRequest{valid, valid, {AlbumId: -1}}
	err := c.stream(t.Context(), messages, func(_ any, stream grpc.ServerStream) error {
		for {
			var request albumv1.GetAlbumRequest
			if err := stream.RecvMsg(&request); err != nil {
				return err
			}
			received++
		}
	})
	c.expect(t, err, codes.InvalidArgument, "INVALID_PARAMETER")
	if violations := detail[*errdetails.BadRequest](status.Convert(err)).GetFieldViolations(); len(violations) != 1 || violations[0].GetField() != "album_id" {
		t.Errorf("violations %v", violations)
	}
	if received != 2 {
		t.Errorf("%d messages reached the handler", received)
	}
}

func TestACallerWhoHangsUpIsNoFailureOfTheService(t *testing.T) {
	closing := status.Error(codes.Unavailable, "transport is closing")
	behind := status.Error(codes.Unavailable, "another service is down")
	receive := func(_ any, stream grpc.ServerStream) error { return stream.RecvMsg(&albumv1.GetAlbumRequest{}) }
	send := func(_ any, stream grpc.ServerStream) error { return stream.SendMsg(&albumv1.GetAlbumResponse{}) }
	for name, one := range map[string]struct {
		broken  error
		handler grpc.StreamHandler
		code    codes.Code
		level   string
	}{
		"while it sends":               {closing, receive, codes.Canceled, "DEBUG"},
		"while it receives":            {closing, send, codes.Canceled, "DEBUG"},
		"by canceling":                 {status.Error(codes.Canceled, "context canceled"), send, codes.Canceled, "DEBUG"},
		"by its deadline":              {status.Error(codes.DeadlineExceeded, "too late"), send, codes.DeadlineExceeded, "ERROR"},
		"no: another service is down":  {nil, func(any, grpc.ServerStream) error { return behind }, codes.Unavailable, "ERROR"},
		"no: a message is not encoded": {status.Error(codes.Internal, "marshal"), send, codes.Internal, "ERROR"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newChain(t)
			stream := &incoming{ctx: t.Context(), broken: one.broken}
			err := c.Stream(nil, stream, &grpc.StreamServerInfo{FullMethod: method}, one.handler)
			if status.Code(err) != one.code {
				t.Errorf("got %v, want %v", err, one.code)
			}
			if log := c.log.String(); strings.Count(log, "\n") != 1 || !strings.Contains(log, "level="+one.level+" ") {
				t.Errorf("logged %s", log)
			}
		})
	}
}

func TestTheEndOfAStreamIsNotAnError(t *testing.T) {
	c := newChain(t)
	if err := c.stream(t.Context(), nil, func(_ any, stream grpc.ServerStream) error {
		if err := stream.RecvMsg(&albumv1.GetAlbumRequest{}); !errors.Is(err, io.EOF) {
			t.Errorf("got %v", err)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}

func TestEachCallIsCountedWithItsCode(t *testing.T) {
	c := newChain(t)
	ok := func(context.Context, any) (any, error) { return nil, nil }
	for _, err := range []error{c.unary(t.Context(), valid, ok), c.unary(t.Context(), valid, ok)} {
		if err != nil {
			t.Error(err)
		}
	}
	_ = c.unary(t.Context(), valid, func(context.Context, any) (any, error) { panic("x") })
	recorder := httptest.NewRecorder()
	process.AdminHandler(process.NewReadiness(), c.metrics).
		ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	for code, count := range map[codes.Code]int{codes.OK: 2, codes.Internal: 1} {
		line := fmt.Sprintf("waybook_rpc_duration_seconds_count{code=%q,method=%q} %d", code.String(), method, count)
		if !strings.Contains(recorder.Body.String(), line) {
			t.Errorf("no %s", line)
		}
	}
}

package service_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/waybook/waybook/internal/platform/service"
)

// occupy starts a call that lasts until end is called. end returns the call's error.
func (c *chain) occupy(t *testing.T, method string) (end func() error) {
	inside, leave, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		_, err := c.Unary(t.Context(), valid, &grpc.UnaryServerInfo{FullMethod: method}, func(context.Context, any) (any, error) {
			close(inside)
			<-leave
			return nil, nil
		})
		ended <- err
	}()
	<-inside
	return func() error {
		close(leave)
		return <-ended
	}
}

func notReached(t *testing.T) grpc.UnaryHandler {
	return func(context.Context, any) (any, error) {
		t.Error("the call was admitted")
		return nil, nil
	}
}

func TestACallAboveTheLimitIsRejectedAndNotRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newChainUnder(t, service.Load{Calls: 1, Streams: 1})
		end := c.occupy(t, method)
		err := c.unary(t.Context(), valid, notReached(t))
		// Callers would retry UNAVAILABLE, which adds to the overload.
		c.expect(t, err, codes.ResourceExhausted, "SERVICE_BUSY")
		if wait := detail[*errdetails.RetryInfo](status.Convert(err)).GetRetryDelay().AsDuration(); wait != time.Second {
			t.Errorf("retry after %v", wait)
		}
		expectLines(t, c.metrics, `waybook_gate_inside{gate="album calls"} 1`, `waybook_gate_waiting{gate="album calls"} 0`,
			`waybook_gate_refused_total{gate="album calls"} 1`, `waybook_gate_inside{gate="album streams"} 0`)
		if err := c.stream(t.Context(), nil, func(any, grpc.ServerStream) error { return nil }); err != nil {
			t.Errorf("the first stream: %v", err)
		}
		for _, other := range []string{"/waybook.account.v1.AccountService/BatchGetUsers", "/grpc.health.v1.Health/Check"} {
			if err := c.occupy(t, other)(); err != nil {
				t.Errorf("%s: %v", other, err)
			}
		}
		if err := end(); err != nil {
			t.Error(err)
		}
		if err := c.unary(t.Context(), valid, func(context.Context, any) (any, error) { return nil, nil }); err != nil {
			t.Errorf("after the first call ended: %v", err)
		}
	})
}

func TestStreamsHaveALimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newChainUnder(t, service.Load{Calls: 1, Streams: 1})
		err := c.stream(t.Context(), nil, func(any, grpc.ServerStream) error {
			c.expect(t, c.stream(t.Context(), nil, func(any, grpc.ServerStream) error { return errors.New("begun") }),
				codes.ResourceExhausted, "SERVICE_BUSY")
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
}

func TestACanceledOrExpiredCallIsNotAdmitted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newChainUnder(t, service.Load{Calls: 1})
		gone, leave := context.WithCancel(t.Context())
		leave()
		c.expect(t, c.unary(gone, valid, notReached(t)), codes.Canceled, "CANCELED")
		end := c.occupy(t, method)
		late, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		c.expect(t, c.unary(late, valid, notReached(t)), codes.DeadlineExceeded, "DEADLINE_EXCEEDED")
		if err := end(); err != nil {
			t.Error(err)
		}
	})
}

func TestWithoutALimitThereAreNoGateMetrics(t *testing.T) {
	c := newChain(t)
	if err := c.unary(t.Context(), valid, func(context.Context, any) (any, error) { return nil, nil }); err != nil {
		t.Error(err)
	}
	if strings.Contains(scrape(c.metrics), "waybook_gate") {
		t.Error("a gate has metrics")
	}
}

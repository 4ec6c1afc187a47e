package service_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/platform/apierror"
)

// trailer records the trailer of a unary call.
type trailer struct {
	grpc.ServerTransportStream
	sent metadata.MD
}

func (t *trailer) SetTrailer(sent metadata.MD) error {
	t.sent = sent
	return nil
}

// streamTrailer does the same for a stream.
type streamTrailer struct {
	incoming
	sent metadata.MD
}

func (t *streamTrailer) SetTrailer(sent metadata.MD) { t.sent = sent }

func TestOnlyACallThatFailsQuicklyMayBeRetriedAtOnce(t *testing.T) {
	for name, c := range map[string]struct {
		takes time.Duration
		err   error
		want  string
	}{
		"at once":                     {0, docstore.ErrUnavailable, ""},
		"after waiting for the store": {3 * time.Second, docstore.ErrUnavailable, "-1"},
		"an error without retries":    {3 * time.Second, apierror.New(codes.Aborted, "X", "x"), ""},
		"success":                     {3 * time.Second, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				chain, unary := newChain(t), &trailer{}
				wait := func() error {
					time.Sleep(c.takes) // on the fake clock
					return c.err
				}
				_ = chain.unary(grpc.NewContextWithServerTransportStream(t.Context(), unary), valid,
					func(context.Context, any) (any, error) { return nil, wait() })
				streaming := &streamTrailer{incoming: incoming{ctx: t.Context()}}
				_ = chain.Stream(nil, streaming, &grpc.StreamServerInfo{FullMethod: method},
					func(any, grpc.ServerStream) error { return wait() })
				for kind, sent := range map[string]metadata.MD{"unary": unary.sent, "stream": streaming.sent} {
					if got := strings.Join(sent.Get("grpc-retry-pushback-ms"), ","); got != c.want {
						t.Errorf("%s: got %q, want %q", kind, got, c.want)
					}
				}
			})
		})
	}
}

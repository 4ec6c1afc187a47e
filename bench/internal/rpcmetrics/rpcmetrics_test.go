// Package rpcmetrics_test measures what it costs per call to count and time RPCs: by
// Waybook's own metrics, and by go-grpc-middleware's Prometheus provider.
package rpcmetrics_test

import (
	"context"
	"testing"
	"time"

	provider "github.com/grpc-ecosystem/go-grpc-middleware/providers/prometheus"
	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

	"github.com/waybook/waybook/internal/platform/process"
)

// own measures a call as the interceptor of Waybook's services does.
func own() grpc.UnaryServerInterceptor {
	metrics := process.NewMetrics()
	return func(ctx context.Context, request any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (reply any, err error) {
		began := time.Now()
		metrics.BeginCall()
		defer metrics.EndCall()
		defer func() { metrics.ObserveCall(info.FullMethod, codes.OK, time.Since(began)) }()
		return handler(ctx, request)
	}
}

// middleware measures a call by the provider, with as many buckets as Waybook's histogram
// has when the durations are wanted.
func middleware(options ...provider.ServerMetricsOption) grpc.UnaryServerInterceptor {
	metrics := provider.NewServerMetrics(options...)
	prometheus.NewRegistry().MustRegister(metrics)
	return metrics.UnaryServerInterceptor()
}

func BenchmarkUnary(b *testing.B) {
	durations := provider.WithServerHandlingTimeHistogram(
		provider.WithHistogramBuckets(prometheus.ExponentialBuckets(0.0001, 4, 9)))
	for _, test := range []struct {
		name        string
		interceptor grpc.UnaryServerInterceptor
	}{
		{"own", own()},
		{"provider", middleware(durations)},
		{"provider without durations", middleware()},
	} {
		b.Run(test.name, func(b *testing.B) {
			info := &grpc.UnaryServerInfo{FullMethod: "/waybook.album.v1.AlbumService/GetAlbum"}
			handler := func(context.Context, any) (any, error) { return nil, nil }
			b.ReportAllocs()
			for b.Loop() {
				if _, err := test.interceptor(b.Context(), nil, info, handler); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

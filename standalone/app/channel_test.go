package app_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"testing"

	"buf.build/go/protovalidate"
	"google.golang.org/grpc"
	"google.golang.org/grpc/health/grpc_health_v1"

	"github.com/waybook/waybook/edge/push"
	"github.com/waybook/waybook/internal/platform/process"
	"github.com/waybook/waybook/internal/platform/service"
	"github.com/waybook/waybook/internal/platform/tracing"
	"github.com/waybook/waybook/standalone/app"
)

// healthServer never ends a stream by itself.
type healthServer struct {
	grpc_health_v1.UnimplementedHealthServer
}

func (healthServer) Check(context.Context, *grpc_health_v1.HealthCheckRequest) (*grpc_health_v1.HealthCheckResponse, error) {
	return &grpc_health_v1.HealthCheckResponse{}, nil
}

func (healthServer) Watch(_ *grpc_health_v1.HealthCheckRequest, stream grpc.ServerStreamingServer[grpc_health_v1.HealthCheckResponse]) error {
	for {
		if err := stream.Send(&grpc_health_v1.HealthCheckResponse{}); err != nil {
			return err
		}
	}
}

func TestAReceiverMayEndACall(t *testing.T) {
	interceptors := service.NewInterceptors(protovalidate.GlobalValidator, service.Load{}, nil, process.NewMetrics(), slog.New(slog.DiscardHandler))
	channel := app.NewChannel(interceptors, tracing.Tracing{})
	channel.RegisterService(&grpc_health_v1.Health_ServiceDesc, healthServer{})
	client := grpc_health_v1.NewHealthClient(channel)
	taken := 0
	enough := push.To(func(any) error {
		taken++
		return errors.New("enough")
	})
	if _, err := client.Check(t.Context(), &grpc_health_v1.HealthCheckRequest{}, enough); err != nil {
		t.Error(err)
	}
	stream, err := client.Watch(t.Context(), &grpc_health_v1.HealthCheckRequest{}, enough)
	if err == nil {
		_, err = stream.Recv()
	}
	if err != io.EOF || taken != 2 {
		t.Errorf("the stream ended with %v, %d replies were taken", err, taken)
	}
}

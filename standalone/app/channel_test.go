package app_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"

	"google.golang.org/grpc/health/grpc_health_v1"

	"github.com/waybook/waybook/edge/push"
	"github.com/waybook/waybook/internal/platform/process"
	"github.com/waybook/waybook/internal/platform/service"
	"github.com/waybook/waybook/internal/platform/tracing"
	"github.com/waybook/waybook/standalone/app"
)

type healthServer struct {
	grpc_health_v1.UnimplementedHealthServer
}

func (healthServer) Check(context.Context, *grpc_health_v1.HealthCheckRequest) (*grpc_health_v1.HealthCheckResponse, error) {
	return &grpc_health_v1.HealthCheckResponse{}, nil
}

func TestAReceiverMayEndACall(t *testing.T) {
	interceptors := service.NewInterceptors(service.Load{}, nil, process.NewMetrics(), slog.New(slog.DiscardHandler))
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
	if taken != 1 {
		t.Errorf("%d replies were taken", taken)
	}
}

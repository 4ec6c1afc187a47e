package service

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/waybook/waybook/internal/platform/apierror"
)

// unknownMethod answers calls of methods that the port does not have.
func unknownMethod(any, grpc.ServerStream) error {
	return apierror.New(codes.Unimplemented, "METHOD_UNKNOWN", "this port has no such method; reflection lists those that it has")
}

// ofKnown lets calls of unknown methods pass an interceptor by, so that it counts none under a name that a
// client has made up.
func ofKnown(interceptor grpc.StreamServerInterceptor) grpc.StreamServerInterceptor {
	return func(server any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
		if server == nil {
			return handler(server, stream)
		}
		return interceptor(server, stream, info, handler)
	}
}

// healthServer is a health.Server with reasons.
type healthServer struct{ *health.Server }

// Check returns the health of a service, or NOT_FOUND as the protocol says.
func (h healthServer) Check(ctx context.Context, request *healthv1.HealthCheckRequest) (*healthv1.HealthCheckResponse, error) {
	reply, err := h.Server.Check(ctx, request)
	if status.Code(err) == codes.NotFound {
		err = apierror.NotFound("SERVICE_UNKNOWN", "this port has no service %.100q", request.GetService())
	}
	return reply, err
}

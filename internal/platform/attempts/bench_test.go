package attempts_test

import (
	"net"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"

	"github.com/waybook/waybook/internal/platform/attempts"
)

// BenchmarkCall shows what it costs a call that succeeds.
func BenchmarkCall(b *testing.B) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	server := grpc.NewServer()
	grpc_health_v1.RegisterHealthServer(server, healthServer{})
	go func() { _ = server.Serve(listener) }() // ends with the server
	b.Cleanup(server.Stop)
	for name, options := range map[string][]grpc.DialOption{"plain": nil, "attempts": attempts.DialOptions(func(string, codes.Code) {})} {
		b.Run(name, func(b *testing.B) {
			connection, err := grpc.NewClient(listener.Addr().String(), append(options, grpc.WithTransportCredentials(insecure.NewCredentials()))...)
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = connection.Close() }()
			client := grpc_health_v1.NewHealthClient(connection)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := client.Check(b.Context(), &grpc_health_v1.HealthCheckRequest{Service: "x"}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

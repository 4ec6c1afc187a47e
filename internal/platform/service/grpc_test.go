package service_test

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/waybook/waybook/internal/platform/service"
)

// startIdle starts a program with a gRPC port, until the test ends.
func startIdle(t *testing.T) *started {
	t.Helper()
	s := start(t, func(context.Context, service.Host) (service.Service, error) { return idle{}, nil })
	s.await("/readyz", 200, "ok")
	t.Cleanup(func() { s.end(0) })
	return s
}

// connect opens a connection to the gRPC port and sends nothing.
func connect(t *testing.T, address string) net.Conn {
	t.Helper()
	connection, err := new(net.Dialer).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = connection.Close() })
	_ = connection.SetDeadline(time.Now().Add(patience))
	return connection
}

func TestAGRPCPortAnnouncesItsLimits(t *testing.T) {
	connection := connect(t, startIdle(t).grpc)
	var frame struct { // RFC 9113, 4.1, without the first byte
		Length uint16
		Kind   byte
		Flags  byte
		Stream uint32
	}
	if _, err := connection.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	if err := binary.Read(connection, binary.BigEndian, &frame); err != nil {
		t.Fatal(err)
	}
	if frame.Kind != 4 {
		t.Fatalf("the first frame has no settings: %+v", frame)
	}
	settings := make([]struct {
		Name  uint16
		Value uint32
	}, frame.Length/6)
	if err := binary.Read(connection, binary.BigEndian, settings); err != nil {
		t.Fatal(err)
	}
	const maxConcurrentStreams, maxHeaderListSize = 3, 6
	got := map[uint16]uint32{}
	for _, each := range settings {
		got[each.Name] = each.Value
	}
	if got[maxConcurrentStreams] != 1024 || got[maxHeaderListSize] != 16<<10 {
		t.Errorf("got %v", got)
	}
}

func TestAGRPCPortRejectsLargeMetadataAndMessages(t *testing.T) {
	connection, err := grpc.NewClient(startIdle(t).grpc, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = connection.Close() })
	probes := healthv1.NewHealthClient(connection)
	check := func(fields, size int) error {
		ctx := t.Context()
		for range fields {
			ctx = metadata.AppendToOutgoingContext(ctx, "x", "")
		}
		_, err := probes.Check(ctx, &healthv1.HealthCheckRequest{Service: strings.Repeat("x", size)})
		return err
	}
	for _, c := range []struct {
		fields, size int
		want         codes.Code
	}{{100, 0, codes.OK}, {600, 0, codes.Internal}, {0, 5_000_000, codes.ResourceExhausted}} {
		if got := check(c.fields, c.size); status.Code(got) != c.want {
			t.Errorf("%d fields, %d bytes: %v, want %v", c.fields, c.size, got, c.want)
		}
	}
}

func TestAGRPCPortLimitsTheConnectionsOfAnAddress(t *testing.T) {
	s := startIdle(t)
	const most = 64
	for range most {
		// The server sends its settings once it has accepted a connection.
		if _, err := connect(t, s.grpc).Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
	}
	rest, err := io.ReadAll(connect(t, s.grpc))
	if len(rest) > 0 || os.IsTimeout(err) {
		t.Errorf("one more was accepted: %q, %v", rest, err)
	}
	if code, text := s.get("/metrics"); code != 200 || !strings.Contains(text, `waybook_connections_open{port="grpc"} 64`) ||
		!strings.Contains(text, `waybook_connections_refused_total{port="grpc"} 1`) {
		t.Errorf("%d\n%s", code, text)
	}
}

package launch

import (
	"io"
	"math/rand/v2"
	"net"
	"strconv"
	"syscall"
	"testing"
)

// The ports of Address lie below those that a system gives to programs that ask for any port, which
// includes the near end of each connection. Linux begins at 32768, other systems at 49152.
const firstPort, ports = 20_000, 10_000

// Address returns an address of this machine for a program that listens at it later, or again after its
// end. No other test gets it until the test ends: no connection, no listener on any port, and no other
// caller of Address.
func Address(t testing.TB) string {
	t.Helper()
	for range ports {
		address := net.JoinHostPort("127.0.0.1", strconv.Itoa(firstPort+rand.IntN(ports))) // #nosec G404 -- no secret
		// The UDP port of the same number keeps other callers away, in all processes.
		claim, err := net.ListenPacket("udp", address)
		if err != nil {
			continue
		}
		t.Cleanup(func() { _ = claim.Close() })
		listener, err := net.Listen("tcp", address)
		if err != nil {
			continue
		}
		if err := listener.Close(); err != nil {
			t.Fatal(err)
		}
		return address
	}
	t.Fatal("no port is free")
	return ""
}

// StopReading sends a request to the edge at an address and reads only the beginning of the reply.
// The caller may read the rest. The socket's receive buffer is small.
func StopReading(t testing.TB, address, query string) net.Conn {
	t.Helper()
	dialer := net.Dialer{Control: func(_, _ string, raw syscall.RawConn) error {
		return raw.Control(func(socket uintptr) {
			_ = syscall.SetsockoptInt(int(socket), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 4096)
		})
	}}
	connection, err := dialer.DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = connection.Close() })
	if _, err := io.WriteString(connection, "GET /API.php?"+query+" HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(connection, make([]byte, 1000)); err != nil {
		t.Fatal(err)
	}
	return connection
}

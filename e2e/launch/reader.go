package launch

import (
	"io"
	"net"
	"syscall"
	"testing"
)

// StopReading asks the edge at an address for something, reads the beginning of the
// reply, and reads no more until the caller does. The socket takes little by itself.
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

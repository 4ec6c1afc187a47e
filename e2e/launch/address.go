package launch

import (
	"math/rand/v2"
	"net"
	"strconv"
	"testing"
)

// The ports of Address lie below those that a system gives to whoever asks for any port, which
// includes the near end of each connection. Linux begins at 32768, other systems at 49152.
const firstPort, ports = 20_000, 10_000

// Address returns an address of this machine for a program that listens at it later, or again after its
// end. Nobody else gets it until the test ends: no connection, no listener on any port, and no other
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

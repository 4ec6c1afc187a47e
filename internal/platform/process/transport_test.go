package process

import (
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"google.golang.org/grpc/resolver"
)

func TestPlainTextStaysOnLoopbackUnlessAllowed(t *testing.T) {
	for address, isLocal := range map[string]bool{
		"127.0.0.1:9091": true, "127.8.0.1:1": true, "[::1]:9091": true, "localhost:9091": true, "unix:///run/album": true,
		"dns:///localhost:9091": true,
		":9091":                 false, "0.0.0.0:9091": false, "[::]:9091": false, "10.0.0.1:9091": false, "album:9092": false,
		"dns:///album.waybook:9092": false, "localhost.example:1": false, "localhost:http": false, "dns://192.0.2.1/localhost:1": false, "album": false, "": false, "unix:": false,
	} {
		var flags TransportFlags
		strict, err := flags.Load(slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		err = strict.check("grpc", address)
		if (err == nil) != isLocal {
			t.Errorf("%q: %v", address, err)
		}
		if err != nil && (!strings.Contains(err.Error(), "-grpc") || !strings.Contains(err.Error(), "-plaintext")) {
			t.Errorf("%q: %v does not name the flags to change", address, err)
		}
		flags.PlainText = true
		lenient, err := flags.Load(slog.New(slog.DiscardHandler))
		if err != nil || lenient.check("grpc", address) != nil {
			t.Errorf("%q is rejected although -plaintext allows it", address)
		}
	}
}

// isLoopback must accept only addresses that gRPC connects to on this machine. gRPC parses
// an address as a URL, and resolves anything else as a DNS name.
func FuzzOnlyAddressesOfThisMachineDoWithoutTLS(f *testing.F) {
	for _, address := range []string{
		"127.0.0.1:9091", "[::1]:9091", "[::ffff:127.0.0.1]:1", "localhost:9091", "unix:///run/album", "dns:///localhost:9091", "dns://192.0.2.1/localhost:1",
		"10.0.0.1:80/127.0.0.1:1", "xds://127.0.0.1:1", "localhost:1@evil.example:1", "passthrough:///127.1:1", ":1",
	} {
		f.Add(address)
	}
	f.Fuzz(func(t *testing.T, address string) {
		if !isLoopback(address) || strings.HasPrefix(address, "unix:") || strings.HasPrefix(address, "unix-abstract:") {
			return
		}
		endpoint := address
		if target, err := url.Parse(address); err == nil && resolver.Get(target.Scheme) != nil {
			if target.Host != "" {
				t.Errorf("%q is loopback, and gRPC asks %s for its address", address, target.Host)
			}
			endpoint = strings.TrimPrefix(target.Path, "/")
		}
		host, _, err := net.SplitHostPort(endpoint)
		if err != nil {
			t.Fatalf("%q is loopback, and gRPC's target is invalid: %v", address, err)
		}
		if ip, err := netip.ParseAddr(host); host != "localhost" && (err != nil || !ip.Unmap().IsLoopback()) {
			t.Errorf("%q is loopback, and its host is %s", address, host)
		}
	})
}

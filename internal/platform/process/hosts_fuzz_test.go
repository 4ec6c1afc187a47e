package process

import (
	"net/netip"
	"net/url"
	"strings"
	"testing"
)

// A host that the admin port answers to is an IP address, localhost or an allowed name, as another
// parser of hosts reads it.
func FuzzNoOtherNameIsAnAdminHost(f *testing.F) {
	for _, host := range []string{"localhost:8081", "[::1]:8081", "evil.example."} {
		f.Add(host)
	}
	hosts := AdminHosts{"metrics.example"}
	f.Fuzz(func(t *testing.T, host string) {
		address, err := url.Parse("http://" + host + "/")
		if err != nil || address.Host != host || host == "" || !hosts.include(host) {
			return
		}
		name := strings.ToLower(strings.TrimSuffix(address.Hostname(), "."))
		if _, err := netip.ParseAddr(name); err != nil && name != "localhost" && name != "metrics.example" {
			t.Errorf("%q is accepted, which names %q", host, name)
		}
	})
}

package serve

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/waybook/waybook/internal/platform/settings"
)

// AdminHosts are the host names under which programs may use the admin port. The flag is a
// comma-separated list. IP addresses and localhost always work.
//
// They protect from DNS rebinding. A page of another site can point its own name at this machine,
// and a browser then lets the page read what the port answers. The browser names the page's host
// in each request.
type AdminHosts []string

// String returns the flag's value.
func (h AdminHosts) String() string { return strings.Join(h, ",") }

// Set parses the flag's value and replaces the earlier one.
func (h *AdminHosts) Set(value string) error {
	var hosts AdminHosts
	for part := range strings.SplitSeq(value, ",") {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		if strings.ContainsAny(part, "/: \t*") {
			return fmt.Errorf("%q is not a host name; write it without scheme and port", part)
		}
		hosts = append(hosts, plainHost(part))
	}
	*h = hosts
	return nil
}

// protect rejects requests to other hosts than these.
func (h AdminHosts) protect(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !h.include(r.Host) {
			http.Error(w, fmt.Sprintf("the host %q is not allowed here; use an IP address, or allow it with -admin-hosts or %s",
				r.Host, settings.EnvName(adminHostsFlag)), http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// include reports whether a request may name a host, with or without a port. An HTTP/1.0 client
// may leave the host out. Browsers do not.
func (h AdminHosts) include(host string) bool {
	if host == "" {
		return true
	}
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = plainHost(strings.TrimSuffix(strings.TrimPrefix(host, "["), "]"))
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	return host == "localhost" || slices.Contains(h, host)
}

// plainHost normalizes a host name: lower case, without the dot of the root.
func plainHost(name string) string { return strings.ToLower(strings.TrimSuffix(name, ".")) }

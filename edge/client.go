package edge

import (
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/waybook/waybook/internal/platform/settings"
)

// TrustedProxies are the proxies in front of the edge whose headers about a client count. The
// flag is either a number of proxies or a comma-separated list of their networks as CIDRs. The
// zero value trusts no proxy.
type TrustedProxies struct {
	// hops is how many proxies each request passes. Any peer counts as the last of them.
	hops int
	// networks are the networks of the proxies, if hops is 0.
	networks []netip.Prefix
}

// maxHops bounds the addresses of X-Forwarded-For that the edge reads.
const maxHops = 16

// String returns the flag's value.
func (t TrustedProxies) String() string {
	if t.hops > 0 {
		return strconv.Itoa(t.hops)
	}
	networks := make([]string, len(t.networks))
	for i, network := range t.networks {
		networks[i] = network.String()
	}
	return strings.Join(networks, ",")
}

// Set parses the flag's value and replaces the earlier one.
func (t *TrustedProxies) Set(value string) error {
	if hops, err := strconv.Atoi(strings.TrimSpace(value)); err == nil {
		if hops < 0 || hops > maxHops {
			return fmt.Errorf("%d proxies are not from 0 to %d", hops, maxHops)
		}
		*t = TrustedProxies{hops: hops}
		return nil
	}
	var networks []netip.Prefix
	for _, part := range settings.List(value) {
		network, err := netip.ParsePrefix(part)
		if err != nil {
			return fmt.Errorf("%q is neither a network nor a number of proxies; write 10.0.0.1/32 for one address",
				part)
		}
		if network.Addr().Is4In6() {
			return errors.New(part + " is an IPv4 network in IPv6 form; write it as IPv4")
		}
		networks = append(networks, network.Masked())
	}
	*t = TrustedProxies{networks: networks}
	return nil
}

// include reports whether an address is that of a proxy, by the networks.
func (t TrustedProxies) include(address netip.Addr) bool {
	return slices.ContainsFunc(t.networks, func(network netip.Prefix) bool { return network.Contains(address) })
}

// trustPeer reports whether the peer of a connection is a proxy.
func (t TrustedProxies) trustPeer(peer netip.Addr) bool { return t.hops > 0 || t.include(peer) }

// client returns the address of the client. It is the peer of the connection, unless that is a
// trusted proxy. Then it is an address of X-Forwarded-For, whose lines form one list: with a
// number of proxies, the address that the first of them appended; with networks, the last address
// outside of them. Clients can invent all addresses before it. If there is no such address, or an
// entry after it is malformed, client returns the peer. It returns the zero Addr for a peer
// without an address.
func (t TrustedProxies) client(r *http.Request) netip.Addr {
	client, _ := t.trace(r)
	return client
}

// trace returns the address of the client, and how many proxies the request has passed.
func (t TrustedProxies) trace(r *http.Request) (client netip.Addr, passed int) {
	from := peer(r)
	if !t.trustPeer(from) {
		return from, 0
	}
	rest := strings.Join(r.Header["X-Forwarded-For"], ",")
	for passed = 1; rest != "" && passed <= maxHops; passed++ {
		comma := strings.LastIndexByte(rest, ',')
		address, ok := parseForwarded(rest[comma+1:])
		if !ok {
			break
		}
		if passed == t.hops || t.hops == 0 && !t.include(address) {
			return address, passed
		}
		rest = rest[:max(comma, 0)]
	}
	return from, max(passed, t.hops)
}

// clientHeaders are the headers, besides those that begin with X-Forwarded, by which proxies
// report a client. Some servers believe each of them.
var clientHeaders = []string{
	"Forwarded", "Via", "X-Real-Ip", "X-Client-Ip", "X-Cluster-Client-Ip", "X-Originating-Ip", "X-Remote-Ip",
	"X-Remote-Addr", "X-Host",
	"Client-Ip", "True-Client-Ip", "Cf-Connecting-Ip", "Fastly-Client-Ip", "X-Original-Host",
}

// Forward sets the headers that report the client of a request to a server behind the edge.
func (t TrustedProxies) Forward(r *http.Request, header http.Header) {
	for name := range header {
		if strings.HasPrefix(name, "X-Forwarded") || slices.Contains(clientHeaders, name) {
			header.Del(name)
		}
	}
	if client := t.client(r); client.IsValid() {
		header.Set("X-Forwarded-For", client.String())
		header.Set("X-Real-Ip", client.String())
	}
	header.Set("X-Forwarded-Host", r.Host)
	header.Set("X-Forwarded-Proto", "http")
	if t.isSecure(r) {
		header.Set("X-Forwarded-Proto", "https")
	}
}

// isSecure reports whether the client's own connection uses TLS. Each proxy appends to
// X-Forwarded-Proto as it does to X-Forwarded-For. If only some do, their first entry counts.
func (t TrustedProxies) isSecure(r *http.Request) bool {
	if r.TLS != nil {
		return true
	}
	_, passed := t.trace(r)
	if passed == 0 {
		return false
	}
	schemes := strings.Split(strings.Join(r.Header["X-Forwarded-Proto"], ","), ",")
	return strings.EqualFold(strings.Trim(schemes[max(len(schemes)-passed, 0)], " \t"), "https")
}

// peer returns the other end of the connection. It returns the zero Addr if that has no address,
// such as a Unix socket.
func peer(r *http.Request) netip.Addr {
	address, _ := netip.ParseAddrPort(r.RemoteAddr)
	return plainAddress(address.Addr())
}

// parseForwarded parses an address as proxies write it: bare, in brackets, or with a port.
func parseForwarded(s string) (netip.Addr, bool) {
	s = strings.Trim(s, " \t")
	if withPort, err := netip.ParseAddrPort(s); err == nil {
		return plainAddress(withPort.Addr()), true
	}
	if n := len(s); n > 1 && s[0] == '[' && s[n-1] == ']' {
		s = s[1 : n-1]
	}
	address, err := netip.ParseAddr(s)
	return plainAddress(address), err == nil
}

// plainAddress normalizes an address: no IPv4 in IPv6 form, and no zone.
func plainAddress(address netip.Addr) netip.Addr { return address.Unmap().WithZone("") }

package edge

import (
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// TrustedProxies are the networks of the proxies in front of the edge. Only their headers about
// a client count. The flag is a comma-separated list of CIDRs.
type TrustedProxies []netip.Prefix

// String returns the flag's value.
func (t TrustedProxies) String() string {
	networks := make([]string, len(t))
	for i, network := range t {
		networks[i] = network.String()
	}
	return strings.Join(networks, ",")
}

// Set parses the flag's value and replaces the earlier one.
func (t *TrustedProxies) Set(value string) error {
	var networks TrustedProxies
	for part := range strings.SplitSeq(value, ",") {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		network, err := netip.ParsePrefix(part)
		if err != nil {
			return fmt.Errorf("%q is not a network; write it like 10.0.0.0/8, or 10.0.0.1/32 for one address", part)
		}
		if network.Addr().Is4In6() {
			return errors.New(part + " is an IPv4 network in IPv6 form; write it as IPv4")
		}
		networks = append(networks, network.Masked())
	}
	*t = networks
	return nil
}

func (t TrustedProxies) include(address netip.Addr) bool {
	return slices.ContainsFunc(t, func(network netip.Prefix) bool { return network.Contains(address) })
}

// client returns the address of the client. It is the peer of the connection, unless that is a
// trusted proxy. Then it is the last address of X-Forwarded-For that is no trusted proxy; the
// client may have invented the addresses before it. If the header ends or is malformed before
// such an address, client returns the last known proxy. It returns the zero Addr if the peer has
// no address.
func (t TrustedProxies) client(r *http.Request) netip.Addr {
	client := peer(r)
	rest := strings.Join(r.Header["X-Forwarded-For"], ",")
	for rest != "" && t.include(client) {
		comma := strings.LastIndexByte(rest, ',')
		forwardedFor, ok := parseForwarded(rest[comma+1:])
		if !ok {
			break
		}
		client, rest = forwardedFor, rest[:max(comma, 0)]
	}
	return client
}

// isSecure reports whether the client's own connection uses TLS.
func (t TrustedProxies) isSecure(r *http.Request) bool {
	return r.TLS != nil ||
		strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https") && t.include(peer(r))
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

// clientKey returns the key under which a client is counted: an IPv4 address or the /64 of an
// IPv6 address. One customer has a whole /64. clientKey returns "" for the zero Addr.
func clientKey(address netip.Addr) string {
	if address.Is6() {
		network := netip.PrefixFrom(address, 64)
		return network.Masked().String()
	}
	if !address.IsValid() {
		return ""
	}
	return address.String()
}

package edge

import (
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// TrustedProxies are the networks of the proxies before the edge: they, and nobody
// else, are believed what they say about a client. As a flag they are written as
// CIDRs with commas between them.
type TrustedProxies []netip.Prefix

// String is the flag's value.
func (t TrustedProxies) String() string {
	networks := make([]string, len(t))
	for i, network := range t {
		networks[i] = network.String()
	}
	return strings.Join(networks, ",")
}

// Set reads the flag's value, which replaces what was there.
func (t *TrustedProxies) Set(value string) error {
	var networks TrustedProxies
	for part := range strings.SplitSeq(value, ",") {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		network, err := netip.ParsePrefix(part)
		if err != nil {
			return fmt.Errorf("%q is no network; write it like 10.0.0.0/8, or 10.0.0.1/32 for one address", part)
		}
		if network.Addr().Is4In6() {
			return errors.New(part + " is a network of IPv4; write it as one")
		}
		networks = append(networks, network.Masked())
	}
	*t = networks
	return nil
}

func (t TrustedProxies) include(address netip.Addr) bool {
	return slices.ContainsFunc(t, func(network netip.Prefix) bool { return network.Contains(address) })
}

// client returns where a request comes from: the peer of its connection or, when
// that is a trusted proxy, the last address of X-Forwarded-For that is not one.
// What stands before that address may have been made up by the client. When the
// header is used up or cannot be read, it is the last proxy that is known, and
// the zero Addr when not even the peer has an address.
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

// isSecure reports whether the client's own connection is by TLS.
func (t TrustedProxies) isSecure(r *http.Request) bool {
	return r.TLS != nil ||
		strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https") && t.include(peer(r))
}

// peer is the other end of the connection; the zero Addr when it has no address,
// such as that of a Unix socket.
func peer(r *http.Request) netip.Addr {
	address, _ := netip.ParseAddrPort(r.RemoteAddr)
	return plainAddress(address.Addr())
}

// parseForwarded reads an address as proxies write it: bare, in brackets, or with
// a port.
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

// plainAddress spells an address in one way: IPv4 as such, and without a zone.
func plainAddress(address netip.Addr) netip.Addr { return address.Unmap().WithZone("") }

// Address tells the exchange's client apart from others, as operation.Caller has it.
func (x *exchange) Address() string {
	return clientKey(x.handler.config.TrustedProxies.client(x.request))
}

// clientKey tells clients apart where something is counted for each: an address
// of IPv4, or the /64 of an address of IPv6, all of which one customer has. It is
// empty for the zero Addr.
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

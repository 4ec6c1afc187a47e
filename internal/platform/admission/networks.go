package admission

import (
	"net/netip"
	"strings"
)

// Networks are the networks by which a client is counted, the smallest first: its IPv4 address, or the
// /64, the /56 and the /48 of its IPv6 address. Providers give a customer any of the three, so nobody gets new
// allowances by moving within them. A network that is missing is the zero Prefix.
type Networks [3]netip.Prefix

// NetworksOf returns the networks of an address; none for the zero Addr.
func NetworksOf(address netip.Addr) (n Networks) {
	switch {
	case address.Is6():
		for i, bits := range [...]int{64, 56, 48} {
			n[i] = netip.PrefixFrom(address, bits).Masked()
		}
	case address.IsValid():
		n[0] = netip.PrefixFrom(address, address.BitLen())
	}
	return n
}

// Allowance is how many times the limit of one client the network i may use. Others may be in it: with the
// same limit, one could use up that of a neighbour.
func Allowance(i int) int { return 1 << i }

// ClientKey returns the key of a client for a PerKey or a Rate: its IPv4 address, or its /64 as a CIDR; "" for the
// zero Addr.
func ClientKey(address netip.Addr) string {
	if n := NetworksOf(address); address.Is6() {
		return n[0].String()
	}
	if !address.IsValid() {
		return ""
	}
	return address.String()
}

// KeysOf returns the keys under which the limits count a key: of the key of an IPv6 client, or of its address, those
// of its networks; of any other, the key itself, and "" for the rest.
func KeysOf(key string) (keys [3]string) {
	keys[0] = key
	if !strings.Contains(key, ":") {
		return keys
	}
	address, _, _ := strings.Cut(key, "/")
	if parsed, err := netip.ParseAddr(address); err == nil && parsed.Unmap().Is6() {
		for i, network := range NetworksOf(parsed.WithZone("")) {
			keys[i] = network.String()
		}
	}
	return keys
}

package admission

import (
	"net/netip"
	"strings"
)

// ClientKey returns the key of a client for a PerKey or a Rate: its IPv4 address, or its /64 as a
// CIDR; "" for the zero Addr.
func ClientKey(address netip.Addr) string {
	switch address = address.Unmap(); {
	case !address.IsValid():
		return ""
	case address.Is4():
		return address.String()
	}
	return network(address, 64)
}

// KeysOf returns the keys under which the limits count a key: of the key of an IPv6 client, or of
// its address, its /64, /56 and /48; of any other, only the key itself. Providers give a customer
// any of the three, so a client gets no new allowances by moving within them.
func KeysOf(key string) []string {
	if strings.Contains(key, ":") {
		text, _, _ := strings.Cut(key, "/")
		if address, err := netip.ParseAddr(text); err == nil && address.Unmap().Is6() {
			return []string{network(address, 64), network(address, 56), network(address, 48)}
		}
	}
	return []string{key}
}

// Allowance is how many times the limit of one client the key i of KeysOf may use. Others may be
// in the network: with the same limit, one could use up that of a neighbour.
func Allowance(i int) int { return 1 << i }

func network(address netip.Addr, bits int) string {
	return netip.PrefixFrom(address.WithZone(""), bits).Masked().String()
}

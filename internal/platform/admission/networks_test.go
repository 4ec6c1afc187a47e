package admission

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"
)

func TestAClientIsCountedByItsAddressOrByIPv6NetworksOfEachSize(t *testing.T) {
	for key, want := range map[string][]string{
		ClientKey(netip.MustParseAddr("192.0.2.1")):         {"192.0.2.1"},
		ClientKey(netip.MustParseAddr("2001:db8:1:234::1")): {"2001:db8:1:234::/64", "2001:db8:1:200::/56", "2001:db8:1::/48"},
		"2001:db8:1:234:5::6":                               {"2001:db8:1:234::/64", "2001:db8:1:200::/56", "2001:db8:1::/48"},
		"::ffff:192.0.2.1":                                  {"::ffff:192.0.2.1"},
		"17":                                                {"17"},
		"a: b":                                              {"a: b"},
		ClientKey(netip.Addr{}):                             {""},
	} {
		if got := KeysOf(key); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", key, got, want)
		}
	}
}

func TestEventsThatAreCountedAfterwardsWaitForAsLongAsOthers(t *testing.T) {
	now := time.Unix(1e9, 0)
	rate := NewRate(1, 5*time.Second, func() time.Time { return now })
	const key, neighbour = "2001:db8:1:234::/64", "2001:db8:1:235::/64"
	for range 8 { // at the same time: none knew of the others
		if wait := rate.Wait(key); wait != 0 {
			t.Errorf("the first wait %v", wait)
		}
	}
	for range 8 {
		rate.Charge(key)
	}
	for range 2 {
		if wait := rate.Wait(key); wait != 4*time.Second {
			t.Errorf("the next waits %v", wait)
		}
	}
	if wait := rate.Wait(neighbour); wait != 0 {
		t.Errorf("a neighbour waits %v", wait)
	}
	now = now.Add(4 * time.Second)
	if wait := rate.Wait(key); wait != 0 {
		t.Errorf("after the wait: %v", wait)
	}
}

// Whoever takes an address of ever new networks uses up the limit of the wider one; a neighbour still gets its own.
func TestNewNetworksGiveNoNewAllowances(t *testing.T) {
	now := time.Unix(1e9, 0)
	for name, take := range map[string]func(key string) bool{
		"slots": NewPerKey(10).TryEnter,
		"rate": func() func(string) bool {
			rate := NewRate(1, 10*time.Second, func() time.Time { return now })
			return func(key string) bool { return rate.Take(key) == 0 }
		}(),
	} {
		count := func(of func(n int) string) (taken int) {
			for n := range 200 {
				if take(ClientKey(netip.MustParseAddr(of(n)))) {
					taken++
				}
			}
			return taken
		}
		for _, step := range []struct {
			what string
			of   func(n int) string
			want int
		}{
			{"one /64", func(n int) string { return fmt.Sprintf("2001:db8:1:101::%x", n) }, 10},
			{"its /56", func(n int) string { return fmt.Sprintf("2001:db8:1:1%02x::", n) }, 10},
			{"a neighbour", func(int) string { return "2001:db8:1:201::1" }, 10},
			{"its /48", func(n int) string { return fmt.Sprintf("2001:db8:1:%x::", n<<8) }, 10},
			{"another /48", func(int) string { return "2001:db8:2:201::1" }, 10},
		} {
			if got := count(step.of); got != step.want {
				t.Errorf("%s: %d of %s, want %d", name, got, step.what, step.want)
			}
		}
	}
}

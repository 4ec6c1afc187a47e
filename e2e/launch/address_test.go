package launch

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"testing"
)

// A pod that starts again at its address finds it free.
func TestTheSystemGivesTheAddressOfAPodToNobodyElse(t *testing.T) {
	var least, most int
	const setting = "/proc/sys/net/ipv4/ip_local_port_range"
	text, err := os.ReadFile(setting)
	if err != nil {
		t.Skipf("SKIPPED: which ports this system gives to whoever asks for any is not known: %v", err)
	}
	if _, err := fmt.Sscan(string(text), &least, &most); err != nil {
		t.Fatalf("%s: %v", setting, err)
	}
	seen := map[string]bool{}
	for range 100 {
		address := Address(t)
		_, text, err := net.SplitHostPort(address)
		if err != nil {
			t.Fatal(err)
		}
		if port, err := strconv.Atoi(text); err != nil || port >= least && port <= most {
			t.Errorf("%s (%v) is one of the ports from %d to %d", address, err, least, most)
		}
		if seen[address] {
			t.Errorf("%s is given twice", address)
		}
		seen[address] = true
	}
}

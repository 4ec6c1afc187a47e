package load

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/waybook/waybook/e2e/launch"
	"github.com/waybook/waybook/internal/longform"
)

const (
	// places is the concurrency limit of the edge; its queue has the same size. A login keeps a
	// processor busy for about 20 ms, so a few logins saturate a machine, while sending requests
	// costs almost nothing.
	places = 16
	// clients is the number of concurrent clients, far above the limit.
	clients   = 20 * places
	shortTime = time.Second
)

// memoryLimit is how much the process may grow under overload, in MiB. It is more than the limit
// and the queue need, including four times 19 MiB for passwords, and far less than unbounded
// requests would need.
const memoryLimit = 256

// phase returns how long each phase of a test takes, and whether that was requested.
func phase(t *testing.T) (each time.Duration, isLong bool) {
	t.Helper()
	given := os.Getenv("WAYBOOK_OVERLOAD")
	if given == "" {
		return shortTime, false
	}
	each, err := time.ParseDuration(given)
	if err != nil {
		t.Fatal(err)
	}
	return each, true
}

func TestLoginsSucceedUnderFiveTimesTheLoad(t *testing.T) {
	longform.Only(t)
	each, _ := phase(t)
	p := launch.Start(t, binary, t.TempDir(), "-demo=false", "-max-requests", fmt.Sprint(places), "-max-client-connections=0")
	load := newLoad(t, p.HTTP, launch.Dial(t, p.GRPC))
	load.inTurns(t, places, each) // warm
	before := launch.MemoryOf(t, p).Anonymous

	t.Logf("%-16s %8s %8s %10s %12s %10s %10s %10s", "load", "requests/s", "good/s", "rejected/s", "of maximum", "p50", "p99", "MiB grown")
	show := func(name string, got *result, highest float64) {
		good, grown := got.perSecond(got.good), launch.MemoryOf(t, p).Anonymous-before
		t.Logf("%-16s %8.0f %8.0f %10.0f %11.0f%% %10v %10v %10.1f", name, got.perSecond(got.good+got.refused), good,
			got.perSecond(got.refused), 100*good/highest, got.quantile(0.5), got.quantile(0.99), grown)
		if got.good == 0 {
			t.Errorf("%s: no successful reply", name)
		}
		if grown > memoryLimit {
			t.Errorf("%s: the process grew by %.0f MiB", name, grown)
		}
	}
	most := load.inTurns(t, places, each)
	highest := most.perSecond(most.good)
	show("maximum", most, highest)
	for _, times := range []float64{0.5, 1, 2, 5, 10} {
		got := load.atRate(t, times*highest, each)
		show(fmt.Sprintf("%g times maximum", times), got, highest)
		if times >= 5 && got.refused == 0 {
			t.Errorf("no request was rejected at %g times the maximum", times)
		}
	}
	show("maximum, again", load.inTurns(t, places, each), highest)
}

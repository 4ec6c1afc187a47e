// Package overload asks more of Waybook than it can do, and shows that it goes on doing
// what it can: what is refused is refused at once and well-formed, and memory is bounded.
// The figures are printed and not asserted, as they are those of a machine.
package overload

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/waybook/waybook/e2e/launch"
)

const (
	// places are those of the edge; its queue has as many. A login keeps a processor busy
	// for some 20 ms, so few of them are all that a machine can do, and whoever asks takes
	// next to nothing from it.
	places = 16
	// clients is how many ask in turns, many more than there is room for.
	clients   = 20 * places
	shortTime = time.Second
)

// memoryLimit is what the process may grow by under overload, in MiB: more than places
// and queue need, four times 19 MiB for passwords included, and far less than requests
// that pile up would.
const memoryLimit = 256

func TestUnderFiveTimesTheLoadGoodAnswersGoOn(t *testing.T) {
	each := shortTime
	if given := os.Getenv("WAYBOOK_OVERLOAD"); given != "" {
		var err error
		if each, err = time.ParseDuration(given); err != nil {
			t.Fatal(err)
		}
	}
	binary := filepath.Join(t.TempDir(), "standalone")
	if err := launch.Build(filepath.Dir(binary), launch.AsShipped, "github.com/waybook/waybook/standalone"); err != nil {
		t.Fatal(err)
	}
	p := launch.Start(t, binary, t.TempDir(), "-demo=false", "-max-requests", fmt.Sprint(places))
	load := newLoad(t, p)
	load.inTurns(t, places, each) // warm
	before := launch.MemoryMiB(t, p)

	t.Logf("%-16s %8s %8s %10s %12s %10s %10s %10s", "asked", "asked/s", "good/s", "refused/s", "of maximum", "p50", "p99", "MiB grown")
	show := func(name string, got *result, highest float64) {
		good, grown := got.perSecond(got.good), launch.MemoryMiB(t, p)-before
		t.Logf("%-16s %8.0f %8.0f %10.0f %11.0f%% %10v %10v %10.1f", name, got.perSecond(got.good+got.refused), good,
			got.perSecond(got.refused), 100*good/highest, got.quantile(0.5), got.quantile(0.99), grown)
		if got.good == 0 {
			t.Errorf("%s: no good answer", name)
		}
		if grown > memoryLimit {
			t.Errorf("%s: the process grew by %.0f MiB", name, grown)
		}
	}
	most := load.inTurns(t, places, each)
	highest := most.perSecond(most.good)
	show("as it can", most, highest)
	for _, times := range []float64{0.5, 1, 2, 5, 10} {
		got := load.atRate(t, times*highest, each)
		show(fmt.Sprintf("%g times that", times), got, highest)
		if times >= 5 && got.refused == 0 {
			t.Errorf("nothing was refused at %g times", times)
		}
	}
	show("as it can, again", load.inTurns(t, places, each), highest)
}

package programs_test

import (
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/waybook/waybook/e2e/launch"
	"github.com/waybook/waybook/internal/longform"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
)

func TestASignalEndsAnIdleProgramWithStatus0(t *testing.T) {
	t.Parallel()
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		t.Run(signal.String(), func(t *testing.T) {
			p := launch.Start(t, binary, t.TempDir())
			if status := p.End(signal); status != 0 {
				t.Errorf("status %d\n%s", status, p.Printed())
			}
		})
	}
}

func TestASignalDuringTheStartIsNotAFailure(t *testing.T) {
	t.Parallel()
	p := launch.Begin(t, binary, nil, launch.FreePorts(t.TempDir())...)
	awaitFilling(t, p)
	if status := p.End(os.Interrupt); status != 0 {
		t.Errorf("status %d\n%s", status, p.Printed())
	}
}

// TestASignalEndsAListThatNobodyReads requests a list larger than all socket buffers, reads its beginning, and
// stops reading.
func TestASignalEndsAListThatNobodyReads(t *testing.T) {
	longform.Only(t)
	t.Parallel() // it waits
	p := launch.Start(t, binary, t.TempDir(), "-demo=false")
	// Each name takes 1,000 bytes in XML, so 10,000 names exceed all socket buffers.
	launch.CreatePois(t, launch.Dial(t, p.GRPC), poiv1.PoiCategory_POI_CATEGORY_THRILL, strings.Repeat("&", 200), 10_000)
	connection := launch.StopReading(t, p.HTTP, "func=getCategoryPOIList&category=5")
	defer func() { _ = connection.Close() }()
	if status := p.End(syscall.SIGTERM); status != 0 {
		t.Errorf("status %d\n%s", status, p.Printed())
	}
}

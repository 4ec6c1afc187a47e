package programs_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

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

// A filling that is killed is completed by the next start, and nothing of it is there twice.
func TestAKilledFillingIsCompletedWithoutDuplicates(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	for range 3 {
		p := launch.Begin(t, binary, nil, launch.FreePorts(data)...)
		awaitFilling(t, p)
		p.End(syscall.SIGKILL)
	}
	p, fresh := launch.Start(t, binary, data), launch.Start(t, binary, t.TempDir())
	if got, want := landmarks(t, p), landmarks(t, fresh); got != want {
		t.Errorf("%v landmarks, want %v", got, want)
	}
	albums := post(t, p, "", "func", "getUserAlbumList", "userID", demoUser(demoCookie(t, data))).MustSucceed(t).XML().Find("albumList", "*")
	if len(albums) != 1 {
		t.Errorf("%d albums", len(albums))
	}
	// The password belongs to the user that the first filling created.
	post(t, p, "", "func", "login", "email", "demo@waybook.example", "password", demoPassword(t, data)).MustSucceed(t)
}

// awaitFilling waits until a process starts to fill its store, or is ready.
func awaitFilling(t *testing.T, p *launch.Process) {
	t.Helper()
	for limit := time.Now().Add(patience); p.Alive() && time.Now().Before(limit); time.Sleep(100 * time.Microsecond) {
		if _, err := os.Stat(filepath.Join(p.Data, "demo-password")); err == nil || strings.Contains(p.Out(), "ready") {
			return
		}
	}
	t.Fatalf("the process does not fill its store:\n%s", p.Printed())
}

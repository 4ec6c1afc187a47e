package moving_test

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/waybook/waybook/e2e/launch"
	"github.com/waybook/waybook/e2e/olddata"
	"github.com/waybook/waybook/internal/longform"
)

// importing starts an import of a file and of the photos of a folder by the program.
func importing(t *testing.T, into *launch.Process, file, site string) *exec.Cmd {
	t.Helper()
	command := exec.CommandContext(t.Context(), filepath.Join(binaries, "waybookctl"), "move", "import", file, "--photos", site, "--address", into.GRPC)
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	return command
}

// The import is killed at 20 moments, and half of the times the server, too.
func TestAnImportThatIsKilledIsRepeated(t *testing.T) {
	t.Parallel()
	const kills = 5
	stores := longform.Number(1, 4)
	sizes := olddata.Years(float64(stores) / 800)
	file, err := sizes.Write(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	site := t.TempDir()
	if err := sizes.WritePhotos(site, picture(t), 10); err != nil {
		t.Fatal(err)
	}
	requests := filepath.Join(t.TempDir(), "requests")
	if err := os.WriteFile(requests, []byte(sizes.Requests()), 0o600); err != nil {
		t.Fatal(err)
	}
	undisturbed, began := startOn(t, t.TempDir()), time.Now()
	expectRun(t, 4, "move", "import", file, "--photos", site, "--address", undisturbed.GRPC) // some photos have no file
	duration, killed := time.Since(began), 0
	for range stores {
		data := t.TempDir()
		waybook := startOn(t, data)
		for n := range kills {
			command := importing(t, waybook, file, site)
			<-time.After(rand.N(duration / 2)) // #nosec G404 -- any moment
			isBoth := n%2 == 0
			if isBoth {
				waybook.End(os.Kill)
			}
			_ = command.Process.Kill()                                   // it may have ended
			if _ = command.Wait(); command.ProcessState.ExitCode() < 0 { // it ended by no exit
				killed++
			}
			if isBoth {
				waybook = startOn(t, data)
			}
		}
		t.Log(expectRun(t, 4, "move", "import", file, "--photos", site, "--address", waybook.GRPC))
		expectRun(t, 0, "move", "import", file, "--photos", site, "--address", waybook.GRPC, "--verify")
		out := expectRun(t, 0, "compare", "http://"+undisturbed.HTTP, "http://"+waybook.HTTP, requests)
		if !strings.Contains(out, " same, 0 allowed, 0 different, 0 trouble") {
			t.Error(out)
		}
		waybook.End(os.Interrupt)
		expectRun(t, 0, "store", "check", "--data", data) // no photo lacks a file that it names
	}
	if t.Logf("an import takes %v; %d were killed", duration, killed); killed < stores*kills/2 {
		t.Error("too few imports were killed")
	}
}

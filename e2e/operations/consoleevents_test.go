package operations_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/waybook/waybook/e2e/launch"
	"github.com/waybook/waybook/waybookctl/cli"
)

// requestsEvent is an event about requests.
type requestsEvent struct {
	Failed []struct {
		ID, Program, Func, Reason, Meaning string
		RequestID                          string `json:"request_id"`
		Call                               *struct{ Service, Method, Code, Message, Tried string }
	}
	Slow      []struct{ Parts []struct{ Name string } }
	Problems  []string
	KeepsSlow bool `json:"keeps_slow"`
}

// follow reads events until one is as wanted.
func follow[Event any](d *desk, path string, isWanted func(Event) bool) (last Event) {
	d.t.Helper()
	request, err := http.NewRequestWithContext(d.t.Context(), http.MethodGet, d.base+path, nil)
	if err != nil {
		d.t.Fatal(err)
	}
	response, err := d.browser.Do(request)
	if err != nil {
		d.t.Fatal(err)
	}
	defer func() {
		if err := response.Body.Close(); err != nil {
			d.t.Error(err)
		}
	}()
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 8<<20)
	for lines.Scan() {
		data, isEvent := strings.CutPrefix(lines.Text(), "data: ")
		if !isEvent {
			continue
		}
		last = *new(Event)
		if err := json.Unmarshal([]byte(data), &last); err != nil {
			d.t.Fatal(err)
		}
		if isWanted(last) {
			return last
		}
	}
	d.t.Fatalf("the events end with %+v: %v", last, lines.Err())
	return last
}

func TestTheConsoleFollowsFailedAndSlowRequests(t *testing.T) {
	t.Parallel()
	programs := launch.StartPrograms(t, binaries, t.TempDir())
	p := startEmpty(t)
	d := startConsole(t, p, "--admin", programs["edge"].Admin, "--admin", programs["album"].Admin).open()
	if now := follow(d, "/requests/events", func(requestsEvent) bool { return true }); len(now.Failed)+len(now.Slow)+len(now.Problems) != 0 || now.KeepsSlow {
		t.Errorf("at first: %+v", now)
	}
	programs["album"].End(syscall.SIGTERM)
	header, _ := get(t, "http://"+programs["edge"].HTTP+"/API.php?func=getAlbum&albumID=1")
	now := follow(d, "/requests/events", func(now requestsEvent) bool { return len(now.Failed) > 0 })
	failed := now.Failed[0]
	if failed.RequestID != header.Get("X-Request-Id") || failed.Program != "waybook-edge" && failed.Program != "edge" || failed.Func != "getAlbum" ||
		failed.Reason != "SERVICE_UNAVAILABLE" || failed.Meaning == "" || failed.Call == nil || failed.Call.Code != "Unavailable" ||
		failed.Call.Service != "waybook.album.v1.AlbumService" || failed.Call.Tried == "" {
		t.Errorf("shown is %+v %+v", failed, failed.Call)
	}
	if len(now.Problems) != 1 || !strings.Contains(now.Problems[0], programs["album"].Admin) {
		t.Errorf("of the program that has ended it says %q", now.Problems)
	}
}

// deletedEvent is an event about what was deleted.
type deletedEvent struct {
	KeptSeconds float64 `json:"kept_seconds"`
	Feeds       []struct {
		Kind      string
		IsLive    bool `json:"is_live"`
		Count     int
		Deletions []struct{ ID json.Number }
		Failure   *struct{ Message string }
	}
}

func TestTheConsoleShowsWhatIsDeletedOfEachKind(t *testing.T) {
	t.Parallel()
	p := startEmpty(t)
	o := operator{t, p.GRPC}
	user := o.createUser("a")
	before, later := o.createAlbum(user, "Harbour"), o.createAlbum(user, "Harbour")
	o.must("album", "delete", before)
	d := startConsole(t, p).open()
	now := follow(d, "/deleted/events", func(now deletedEvent) bool {
		live := 0
		for _, each := range now.Feeds {
			if each.IsLive {
				live++
			}
		}
		return live == 4 && len(now.Feeds[0].Deletions) == 1
	})
	if now.Feeds[0].Deletions[0].ID.String() != before || now.KeptSeconds != 7*86400 {
		t.Errorf("of before it shows %+v, want album %s", now, before)
	}
	o.must("album", "delete", later)
	o.must("user", "delete", user)
	now = follow(d, "/deleted/events", func(now deletedEvent) bool {
		return len(now.Feeds[0].Deletions) == 2 && len(now.Feeds[3].Deletions) == 1
	})
	albums, users := now.Feeds[0], now.Feeds[3]
	if albums.Kind != "album" || albums.Count != 2 || albums.Deletions[1].ID.String() != later || users.Kind != "user" || users.Deletions[0].ID.String() != user {
		t.Errorf("deleted is %+v", now)
	}
	p.End(syscall.SIGTERM)
	now = follow(d, "/deleted/events", func(now deletedEvent) bool { return now.Feeds[0].Failure != nil && now.Feeds[3].Failure != nil })
	if !strings.Contains(now.Feeds[0].Failure.Message, "no album service answers") {
		t.Errorf("without services it says %+v", now.Feeds[0].Failure)
	}
}

// movesEvent is an event about imports.
type movesEvent struct {
	Import *struct {
		HasEnded bool `json:"has_ended"`
		Failure  string
		Stage    string
		Total    int
		Kinds    []struct {
			Kind        string
			Total, Done int
			Outcomes    map[string]int
		}
		Problems int
	}
	Failure *struct{ Message string }
}

func TestTheConsoleShowsAnImportWhileItRuns(t *testing.T) {
	t.Parallel()
	p := startEmpty(t)
	folder := t.TempDir()
	journal, file := filepath.Join(folder, "journal"), filepath.Join(folder, "users")
	if err := os.WriteFile(file, []byte(`{"kind":"user","id":"7","name":"Mina"}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d := startConsole(t, p, "--journal", journal).open()
	nowhere := launch.Address(t)
	ctx, interrupt := context.WithCancel(t.Context())
	ended := make(chan int, 1)
	go func() { // it tries again until it is interrupted, because no service answers
		ended <- cli.Run(ctx, []string{"move", "import", "--yes", "--address", nowhere, "--journal", journal, file},
			cli.Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard}, func(string) (string, bool) { return "", false })
	}()
	now := follow(d, "/moves/events", func(now movesEvent) bool { return now.Import != nil && now.Import.Stage == "importing" })
	if now.Import.HasEnded || now.Import.Total != 1 || len(now.Import.Kinds) != 1 || now.Import.Kinds[0].Done != 0 {
		t.Errorf("while it runs: %+v", now.Import)
	}
	interrupt()
	if status := <-ended; status == 0 {
		t.Error("the import succeeded without services")
	}
	now = follow(d, "/moves/events", func(now movesEvent) bool { return now.Import.HasEnded })
	if now.Import.Failure == "" {
		t.Errorf("after it was interrupted: %+v", now.Import)
	}
}

func TestTheConsoleShowsTheResultOfAnImport(t *testing.T) {
	t.Parallel()
	p := startEmpty(t)
	o := operator{t, p.GRPC}
	journal := filepath.Join(t.TempDir(), "journal")
	d := startConsole(t, p, "--journal", journal).open()
	if now := follow(d, "/moves/events", func(movesEvent) bool { return true }); now.Import != nil || now.Failure != nil {
		t.Errorf("at first: %+v", now)
	}
	write := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(t.TempDir(), "users")
	write(file, `{"kind":"user","id":"7","name":"Mina"}`+"\n"+`{"kind":"user","id":"8","name":""}`+"\n")
	if r := o.run("", "move", "import", "--yes", "--journal", journal, file); r.status != 4 || !strings.Contains(r.err, "1 left out") {
		t.Fatalf("status %d: %s", r.status, r.err)
	}
	now := follow(d, "/moves/events", func(now movesEvent) bool { return now.Import != nil && now.Import.HasEnded })
	kinds := now.Import.Kinds
	if len(kinds) != 1 || kinds[0].Kind != "user" || kinds[0].Total != 2 || kinds[0].Done != 2 || kinds[0].Outcomes["created"] != 1 ||
		kinds[0].Outcomes["left_out"] != 1 || now.Import.Problems != 1 || now.Import.Failure != "" {
		t.Errorf("it shows %+v", now.Import)
	}
	write(journal+".status.json", "x")
	follow(d, "/moves/events", func(now movesEvent) bool {
		return now.Failure != nil && strings.Contains(now.Failure.Message, "is not the status of an import")
	})
}

// stateEvent is an event about the programs.
type stateEvent struct {
	Programs []struct {
		Program, Version, Address string
		Failure                   *struct{ Message string }
		Metrics                   map[string]float64
	}
}

func TestTheConsoleShowsTheStateOfEachProgram(t *testing.T) {
	t.Parallel()
	p := startEmpty(t)
	d := startConsole(t, p, "--admin", launch.Address(t)).open()
	first := follow(d, "/state/events", func(now stateEvent) bool { return len(now.Programs) == 2 })
	if down := first.Programs[0]; down.Failure == nil || down.Failure.Message == "" || down.Program != "" {
		t.Errorf("of a program that is down it shows %+v", down)
	}
	up := first.Programs[1]
	if up.Program != "standalone" || up.Version == "" || up.Failure != nil || up.Metrics["waybook_ready"] != 1 || up.Metrics["waybook_changes_kept_seconds"] != 7*86400 ||
		up.Metrics["waybook_store_last_backup_timestamp_seconds"] != 0 || up.Metrics["waybook_store_file_bytes"] == 0 {
		t.Errorf("it shows %+v", up)
	}
	operator{t, p.GRPC}.must("store", "backup", filepath.Join(t.TempDir(), "backup.db"))
	follow(d, "/state/events", func(now stateEvent) bool {
		return len(now.Programs) == 2 && now.Programs[1].Metrics["waybook_store_last_backup_timestamp_seconds"] > 0
	})
	p.End(syscall.SIGTERM)
	follow(d, "/state/events", func(now stateEvent) bool { return now.Programs[0].Failure != nil && now.Programs[1].Failure != nil })
}

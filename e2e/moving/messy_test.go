package moving_test

import (
	"context"
	"crypto/sha1" // #nosec G505 -- as old services stored passwords
	"database/sql"
	"encoding/hex"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybook/waybook/e2e/launch"
	"github.com/waybook/waybook/internal/longform"
)

// messyService is the old service of testdata/messy.sql.
type messyService struct {
	*sql.DB
	t    *testing.T
	path string
}

func startMessyService(t *testing.T) messyService {
	t.Helper()
	m := messyService{t: t, path: filepath.Join(t.TempDir(), "messy.sqlite")}
	database, err := sql.Open("sqlite", m.path)
	if err != nil {
		t.Fatal(err)
	}
	database.SetMaxOpenConns(1) // temporary tables belong to a connection
	t.Cleanup(func() {
		if err := database.Close(); err != nil {
			t.Error(err)
		}
	})
	m.DB = database
	m.play("messy.sql")
	sum := sha1.Sum([]byte("pepper" + "wander")) // #nosec G401 -- as above
	m.exec("update members set salt = 'pepper', pw = ? where uid = 3", hex.EncodeToString(sum[:]))
	return m
}

func (m messyService) exec(statement string, args ...any) {
	m.t.Helper()
	if _, err := m.ExecContext(context.Background(), statement, args...); err != nil {
		m.t.Fatal(err)
	}
}

// play runs a script of testdata.
func (m messyService) play(name string) {
	m.t.Helper()
	script, err := os.ReadFile(testFile(m.t, name))
	if err != nil {
		m.t.Fatal(err)
	}
	m.exec(string(script))
}

// export returns the file that moveread writes.
func (m messyService) export() (file string) {
	m.t.Helper()
	file = filepath.Join(m.t.TempDir(), "messy.ndjson")
	done := moveread(m.t)("file:"+m.path+"?mode=ro", "-entities", "sqlite", testFile(m.t, "messy_queries.sql"), file)
	if done.status != 0 {
		m.t.Fatal(done)
	}
	return file
}

// bringBack takes what was made, changed and deleted in Waybook over.
func (m messyService) bringBack(exported, problems string) {
	m.t.Helper()
	m.exec("create temp table sent (line text, is_gone integer)")
	for name, isGone := range map[string]bool{exported: false, problems: true} {
		text, err := os.ReadFile(name)
		if err != nil {
			m.t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if !isGone || strings.Contains(line, `"field":"","class":"DELETED"`) {
				m.exec("insert into sent values (?, ?)", line, isGone)
			}
		}
	}
	m.play("messy_back.sql")
}

// The life of a move, from another old service than that of the guide: moved in, changed there, moved
// again, switched, and gone back. What clients see is compared with the old database each time.
func TestAMessyOldServiceMovesInAndIsGoneBackTo(t *testing.T) {
	t.Parallel()
	longform.Only(t)
	old := startMessyService(t)
	data := t.TempDir()
	start := func() *launch.Process { return startOn(t, data, "-ids=old", "-time-zone=UTC") }
	waybook := start()
	allowed := []string{"--time-zone", "UTC", "--allow", "dangling,long-titles,empty-texts,control-characters,odd-values,bad-times,bad-parts"}
	expectSuccess := func(done ran) {
		t.Helper()
		if done.status != 0 {
			t.Fatal(done)
		}
	}

	file := old.export()
	if done := run(t, append([]string{"move", "check", file}, allowed[:2]...)...); done.status != 4 || !strings.Contains(done.out, "odd-values") {
		t.Errorf("nobody would take this for clean: %v", done)
	}
	expectSuccess(imported(t, waybook, file, allowed...))
	old.expectIn(waybook, "moved in")

	old.play("messy_changed.sql")
	file = old.export()
	expectSuccess(imported(t, waybook, file, append(allowed, "--update", "--prune")...))
	if status := waybook.End(os.Interrupt); status != 0 {
		t.Fatalf("standalone ended with status %d", status)
	}
	waybook = start() // names are cached for 30 seconds
	old.expectIn(waybook, "moved again")

	// Clients go on in Waybook, with the old password and the old numbers.
	switched := time.Now().UTC().Add(-time.Second)
	cookie := logIn(t, waybook, "m3@old.example", "wander")
	for _, form := range []url.Values{
		{"func": {"addAlbum"}, "albumTitle": {"made in Waybook"}, "category": {"3"}, "lat": {"25.5"}, "lng": {"121.5"}},
		{"func": {"addComment"}, "albumID": {"9"}, "comment": {"said in Waybook"}},
		{"func": {"updateAlbum"}, "albumID": {"42"}, "albumTitle": {"renamed in Waybook"}},
		{"func": {"updateAlbum"}, "albumID": {"162"}, "delete": {"true"}},
		{"func": {"postBlog"}, "type": {"0_8"}, "lat": {"25"}, "lng": {"121"}, "blogTitle": {"new"}, "blogContent": {"text"}, "year": {"2026"}, "month": {"11"}, "day": {"1"}, "weather": {"晴空萬里"}},
		{"func": {"recommend"}, "blogID": {"4"}},
	} {
		if reply := post(t, waybook, cookie, form); !strings.Contains(reply, "SUCCESS") {
			t.Fatalf("%v: %s", form, reply)
		}
	}
	succeed(t, "user", "delete", "42", "--address", socket(waybook))
	back, problems := filepath.Join(t.TempDir(), "back.ndjson"), filepath.Join(t.TempDir(), "problems.ndjson")
	succeed(t, "move", "export", "--address", socket(waybook), "--time-zone", "UTC", "--since", switched.Format(time.RFC3339), back)
	expectSuccess(imported(t, waybook, file, append(allowed, "--update", "--dry-run", "--max-removed", "1", "--problems", problems)...))
	old.bringBack(back, problems)
	old.expectIn(waybook, "gone back")
	if left := old.column("select uid from members where uid > 40"); !slices.Equal(left, []string{"41"}) {
		t.Errorf("of the new users 41 and 42, who was deleted in Waybook, the old service has %v", left)
	}
	var made int
	if err := old.QueryRowContext(t.Context(), "select count(*) from things where head in ('made in Waybook', 'renamed in Waybook', 'new') and uid = 3 or tid = 162").Scan(&made); err != nil || made != 3 {
		t.Errorf("the old service has %d of 3 changes: %v", made, err)
	}
}

package programs_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/waybook/waybook/e2e/launch"
	"github.com/waybook/waybook/internal/waybooktest"
)

// paste runs a line in a shell, as if a user pasted it, and returns its output.
func paste(t *testing.T, line string) string {
	t.Helper()
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("SKIPPED: curl is not installed, so the printed commands are not tested")
	}
	shell := exec.CommandContext(t.Context(), "sh", "-c", line)
	shell.Env = append(os.Environ(), "NO_PROXY=127.0.0.1", "no_proxy=127.0.0.1")
	out, err := shell.Output()
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return string(out)
}

// pasteAll pastes the lines of a greeting and returns the replies.
func pasteAll(t *testing.T, p *launch.Process) (replies []waybooktest.Reply) {
	t.Helper()
	if len(p.Curl) != 3 {
		t.Fatalf("%d lines to paste in:\n%s", len(p.Curl), p.Out())
	}
	for _, line := range p.Curl {
		replies = append(replies, waybooktest.Reply{Body: paste(t, line)}.MustSucceed(t))
	}
	return replies
}

func TestTheCommandsThatTheFirstStartPrintsWork(t *testing.T) {
	t.Parallel()
	for name, folder := range map[string]string{
		"in a plain directory":               "data",
		"in a directory that needs quoting":  `it's "my" $data & 資料`,
		"in a directory that does not exist": filepath.Join("a", "b"),
	} {
		t.Run(name, func(t *testing.T) {
			p := launch.Start(t, binary, filepath.Join(t.TempDir(), folder))
			replies := pasteAll(t, p)
			if title := replies[0].Text("albumTitle"); title == "" {
				t.Errorf("no album: %+v", replies[0])
			}
			if photos, written := replies[0].XML().Find("photos", "*"), replies[0].XML().Find("comments", "*"); len(photos) == 0 || len(written) == 0 {
				t.Errorf("the demo album has %d photos and %d comments", len(photos), len(written))
			}
			if len(replies[1].XML().Find("POIList", "*")) < 3 {
				t.Errorf("few landmarks: %+v", replies[1])
			}
			added := post(t, p, "", "func", "getAlbum", "albumID", replies[2].Text("albumID")).MustSucceed(t)
			if title := added.Text("albumTitle"); title != "我的相簿" {
				t.Errorf("the added album has the title %q", title)
			}
			if status := p.End(os.Interrupt); status != 0 {
				t.Errorf("status %d\n%s", status, p.Printed())
			}
		})
	}
}

func TestOnlyTheOwnerCanReadTheDemoSecretsAndTheStore(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	launch.Start(t, binary, data)
	for file, want := range map[string]os.FileMode{
		"demo-cookie": 0o600, "demo-password": 0o600, "waybook.db": 0o600, ".": os.ModeDir | 0o700,
	} {
		info, err := os.Stat(filepath.Join(data, file))
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode() != want {
			t.Errorf("%s has mode %v, want %v", file, info.Mode(), want)
		}
	}
}

func TestASecondStartFindsDataAndSession(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	first := launch.Start(t, binary, data)
	added := pasteAll(t, first)[2].Text("albumID")
	cookie, password, seeded := demoCookie(t, data), demoPassword(t, data), landmarks(t, first)
	if status := first.End(syscall.SIGTERM); status != 0 {
		t.Fatalf("status %d\n%s", status, first.Printed())
	}

	second := launch.Start(t, binary, data)
	if title := post(t, second, "", "func", "getAlbum", "albumID", added).Text("albumTitle"); title != "我的相簿" {
		t.Errorf("the earlier album has the title %q", title)
	}
	post(t, second, cookie, "func", "updateAlbum", "albumID", added, "albumTitle", "改名").MustSucceed(t)
	if now := demoCookie(t, data); now != cookie {
		t.Errorf("the cookie changed from %s to %s", cookie, now)
	}
	if now := demoPassword(t, data); now != password {
		t.Errorf("the password changed from %s to %s", password, now)
	}
	if again := landmarks(t, second); again != seeded {
		t.Errorf("landmarks %v, before %v", again, seeded)
	}
	albums := post(t, second, "", "func", "getUserAlbumList", "userID", demoUser(cookie)).XML().Find("albumList", "*")
	if len(albums) != 2 || albums[1].At("albumID") != added {
		t.Errorf("albums %+v", albums)
	}
	pasteAll(t, second)
}

func TestAnExpiredSessionIsReplacedAtTheNextStart(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	first := launch.Start(t, binary, data, "-session-ttl", "1ns")
	stale := demoCookie(t, data)
	if got := post(t, first, stale, "func", "addAlbum"); got.Text("info") != "LOGIN REQUIRED" {
		t.Errorf("a session of 1 ns is open: %+v", got)
	}
	first.End(os.Interrupt)
	second := launch.Start(t, binary, data)
	if now := demoCookie(t, data); now == stale || demoUser(now) != demoUser(stale) {
		t.Errorf("the cookie changed from %s to %s", stale, now)
	}
	pasteAll(t, second)
}

func TestANewStoreIsFilledBesideTheSecretsOfAnother(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	launch.Start(t, binary, data).End(os.Interrupt)
	if err := os.Remove(filepath.Join(data, "waybook.db")); err != nil {
		t.Fatal(err)
	}
	pasteAll(t, launch.Start(t, binary, data))
}

func TestWithoutDemoAnEmptyStoreStaysEmpty(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	p := launch.Start(t, binary, data, "-demo=false")
	if counts := landmarks(t, p); counts != [5]int{} {
		t.Errorf("landmarks %v", counts)
	}
	if len(p.Curl) != 0 {
		t.Errorf("there is no content to try, but it prints %q", p.Curl)
	}
	if files := launch.List(t, data); !slices.Equal(files, []string{"photos", "uploads", "waybook.db"}) {
		t.Errorf("files %v", files)
	}
	for _, path := range []string{"/healthz", "/readyz", "/metrics"} {
		if status, body := probe(t, p.Admin, path); status != 200 {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
	p.End(os.Interrupt)
	// A store in use is not filled later either.
	again := launch.Start(t, binary, data, "-demo=false")
	launch.CreateUser(t, launch.Dial(t, again.GRPC), "someone")
	again.End(os.Interrupt)
	if counts := landmarks(t, launch.Start(t, binary, data)); counts != [5]int{} {
		t.Errorf("landmarks %v in a store in use", counts)
	}
}

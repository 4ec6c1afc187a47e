package console_test

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/waybook/waybook/e2e/launch"
	"github.com/waybook/waybook/e2e/launch/deskrun"
	"github.com/waybook/waybook/internal/longform"
	"github.com/waybook/waybook/waybookctl/cli"
)

// openOperators opens the pages for operators of a process.
func openOperators(t *testing.T, s screen, p *launch.Process, args ...string) *page {
	t.Helper()
	address := deskrun.Start(t, p, args...)
	base, _, _ := strings.Cut(address, "open?")
	shown := newPage(t, s, base)
	shown.do("open "+address, chromedp.Navigate(address))
	// The address leads to the pages by itself, and a look fails while it does.
	for end := time.Now().Add(patience); ; {
		if isThere, err := evaluate[bool](shown, `document.querySelector('main h1') !== null`); err == nil && isThere {
			return shown
		}
		if time.Now().After(end) {
			t.Fatal("the address does not lead to the pages")
		}
	}
}

// operate runs waybookctl, which must succeed.
func operate(t *testing.T, p *launch.Process, args ...string) string {
	t.Helper()
	var out, failed strings.Builder
	status := cli.Run(t.Context(), append(args, "--address", p.GRPC), cli.Streams{In: strings.NewReader(""), Out: &out, Err: &failed},
		func(string) (string, bool) { return "", false })
	if status != 0 {
		t.Fatalf("%q: status %d: %s", args, status, failed.String())
	}
	return out.String()
}

func TestAnOperatorDisablesAUserWithTheMouse(t *testing.T) {
	longform.Only(t)
	process := start(t)
	operate(t, process, "user", "create", "Aurelia", "--email", "aurelia@example.org", "--no-password")
	p := openOperators(t, desktop, process)
	p.clickWords("Aurelia")
	p.awaitWords("aurelia@example.org")
	p.clickWords("Disable this user")
	p.awaitWords("The user cannot log in any more")
	p.clickWords("Yes, disable")
	p.clickWords("Enable this user")
	p.clickWords("Disable this user")
	p.clickWords("Yes, disable")
	p.awaitWords("Enable this user")
	if shown := operate(t, process, "user", "find", "aurelia", "-o", "json"); !strings.Contains(shown, `"disabled": true`) {
		t.Errorf("the user is %s", shown)
	}
	p.clickWords("All users")
	p.await("the state in the list", `[...document.querySelectorAll('tr')].some(each => /Aurelia[^]*disabled/.test(each.innerText))`)
}

func TestAnOperatorClosesOneOfTheSessionsWithTheMouse(t *testing.T) {
	longform.Only(t)
	process := start(t)
	user := operate(t, process, "user", "create", "Aurelia", "--no-password", "-o", "name")
	for range 2 {
		operate(t, process, "session", "open", strings.TrimSpace(user))
	}
	p := openOperators(t, desktop, process)
	p.clickWords("Aurelia")
	p.awaitText("[data-testid=sessions]", "Close this session")
	first := p.text("[data-testid=sessions] code")
	p.clickWords("Close this session")
	p.awaitWords("The user has to log in again there.")
	p.clickWords("Yes, close")
	p.await("one session", `document.querySelectorAll('[data-testid=sessions] code').length === 1`)
	if left := operate(t, process, "session", "list", strings.TrimSpace(user)); strings.Contains(left, first) || strings.Count(left, strings.TrimSpace(user)) != 1 {
		t.Errorf("%s was closed, left are %s", first, left)
	}
}

func TestAnOperatorSeesWithTheMouseWhyARequestFailed(t *testing.T) {
	longform.Only(t)
	process, alone := start(t, "-slow-requests", "1ns"), edgeAlone(t)
	ask(t, alone, http.MethodGet, "/API.php?func=getAlbum&albumID=1", "")
	p := openOperators(t, desktop, process, "--admin", alone.Admin)
	p.clickWords("Requests")
	p.awaitWords("AlbumService answered GetAlbum with Unavailable.")
	p.awaitWords("connection refused")
	// It is live.
	ask(t, process, http.MethodGet, "/API.php?func=getPOI&POIID=1", "")
	p.awaitWords("No landmark has this POIID.")
	ask(t, process, http.MethodGet, "/API.php?func=addAlbum&albumTitle=x", "")
	p.awaitWords("A write was sent by GET or HEAD.")
	p.awaitText("[data-testid=slow]", "waybook.poi.v1.PoiService/GetPoi")
	p.choose("header select", "zh-Hant")
	p.awaitWords("連線")
}

// placesOfOperators are all pages for operators.
func placesOfOperators(t *testing.T, process *launch.Process) map[string]string {
	t.Helper()
	user, _ := demoSession(t, process)
	return map[string]string{
		"users": "#/users", "user": "#/users/" + user, "requests": "#/requests", "deleted": "#/deleted", "moves": "#/moves", "state": "#/state",
	}
}

// Without -update it writes nothing, and opens the pages all the same.
func TestThePicturesOfThePagesForOperators(t *testing.T) {
	longform.Only(t)
	process, alone := start(t, "-slow-requests", "1ns"), edgeAlone(t)
	ask(t, alone, http.MethodGet, "/API.php?func=getAlbum&albumID=1", "")
	ask(t, process, http.MethodGet, "/API.php?func=getPOI&POIID=1", "")
	places := placesOfOperators(t, process)
	album := strings.Fields(operate(t, process, "album", "list", "--owner", strings.TrimPrefix(places["user"], "#/users/"), "-o", "name"))
	journal := filepath.Join(t.TempDir(), "journal")
	importOld(t, process, journal, 3300)
	p := openOperators(t, desktop, process, "--admin", alone.Admin, "--journal", journal)
	p.clickWords("Deleted")
	p.await("the feeds", `document.querySelector('main') !== null && !document.querySelector('[role="status"]')`)
	if len(album) == 0 {
		t.Fatal("the user has no album")
	}
	operate(t, process, "album", "delete", album[0])
	p.awaitText("[data-testid=deleted]", album[0])
	for _, width := range []int64{1280, 390} {
		p.show(screen{width: width, height: 800, scheme: "light", isStill: true})
		for name, place := range places {
			p.visit(place)
			p.awaitQuiet()
			p.picture(fmt.Sprintf("operators-%s-%d.jpg", name, width))
		}
	}
}

func TestAxeFindsNothingOnAnyPageForOperators(t *testing.T) {
	longform.Only(t)
	source, err := os.ReadFile(axe)
	if err != nil {
		t.Skipf("SKIPPED: axe-core is not installed (npm ci in console), so accessibility is not checked: %v", err)
	}
	process := start(t, "-slow-requests", "1ns")
	ask(t, process, http.MethodGet, "/API.php?func=getAlbum&albumID=1", "")
	places := placesOfOperators(t, process)
	journal := filepath.Join(t.TempDir(), "journal")
	importOld(t, process, journal, 3300)
	p := openOperators(t, desktop, process, "--journal", journal)
	p.expect("404")
	look := func(name, place string) {
		p.visit(place)
		p.awaitQuiet()
		p.load(string(source))
		for _, found := range value[[]string](p, check) {
			t.Errorf("%s: %s", name, strings.TrimSpace(found))
		}
	}
	for _, s := range []screen{
		{width: 1280, height: 900, scheme: "dark", isStill: true}, {width: 320, height: 640, scheme: "light", isStill: true},
	} {
		p.show(s)
		places["failure"] = "#/users/1"
		for name, place := range places {
			look(name+", "+fmt.Sprint(s), place)
		}
	}
	// An import that goes on until it is killed, because no service answers.
	endless := importing(t, "127.0.0.1:1", journal, 3300)
	if err := endless.Start(); err != nil {
		t.Fatal(err)
	}
	p.visit("#/moves")
	p.awaitText("#stage", "Storing")
	look("an import that runs", "#/moves")
	if err := errors.Join(endless.Process.Kill(), ignoreKilled(endless.Wait())); err != nil {
		t.Error(err)
	}
}

// ignoreKilled leaves out that a process did not end by itself.
func ignoreKilled(err error) error {
	if errors.As(err, new(*exec.ExitError)) {
		return nil
	}
	return err
}

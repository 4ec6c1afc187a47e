package programs_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waybook/waybook/e2e/launch"
	"github.com/waybook/waybook/internal/waybooktest"
)

// browser sends forms with curl, which keeps cookies in a jar like a browser.
type browser struct {
	t   *testing.T
	p   *launch.Process
	jar string
}

func newBrowser(t *testing.T, p *launch.Process) browser {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("SKIPPED: curl is not installed, so no cookie jar is tested")
	}
	return browser{t, p, filepath.Join(t.TempDir(), "jar")}
}

func (b browser) post(pairs ...string) waybooktest.Reply {
	b.t.Helper()
	command := exec.CommandContext(b.t.Context(), "curl", "-sS", "--noproxy", "*", "-b", b.jar, "-c", b.jar,
		"-d", form(pairs...), "http://"+b.p.HTTP+"/API.php")
	out, err := command.CombinedOutput()
	if err != nil {
		b.t.Fatalf("%v: %s", err, out)
	}
	return waybooktest.Reply{Body: string(out)}
}

// kept returns the contents of the cookie jar.
func (b browser) kept() string {
	b.t.Helper()
	jar, err := os.ReadFile(b.jar)
	if err != nil {
		b.t.Fatal(err)
	}
	return string(jar)
}

func TestABrowserLogsInWritesAndLogsOut(t *testing.T) {
	t.Parallel()
	p := launch.Start(t, binary, t.TempDir())
	password := demoPassword(t, p.Data)
	b := newBrowser(t, p)
	album := []string{"func", "addAlbum", "albumTitle", "夜市", "category", "7", "lat", "25.0881", "lng", "121.5241"}

	if early := b.post(album...); early.Text("info") != "LOGIN REQUIRED" {
		t.Errorf("before the login: %+v", early)
	}
	if wrong := b.post("func", "login", "email", "demo@waybook.example", "password", password+"x"); wrong.Text("info") != "PASSWORD INCORRECT" {
		t.Errorf("a wrong password: %+v", wrong)
	}
	in := b.post("func", "login", "email", "demo@waybook.example", "password", password).MustSucceed(t)
	if in.Text("id") != demoUser(demoCookie(t, p.Data)) {
		t.Errorf("logged in as %s", in.Text("id"))
	}
	if jar := b.kept(); strings.Count(jar, "#HttpOnly_") != 2 || !strings.Contains(jar, in.Text("idrand")) {
		t.Errorf("the jar has\n%s", jar)
	}
	b.post(album...).MustSucceed(t)

	b.post("func", "logout").MustSucceed(t)
	if jar := b.kept(); strings.Contains(jar, "idrand") {
		t.Errorf("after the logout the jar has\n%s", jar)
	}
	if late := b.post(album...); late.Text("info") != "LOGIN REQUIRED" {
		t.Errorf("after the logout: %+v", late)
	}
	// The session itself is closed, too.
	closed := "id=" + in.Text("id") + "; idrand=" + in.Text("idrand")
	if got := post(t, p, closed, album...); got.Text("info") != "LOGIN REQUIRED" {
		t.Errorf("with the old cookie: %+v", got)
	}
	if printed := p.Printed(); strings.Contains(printed, password) {
		t.Errorf("the password is printed:\n%s", printed)
	}
}

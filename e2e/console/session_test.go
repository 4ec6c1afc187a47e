package console_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waybook/waybook/e2e/launch"
	"github.com/waybook/waybook/internal/longform"
)

// demoSession returns the session of the demo user.
func demoSession(t *testing.T, p *launch.Process) (user, token string) {
	t.Helper()
	cookie, err := os.ReadFile(filepath.Join(p.Data, "demo-cookie"))
	if err != nil {
		t.Fatal(err)
	}
	for part := range strings.SplitSeq(strings.TrimSpace(string(cookie)), "; ") {
		switch name, value, _ := strings.Cut(part, "="); name {
		case "id":
			user = value
		case "idrand":
			token = value
		}
	}
	return user, token
}

func demoPassword(t *testing.T, p *launch.Process) string {
	t.Helper()
	password, err := os.ReadFile(filepath.Join(p.Data, "demo-password"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(password))
}

// openSession opens the dialog of the session.
func (p *page) openSession() {
	p.t.Helper()
	p.click(id("session"))
	p.awaitElement(id("session-dialog") + "[open] " + id("cookie"))
}

// paste pastes the cookie of a session.
func (p *page) paste(user, token string) {
	p.t.Helper()
	p.openSession()
	p.click(id("cookie-fold"))
	p.fill(id("cookie"), "id="+user+"; idrand="+token)
	p.click(id("cookie-send"))
	p.awaitSession(user)
}

// awaitSession waits until the page shows a user; "" for none.
func (p *page) awaitSession(user string) {
	p.t.Helper()
	state := "none"
	if user != "" {
		state = "open"
	}
	p.awaitElement(id("session") + `[data-state="` + state + `"]`)
	p.awaitText(id("session"), user)
}

func TestALoginLastsUntilItsLogout(t *testing.T) {
	longform.Only(t)
	process := start(t)
	user, _ := demoSession(t, process)
	p := open(t, process, "")
	p.awaitSession("")
	p.openSession()
	p.fill(id("login-email"), "demo@waybook.example")
	p.fill(id("login-password"), "not the password")
	p.click(id("login-send"))
	p.awaitText(id("session-failure"), "Check both")
	p.shot("session-refused")
	p.fill(id("login-password"), demoPassword(t, process))
	p.click(id("login-send"))
	p.awaitSession(user)

	p.visit("#/explore/addAlbum?albumTitle=x&category=1&lat=25&lng=121")
	p.awaitSession(user)
	if _, raw := p.send(); !strings.Contains(raw, "SUCCESS") {
		t.Errorf("logged in: %s", raw)
	}
	p.openSession()
	p.shot("session-open")
	p.click(id("logout"))
	p.awaitSession("")
	p.press("\x1b")
	if _, raw := p.send(); !strings.Contains(raw, "LOGIN REQUIRED") {
		t.Errorf("logged out: %s", raw)
	}
}

func TestADialogThatIsOpenedWhileItClosesIsOpen(t *testing.T) {
	longform.Only(t)
	p := open(t, start(t), "")
	p.openSession()
	// The browser tells of a closed dialog later, and may handle a click before.
	value[bool](p, `new Promise(resolve => {
		const dialog = document.querySelector('dialog[open]')
		dialog.addEventListener('close', () => setTimeout(resolve, 100, true)) // the page acts on it, too
		dialog.close()
		document.querySelector('`+id("session")+`').click()
	})`)
	p.awaitElement(id("session-dialog") + "[open] " + id("cookie"))
}

func TestNoScriptSeesTheSessionAndNothingOfItIsKept(t *testing.T) {
	longform.Only(t)
	process := start(t)
	user, token := demoSession(t, process)
	p := open(t, process, "")
	p.openSession()
	p.click(id("cookie-fold"))
	p.fill(id("cookie"), "id="+user+"; idrand="+strings.Repeat("0", 32))
	p.click(id("cookie-send"))
	p.awaitText(id("session-failure"), "not logged in")
	p.press("\x1b")
	p.paste(user, token)
	p.visit("#/explore/addAlbum?albumTitle=x&category=1&lat=25&lng=121")
	if _, raw := p.send(); !strings.Contains(raw, "SUCCESS") {
		t.Errorf("with the pasted session: %s", raw)
	}
	if cookies := value[string](p, `document.cookie`); cookies != "" {
		t.Errorf("a script reads the cookies %s", cookies)
	}
	kept := value[string](p, `location.href + JSON.stringify(localStorage) + JSON.stringify(sessionStorage) + document.documentElement.outerHTML`)
	if strings.Contains(kept, token) {
		t.Error("the page keeps the session's secret")
	}
	names := value[[]string](p, `Object.keys(localStorage).sort()`)
	for _, name := range names {
		if name != "waybook.form" && name != "waybook.language" && name != "waybook.theme" {
			t.Errorf("the page stores %s", name)
		}
	}
}

package moving_test

import (
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waybook/waybook/e2e/launch"
)

// logsIn reports whether a user can log in.
func logsIn(t *testing.T, at *launch.Process, email, password string) bool {
	t.Helper()
	return strings.Contains(post(t, at, "", url.Values{"func": {"login"}, "email": {email}, "password": {password}}), "<idrand>")
}

func TestUsersWithoutAPasswordGetOneInAFileOfTheOwner(t *testing.T) {
	t.Parallel()
	waybook := startOn(t, t.TempDir())
	old := small(t, ended([]string{
		`{"kind":"user","id":7,"name":"Anna","email":"a@old.example","password_hash":"5f4dcc3b5aa765d61d8327deb882cf99"}`,
		`{"kind":"user","id":8,"name":"Ben","email":"b@old.example","password_hash":"unknown$form"}`,
		`{"kind":"user","id":9,"name":"Cleo","email":"c@old.example"}`,
		`{"kind":"user","id":10,"name":"Dora"}`,
	})...)
	if done := imported(t, waybook, old, "--allow", "other-passwords"); done.status != 0 {
		t.Fatal(done)
	}
	// An earlier run ended when the service did not have Ben's password yet, in the middle of a line.
	file := filepath.Join(t.TempDir(), "passwords.ndjson")
	begun := `{"user_id":8,"email":"b@old.example","password":"from the earlier run"}` + "\n"
	if err := os.WriteFile(file, []byte(begun+`{"user_id":9,"em`), 0o600); err != nil {
		t.Fatal(err)
	}
	var text []byte
	for n, want := range []string{"2 users got a password", "0 users got a password"} {
		out := succeed(t, "user", "give-passwords", "--address", socket(waybook), file)
		if !strings.Contains(out, want) || !strings.Contains(out, "1 users have no email address") {
			t.Errorf("run %d: %s", n, out)
		}
		now, err := os.ReadFile(file)
		if err != nil || !strings.HasPrefix(string(now), begun) || strings.Count(string(now), "\n") != 2 || n > 0 && string(now) != string(text) {
			t.Errorf("run %d, %v: the file is\n%s\nand was\n%s", n, err, now, text)
		}
		text = now
	}
	var cleo struct{ Email, Password string }
	if err := json.Unmarshal(text[len(begun):], &cleo); err != nil {
		t.Fatal(err)
	}
	if !logsIn(t, waybook, "a@old.example", "password") || !logsIn(t, waybook, "b@old.example", "from the earlier run") || !logsIn(t, waybook, cleo.Email, cleo.Password) {
		t.Errorf("not all can log in with\n%s", text)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	for name, prepare := range map[string]func(string) error{
		"others can read": func(path string) error { return os.WriteFile(path, nil, 0o644) },
		"another file":    func(path string) error { return os.WriteFile(path, []byte("notes"), 0o600) },
	} {
		path := filepath.Join(t.TempDir(), "file")
		if err := prepare(path); err != nil {
			t.Fatal(err)
		}
		if done := run(t, "user", "give-passwords", "--address", socket(waybook), path); done.status == 0 || !strings.Contains(done.notes, "name a new") {
			t.Errorf("%s: %d %s", name, done.status, done.notes)
		}
	}
}

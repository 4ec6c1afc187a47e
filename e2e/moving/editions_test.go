package moving_test

import (
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/waybook/waybook/e2e/launch"
	"github.com/waybook/waybook/e2e/olddata"
	"github.com/waybook/waybook/internal/waybooktest"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

func TestASecondRunBringsWhatHasChanged(t *testing.T) {
	t.Parallel()
	first, second := newOldService(t, 1), newOldService(t, 2)
	data, journal := t.TempDir(), filepath.Join(t.TempDir(), "journal")
	waybook := startOn(t, data)
	succeed(t, first.importInto(waybook, journal)...)
	kept := run(t, second.importInto(waybook, journal)...)
	if kept.status != 4 || !strings.Contains(kept.notes, "--update changes them") {
		t.Errorf("without an update: %d\n%s%s", kept.status, kept.out, kept.notes)
	}
	succeed(t, first.importInto(waybook, journal)...) // nothing has changed
	succeed(t, second.importInto(waybook, journal, "--update")...)
	succeed(t, second.importInto(waybook, journal)...)
}

func TestOldPasswordsAndSessionsWorkAfterTheMove(t *testing.T) {
	t.Parallel()
	old := newOldService(t, 1)
	waybook := startOn(t, t.TempDir())
	succeed(t, old.importInto(waybook, filepath.Join(t.TempDir(), "journal"))...)
	accounts := accountv1.NewAccountServiceClient(launch.Dial(t, "unix:"+filepath.Join(waybook.Data, "grpc.sock")))
	form := func(id int64) accountv1.PasswordForm {
		user, err := accounts.GetUser(t.Context(), &accountv1.GetUserRequest{UserId: id})
		if err != nil {
			t.Fatal(err)
		}
		return user.GetUser().GetPasswordForm()
	}
	for n, want := range []accountv1.PasswordForm{accountv1.PasswordForm_PASSWORD_FORM_MD5, accountv1.PasswordForm_PASSWORD_FORM_BCRYPT} {
		account := old.options.Account(n)
		if got := form(account.ID); got != want {
			t.Errorf("user %d has a password in the form %v, want %v", n, got, want)
		}
		for _, password := range []string{"wrong " + account.Password, account.Password, account.Password} {
			reply := post(t, waybook, "", url.Values{"func": {"login"}, "email": {account.Email}, "password": {password}})
			if isIn := strings.Contains(reply, "<status>SUCCESS</status>"); isIn != (password == account.Password) {
				t.Errorf("%s with the password %q: %s", account.Email, password, reply)
			}
		}
		if got := form(account.ID); got != accountv1.PasswordForm_PASSWORD_FORM_ARGON2ID {
			t.Errorf("after a login, the form is %v", got)
		}
	}
	account := old.options.Account(2)
	album := url.Values{"func": {"addAlbum"}, "albumTitle": {"x"}, "category": {"1"}, "lat": {"25"}, "lng": {"121"}}
	cookie := "id=" + olddata.Decimal(account.ID) + "; idrand="
	if reply := post(t, waybook, cookie+account.IDRand, album); !strings.Contains(reply, "<albumID>") {
		t.Errorf("with a session of old: %s", reply)
	}
	if reply := post(t, waybook, cookie+strings.Repeat("0", 32), album); !strings.Contains(reply, "LOGIN REQUIRED") {
		t.Errorf("with no session: %s", reply)
	}
}

// post sends a form, and returns the text of the reply.
func post(t *testing.T, waybook *launch.Process, cookie string, form url.Values) string {
	t.Helper()
	return waybooktest.OnceAt(t, waybook.HTTP).WithCookie(cookie).Post(form.Encode()).Body
}

// small is a file of a few records.
func small(t *testing.T, lines ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "old.ndjson")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const (
	anna    = `{"kind":"user","id":7,"name":"Anna"}`
	first   = `{"kind":"album","id":1,"owner_id":7,"title":"first","category":1,"lat":1,"lng":2,"create_time":1204679251}`
	second  = `{"kind":"album","id":2,"owner_id":7,"title":"second","category":1,"lat":1,"lng":2,"create_time":1204679252}`
	picture = `{"kind":"photo","id":3,"album_id":1,"url":"a.jpg"}`
)

func TestAParentWithABadRecordIsLeftOutAsAWhole(t *testing.T) {
	t.Parallel()
	for name, bad := range map[string]string{
		"a value":      `{"kind":"photo","id":4,"album_id":1,"url":"b.jpg","description":"\u0007"}`,
		"a field":      `{"kind":"photo","id":4,"album_id":1,"url":"b.jpg","size":3}`,
		"a duplicate":  `{"kind":"photo","id":3,"album_id":1,"url":"b.jpg"}`,
		"a stranger":   `{"kind":"comment","id":4,"album_id":1,"author_id":8,"text":"hi","create_time":1}`,
		"its own":      strings.Replace(first, `"id":1`, `"id":1,"score":-1`, 1),
		"another user": strings.Replace(first, `"owner_id":7`, `"owner_id":8`, 1),
	} {
		t.Run(name, func(t *testing.T) {
			file := small(t, ended([]string{anna, second, picture, bad, first})...)
			waybook := startOn(t, t.TempDir())
			old := oldService{files: []string{file}}
			without := slices.DeleteFunc(old.importInto(waybook, filepath.Join(t.TempDir(), "journal")), func(s string) bool {
				return slices.Contains(allowances, s)
			})
			done := run(t, without...)
			if done.status != 4 || !strings.Contains(done.notes, file+":4: ") {
				t.Errorf("exit status %d\n%s%s", done.status, done.out, done.notes)
			}
			for id, want := range map[string]string{"1": "ALBUM NOT FOUND", "2": "<albumTitle>second</albumTitle>"} {
				if reply := post(t, waybook, "", url.Values{"func": {"getAlbum"}, "albumID": {id}}); !strings.Contains(reply, want) {
					t.Errorf("album %s: %s", id, reply)
				}
			}
		})
	}
}

func TestADryRunChangesNothing(t *testing.T) {
	t.Parallel()
	file := small(t, anna, first, second, picture)
	data := t.TempDir()
	waybook := startOn(t, data)
	out := succeed(t, oldService{files: []string{file}}.importInto(waybook, filepath.Join(t.TempDir(), "journal"), "--dry-run")...)
	if !strings.Contains(out, "nothing was changed") || !strings.Contains(out, "album  2") {
		t.Error(out)
	}
	stored, err := os.ReadFile(dump(t, waybook, data))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(stored), "Anna") || strings.Contains(string(stored), "first") {
		t.Error("a dry run stored something")
	}
}

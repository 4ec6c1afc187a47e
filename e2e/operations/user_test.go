package operations_test

import (
	"encoding/json"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/waybook/waybook/e2e/launch"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

// printedUser is a user as waybookctl prints it.
type printedUser struct {
	ID          json.Number `json:"user_id"`
	Name, Email string
	HasPassword bool `json:"has_password"`
	Password    string
}

// logsIn reports whether a user can log in with a password.
func (o operator) logsIn(email, password string) bool {
	o.t.Helper()
	_, err := accountv1.NewAccountServiceClient(launch.Dial(o.t, o.address)).
		Authenticate(o.t.Context(), &accountv1.AuthenticateRequest{Email: email, Password: password})
	if err != nil && status.Code(err) != codes.Unauthenticated {
		o.t.Fatal(err)
	}
	return err == nil
}

func TestAUserLogsInWithAPipedPassword(t *testing.T) {
	t.Parallel()
	o := operator{t, startEmpty(t).GRPC}
	var user printedUser
	o.run("correct horse\n", "user", "create", "Ann", "--email", "Ann@example.com", "--password-stdin", "-o", "json").expect(0).read(&user)
	if !user.HasPassword || user.Password != "" || !o.logsIn("ann@example.com", "correct horse") {
		t.Errorf("%+v can't log in, or the password is shown", user)
	}
	id := user.ID.String()
	cookie := o.must("session", "open", id)
	o.run("battery staple", "user", "set-password", id, "--password-stdin").expect(0)
	if o.logsIn("ann@example.com", "correct horse") || !o.logsIn("ann@example.com", "battery staple") {
		t.Error("the password was not changed")
	}
	o.run(cookie, "session", "verify").expect(4)
	o.must("user", "set-email", id, "ann@example.org")
	if !o.logsIn("ann@example.org", "battery staple") {
		t.Error("the new address does not log in")
	}
	o.run("short\n", "user", "set-password", id, "--password-stdin").expect(4, "password: ")
	o.run("", "user", "create", "Bob", "--email", "ANN@example.org", "--no-password").expect(4)
	if shown := o.must("user", "rename", id, "安"); !strings.Contains(shown, "NAME          安\n") {
		t.Errorf("renamed:\n%s", shown)
	}
}

func TestAGeneratedPasswordIsPrintedOnceAndWorks(t *testing.T) {
	t.Parallel()
	o := operator{t, startEmpty(t).GRPC}
	var user printedUser
	o.mustRead(&user, "user", "create", "Ann", "--email", "ann@example.com", "--generate-password")
	if len(user.Password) < 20 || !o.logsIn("ann@example.com", user.Password) {
		t.Errorf("%+v can't log in", user)
	}
	if shown := o.must("user", "show", user.ID.String()); strings.Contains(shown, user.Password) {
		t.Errorf("the password is shown again:\n%s", shown)
	}
	changed := o.must("user", "set-password", user.ID.String(), "--generate-password")
	_, password, _ := strings.Cut(changed, "PASSWORD      ")
	if password = strings.TrimSpace(password); !o.logsIn("ann@example.com", password) {
		t.Errorf("%q does not log in, from\n%s", password, changed)
	}
}

func TestAPasswordNeedsAnAddressFirst(t *testing.T) {
	t.Parallel()
	o := operator{t, startEmpty(t).GRPC}
	user := o.createUser("Ann")
	o.run("correct horse", "user", "set-password", user, "--password-stdin").expect(4, "user set-email")
}

func TestAnEntrysRewardIsInItsAuthorsTotal(t *testing.T) {
	t.Parallel()
	o := operator{t, startEmpty(t).GRPC}
	user := o.createUser("作者")
	for range 2 {
		o.must("entry", "create", "t", "c", "--as", user, "--type", "mood", "--weather", "snow",
			"--date", "2026-11-21", "--lat", "1", "--lng", "2")
	}
	if total := o.must("user", "rewards", user); total != "TOTAL    20\nREWARDS  2\n" {
		t.Errorf("the total is\n%s", total)
	}
}

func TestEntriesAreListedByPlannedDate(t *testing.T) {
	t.Parallel()
	o := operator{t, startEmpty(t).GRPC}
	user := o.createUser("作者")
	for _, day := range []string{"2020-03-02", "9998-01-01", "2020-03-01"} {
		o.must("entry", "create", day, "c", "--as", user, "--type", "mood", "--weather", "snow", "--date", day, "--lat", "1", "--lng", "2")
	}
	for _, test := range []struct {
		args, want string
	}{
		{"", "2020-03-01 2020-03-02 9998-01-01"},
		{"--published", "2020-03-01 2020-03-02"},
		{"--from 2020-03-02", "2020-03-02 9998-01-01"},
		{"--to 2020-03-01", "2020-03-01"},
		{"--author " + user, "2020-03-02 9998-01-01 2020-03-01"},
		{"--order plan --author " + user, "2020-03-01 2020-03-02 9998-01-01"},
		{"--limit 2", "2020-03-01 2020-03-02"},
	} {
		var entries []struct{ Title string }
		o.mustRead(&entries, append([]string{"entry", "list"}, strings.Fields(test.args)...)...)
		var titles []string
		for _, entry := range entries {
			titles = append(titles, entry.Title)
		}
		if got := strings.Join(titles, " "); got != test.want {
			t.Errorf("entry list %s is %s, want %s", test.args, got, test.want)
		}
	}
}

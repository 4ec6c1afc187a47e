package operations_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/waybook/waybook/e2e/launch"
	"github.com/waybook/waybook/internal/waybooktest"
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
	o.openSession(id)
	o.run("battery staple", "user", "set-password", id, "--password-stdin").expect(0)
	o.run("", "session", "list", "--owner", id).expect(0, "no sessions")
	if o.logsIn("ann@example.com", "correct horse") || !o.logsIn("ann@example.com", "battery staple") {
		t.Error("the password was not changed")
	}
	o.must("user", "update", id, "--email", "ann@example.org")
	if !o.logsIn("ann@example.org", "battery staple") {
		t.Error("the new address does not log in")
	}
	o.run("short\n", "user", "set-password", id, "--password-stdin").expect(4, "password: ")
	o.run("", "user", "create", "Bob", "--email", "ANN@example.org", "--no-password").expect(4)
	if shown := o.must("user", "update", id, "--name", "安", "--icon", "a.gif"); !strings.Contains(shown, "NAME          安\n") || !strings.Contains(shown, "ICON          a.gif\n") {
		t.Errorf("updated:\n%s", shown)
	}
}

func TestAPersonRegistersWithAnInvitationOfTheOperator(t *testing.T) {
	t.Parallel()
	closed := operator{t, startEmpty(t).GRPC}
	closed.run("", "user", "invite").expect(4, "-registration invite")
	w := startEmpty(t, "-registration=invite")
	o := operator{t, w.GRPC}
	var made struct{ Code string }
	o.mustRead(&made, "user", "invite")
	if shown := o.must("user", "invite"); !regexp.MustCompile(`^[0-9a-f]{32}\nexpires 20`).MatchString(shown) {
		t.Errorf("it prints %q", shown)
	}
	form := "func=register&email=ann%40example.com&password=correct+horse&nickname=Ann&invitation=" + made.Code
	client := waybooktest.ClientAt(t, w.HTTP)
	client.Post(form).MustSucceed(t)
	if reason := client.Post(form).Reason(); reason != "INVITATION_INVALID" || !o.logsIn("ann@example.com", "correct horse") {
		t.Errorf("a second use gets %q", reason)
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
	o.run("correct horse", "user", "set-password", user, "--password-stdin").expect(4, "user update --email")
}

package operations_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/waybook/waybook/e2e/launch"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

// auditLine is a line of the audit log.
type auditLine struct {
	Log, Program, Event, Outcome, Reason, Caller string
	UserID                                       int64  `json:"user_id"`
	ClientAddress                                string `json:"client_address"`
	EmailHash                                    string `json:"email_hash"`
	RequestID                                    string `json:"request_id"`
}

func TestALoginAtTheEdgeIsAnEventWithTheRequestIDOfItsReply(t *testing.T) {
	t.Parallel()
	for name, start := range deployments {
		t.Run(name, func(t *testing.T) {
			s := start(t, t.TempDir(), "-log-format=json", "-log-level=error")
			created, err := accountv1.NewAccountServiceClient(launch.Dial(t, s.account)).CreateUser(t.Context(),
				&accountv1.CreateUserRequest{Name: "Ann", Email: "Ann@waybook.example", Password: "password of ann"})
			if err != nil {
				t.Fatal(err)
			}
			const form = "func=login&email=ann@waybook.example&password="
			wrong := ask(t, s, "POST", "/API.php", "", "", form+"wrong").Header
			right := ask(t, s, "POST", "/API.php", "", "", form+"password+of+ann").Header
			s.end(t)

			program, caller := "account", "plaintext"
			if s.processes["standalone"] != nil {
				program, caller = "standalone", "in-process"
			}
			const hash = "0204f1d356069f25" // of ann@waybook.example
			login := func(outcome, reason string, user int64, id string) auditLine {
				return auditLine{"audit", program, "login", outcome, reason, caller, user, "127.0.0.1", hash, id}
			}
			user := created.GetUser().GetUserId()
			want := []auditLine{
				{"audit", program, "user_created", "ok", "", "plaintext", user, "", hash, ""},
				login("refused", "PASSWORD_INCORRECT", 0, wrong.Get("X-Request-Id")),
				login("ok", "", user, right.Get("X-Request-Id")),
			}
			lines := auditLines(t, s.processes[program])
			for i := range max(len(lines), len(want)) {
				if i >= len(lines) || i >= len(want) || lines[i] != want[i] {
					t.Fatalf("line %d: logged\n%+v, want\n%+v", i, lines, want)
				}
			}
		})
	}
}

// auditLines returns what a process wrote to the audit log.
func auditLines(t *testing.T, p *launch.Process) (lines []auditLine) {
	t.Helper()
	for text := range strings.Lines(p.Logged()) {
		var line auditLine
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		if line.Log == "audit" {
			lines = append(lines, line)
		}
	}
	return lines
}

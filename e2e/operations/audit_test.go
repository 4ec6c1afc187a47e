package operations_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/waybook/waybook/e2e/launch"
)

// The other fields of an event are in e2e/rpc.
func TestALoginAtTheEdgeIsAnEventWithTheRequestIDOfItsReply(t *testing.T) {
	t.Parallel()
	for name, start := range deployments {
		t.Run(name, func(t *testing.T) {
			s := start(t, t.TempDir(), "-log-format=json")
			launch.CreateUser(t, launch.Dial(t, s.account), "Ann")
			want := ask(t, s, "POST", "/API.php", "", "", "func=login&email=ann@waybook.example&password=wrong").Header.Get("X-Request-Id")
			s.end(t)
			p := s.processes["account"]
			if p == nil {
				p = s.processes["standalone"]
			}
			var logins []string
			for text := range strings.Lines(p.Logged()) {
				var line struct {
					Event     string
					RequestID string `json:"request_id"`
				}
				if err := json.Unmarshal([]byte(text), &line); err != nil {
					t.Fatalf("%v: %s", err, text)
				}
				if line.Event == "login" {
					logins = append(logins, line.RequestID)
				}
			}
			if len(logins) != 1 || logins[0] != want {
				t.Errorf("the events have the requests %q, and the reply has %q", logins, want)
			}
		})
	}
}

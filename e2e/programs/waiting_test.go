package programs_test

import (
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/waybook/waybook/e2e/launch"
	"github.com/waybook/waybook/e2e/mongotest"
	"github.com/waybook/waybook/e2e/mongowire"
	"github.com/waybook/waybook/internal/longform"
	"github.com/waybook/waybook/internal/waybooktest"
)

// probe returns the status and the body of a path of a port; 0 while nobody listens.
func probe(t *testing.T, address, path string) (status int, body string) {
	t.Helper()
	client := waybooktest.OnceAt(t, address)
	client.URL = "http://" + address + path
	reply, err := client.Try(client.Request(http.MethodGet, "", nil))
	if err != nil {
		return 0, err.Error()
	}
	return reply.Code, strings.TrimSpace(reply.Body)
}

func TestAProgramThatStartsBeforeMongoDBWaitsAliveAndThenServes(t *testing.T) {
	longform.Only(t)
	t.Parallel() // it waits
	admin, database := launch.Address(t), launch.Address(t)
	uri := "mongodb://" + database + "/" + mongotest.Database()
	p := launch.Begin(t, binary, nil, append(launch.FreePorts(t.TempDir()), "-admin", admin, "-mongodb-uri", uri, "-demo=false")...)
	waits := "starting: waiting for MongoDB at " + database
	for limit := time.Now().Add(time.Minute); ; {
		status, body := probe(t, admin, "/readyz")
		if status == 503 && strings.HasPrefix(body, waits) && strings.Contains(p.Logged(), "still waiting for MongoDB") {
			break
		}
		if time.Now().After(limit) || !p.Alive() {
			t.Fatalf("it does not wait: %d %q\n%s", status, body, p.Printed())
		}
	}
	if status, body := probe(t, admin, "/healthz"); status != 200 {
		t.Errorf("not alive: %d %q", status, body)
	}
	if p.Out() != "Connecting to MongoDB.\n" {
		t.Errorf("printed before it is ready: %q", p.Out())
	}

	mongotest.StartServer(t, mongowire.Config{Listen: database, Role: mongowire.Router})
	p.Ready()
	if status, body := probe(t, admin, "/readyz"); status != 200 {
		t.Errorf("not ready: %d %q", status, body)
	}
	if counts := landmarks(t, p); counts != [5]int{} {
		t.Errorf("landmarks %v", counts)
	}
	if status := p.End(syscall.SIGTERM); status != 0 {
		t.Errorf("status %d\n%s", status, p.Printed())
	}
}

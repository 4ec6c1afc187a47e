package mongowire_test

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/waybook/waybook/e2e/mongotest"
	"github.com/waybook/waybook/e2e/mongowire"
	"github.com/waybook/waybook/internal/longform"
)

// judges are the tests of the driver on retries, sessions, discovery, and on the commands that it makes.
const judges = "^(TestBypassEmptyTsReplacement|TestCausalConsistency.*|TestClient|TestClient_.*|TestCollection|TestCRUDProse.*" +
	"|TestErrorsCodeNamePropagated|TestInsertMany.*|TestRetryable.*|TestSDAM.*|TestServer.*|TestSession.*)$"

// skipped needs mongocryptd, or inserts 100,000 documents.
const skipped = "Mongocryptd|TestCollection/insert_many/batches|TestCollection/insert_many/writeError_index"

// driverFailures has, in a line each, the tests of the driver that fail, and why.
//
//go:embed testdata/driver.txt
var driverFailures string

func TestTheDriversOwnTests(t *testing.T) {
	longform.Only(t)
	reasons := map[string]string{}
	for line := range strings.Lines(driverFailures) {
		test, reason, _ := strings.Cut(strings.TrimSpace(line), ": ")
		reasons[test] = reason
	}
	failed := map[string]bool{}
	for role, config := range map[string]mongowire.Config{"primary": {}, "router": {Role: mongowire.Router, Shards: 2}} {
		passed := 0
		results := runDriversTests(t, mongotest.StartUnmonitored(t, config))
		for test, result := range results {
			switch result {
			case "pass":
				passed++
			case "fail":
				failed[test] = true
				if reasons[test] == "" {
					t.Errorf("%s: %s fails, and testdata/driver.txt does not say why", role, test)
				}
			}
		}
		if passed < 350 {
			t.Errorf("%s: only %d of %d tests passed", role, passed, len(results))
		}
		t.Logf("%s: %d of %d tests passed", role, passed, len(results))
	}
	for test := range reasons {
		if !failed[test] {
			t.Errorf("%s passes, and testdata/driver.txt says that it fails", test)
		}
	}
}

// runDriversTests returns how each test ended that has no tests of its own.
func runDriversTests(t *testing.T, server *mongowire.Server) (results map[string]string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", "test", "-json", "-vet=off", "-timeout=5m", "-run", judges, "-skip", skipped,
		"go.mongodb.org/mongo-driver/v2/internal/integration")
	command.Env = append(os.Environ(), "MONGODB_URI="+server.URI(""))
	out, _ := command.Output() // it fails if a test does
	results = map[string]string{}
	for line := range bytes.Lines(out) {
		var event struct{ Action, Test string }
		if err := json.Unmarshal(line, &event); err != nil {
			t.Fatalf("%v in %q", err, line)
		}
		switch event.Action {
		case "run":
			results[event.Test] = "fail" // also if the program ends in it
			delete(results, event.Test[:max(0, strings.LastIndexByte(event.Test, '/'))])
		case "pass", "fail", "skip":
			if _, hasNone := results[event.Test]; hasNone {
				results[event.Test] = event.Action
			}
		}
	}
	return results
}

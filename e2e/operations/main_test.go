// Package operations_test does what operators do, with the real programs.
//
// It runs waybookctl with its arguments, input, output and exit status. Most command lines run in the process
// of the test; those that are ended by signals, or started by a shell, are processes of their own. It checks
// what the programs report: traces, metrics and logs, and that the dashboard and the alerts use metrics that
// exist. And it prepares, damages, checks, repairs and restores stores with content that the services wrote.
package operations_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/waybook/waybook/e2e/launch"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	"github.com/waybook/waybook/waybookctl/cli"
)

// binaries is the directory of the programs, which are built once for all tests.
var binaries string

func TestMain(m *testing.M) {
	os.Exit(launch.Main(m, func(directory string) error {
		binaries = directory
		return launch.Build(directory, launch.AsTested, append(launch.Programs(),
			"github.com/waybook/waybook/standalone", "github.com/waybook/waybook/waybookctl")...)
	}))
}

// startEmpty starts standalone on an empty store.
func startEmpty(t *testing.T, flags ...string) *launch.Process {
	t.Helper()
	return launch.Start(t, filepath.Join(binaries, "standalone"), t.TempDir(), append(flags, "-demo=false")...)
}

// operator runs waybookctl.
type operator struct {
	t       *testing.T
	address string
}

// command returns a waybookctl command without the WAYBOOK_ variables of the tester.
func command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	program := exec.CommandContext(t.Context(), filepath.Join(binaries, "waybookctl"), args...)
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "WAYBOOK_") {
			program.Env = append(program.Env, variable)
		}
	}
	// With the race detector, a program would otherwise wait for a second before it exits.
	program.Env = append(program.Env, "GORACE=atexit_sleep_ms=0")
	return program
}

// result is the result of a command.
type result struct {
	t        *testing.T
	line     string
	status   int
	out, err string
}

// run runs a command with an input.
func (o operator) run(in string, args ...string) result {
	o.t.Helper()
	return runInProcess(o.t, map[string]string{"WAYBOOK_ADDRESS": o.address}, in, args...)
}

// runInProcess runs a command in the process of the test.
func runInProcess(t *testing.T, environment map[string]string, in string, args ...string) result {
	t.Helper()
	var out, failed bytes.Buffer
	status := cli.Run(t.Context(), args, cli.Streams{In: strings.NewReader(in), Out: &out, Err: &failed}, func(name string) (string, bool) {
		value, isSet := environment[name]
		return value, isSet
	})
	return result{t, strings.Join(args, " "), status, out.String(), failed.String()}
}

// must runs a command that must succeed and returns its output.
func (o operator) must(args ...string) string {
	o.t.Helper()
	return o.run("", args...).expect(0).out
}

// mustRead runs a command that must succeed and decodes its JSON output.
func (o operator) mustRead(into any, args ...string) {
	o.t.Helper()
	o.run("", append(args, "-o", "json")...).expect(0).read(into)
}

// expect checks the exit status and the text on standard error.
func (r result) expect(status int, parts ...string) result {
	r.t.Helper()
	if r.status != status {
		r.t.Fatalf("%s: status %d, want %d\n%s%s", r.line, r.status, status, r.out, r.err)
	}
	if status != 0 && r.out != "" {
		r.t.Errorf("%s failed and printed %q", r.line, r.out)
	}
	for _, part := range parts {
		if !strings.Contains(r.err, part) {
			r.t.Errorf("%s: %q is not in:\n%s", r.line, part, r.err)
		}
	}
	if strings.Contains(r.err, "rpc error") || strings.Contains(r.err, "desc =") {
		r.t.Errorf("%s prints gRPC's own text:\n%s", r.line, r.err)
	}
	return r
}

// read decodes the JSON output.
func (r result) read(into any) {
	r.t.Helper()
	if err := json.Unmarshal([]byte(r.out), into); err != nil {
		r.t.Fatalf("%s: %v in %s", r.line, err, r.out)
	}
}

// createUser creates a user without a password and returns the identifier.
func (o operator) createUser(name string) string {
	o.t.Helper()
	var user struct {
		ID json.Number `json:"user_id"`
	}
	o.mustRead(&user, "user", "create", name)
	return user.ID.String()
}

// openSession opens a session of a user, and returns its cookie and its identifier.
func (o operator) openSession(user string) (cookie, id string) {
	o.t.Helper()
	opened, err := accountv1.NewAccountServiceClient(launch.Dial(o.t, o.address)).
		OpenSession(o.t.Context(), &accountv1.OpenSessionRequest{UserId: numbered(o.t, user)})
	if err != nil {
		o.t.Fatal(err)
	}
	return "id=" + user + "; idrand=" + opened.GetToken(), opened.GetSession().GetSessionId()
}

func numbered(t *testing.T, id string) int64 {
	t.Helper()
	number, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return number
}

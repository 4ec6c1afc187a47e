package cli

import (
	"context"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"

	"github.com/waybook/waybook/internal/platform/buildinfo"
)

// ran is the result of a command line.
type ran struct {
	status   int
	out, err string
}

// runWith runs a command line with an environment and an input.
func runWith(ctx context.Context, environment map[string]string, in string, args ...string) ran {
	var out, errors strings.Builder
	status := Run(ctx, args, Streams{In: strings.NewReader(in), Out: &out, Err: &errors}, func(name string) (string, bool) {
		value, ok := environment[name]
		return value, ok
	})
	return ran{status, out.String(), errors.String()}
}

// expect checks the status, that standard error has all parts, and that standard output is empty.
func (r ran) expect(t *testing.T, status int, parts ...string) {
	t.Helper()
	if r.status != status || r.out != "" {
		t.Errorf("status %d, want %d; printed %q", r.status, status, r.out)
	}
	for _, part := range parts {
		if !strings.Contains(r.err, part) {
			t.Errorf("%q is not in:\n%s", part, r.err)
		}
	}
	if strings.Contains(r.err, "rpc error") || strings.Contains(r.err, "desc =") {
		t.Errorf("standard error has gRPC's own text:\n%s", r.err)
	}
}

// silent returns the address of a port that accepts connections and never answers.
func silent(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	return listener.Addr().String()
}

// closed returns the address of a port where nothing listens.
func closed(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	return listener.Addr().String()
}

func TestAnInvalidCommandLineIsStatus2AndNamesTheFault(t *testing.T) {
	for _, test := range []struct {
		name        string
		environment map[string]string
		line        string
		tell        []string
	}{
		{"nothing", nil, "", []string{"Commands:", "name a command"}},
		{"an unknown noun", nil, "albun list", []string{"albun", `did you mean "album"`}},
		{"an unknown verb", nil, "album shwo 1", []string{`did you mean "show"`, "see waybookctl album --help"}},
		{"an unknown flag", nil, "album show 1 --lmit=3", []string{"--lmit", "see waybookctl album show --help"}},
		{"a missing argument", nil, "album show", []string{"<id>"}},
		{"a missing flag", nil, "album list", []string{"--owner"}},
		{"not a number", nil, "user show Ann", []string{"<user>", "Ann"}},
		{"an unknown word", nil, "landmark list --category=home", []string{"--category", "tender, bargain"}},
		{"neither of two flags", nil, "landmark list", []string{"--owner", "--category"}},
		{"half a place", nil, "landmark update 1 --lat=3", []string{"--lat and --lng"}},
		{"no change", nil, "landmark update 1", []string{"--category"}},
		{"no change of a user", nil, "user update 1", []string{"--name, --email or --icon"}},
		{"a negative limit", nil, "entry list --owner 1 --limit=-1", []string{"--limit"}},
		{"neither a session nor all", nil, "session close --owner 1", []string{"--all"}},
		{"a session and all", nil, "session close --owner 1 --all 0123456789abcdef", []string{"--all"}},
		{"an unknown format", nil, "user show 1 -o xml", []string{"--output", `"table","json"`}},
		{"an unknown format in the environment", map[string]string{"WAYBOOK_OUTPUT": "xml"}, "user show 1", []string{"--output is set by WAYBOOK_OUTPUT in the environment"}},
		{"not a duration in the environment", map[string]string{"WAYBOOK_TIMEOUT": "soon"}, "user show 1", []string{"WAYBOOK_TIMEOUT", "soon"}},
		{"no time at all", nil, "user show 1 --timeout=0s", []string{"--timeout"}},
		{"an empty address", nil, "user show 1 --address=", []string{"HOST:PORT"}},
		{"a password without an address", nil, "user create Ann --generate-password", []string{"--email"}},
		{"two ways to a password", nil, "user create Ann --email=a@b.c --no-password --password-stdin", []string{"--no-password"}},
		{"nobody to ask for a password", nil, "user create Ann --email=a@b.c", []string{"--password-stdin"}},
		{"an empty password", nil, "user set-password 1 --password-stdin", []string{"no password"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			runWith(t.Context(), test.environment, "", strings.Fields(test.line)...).expect(t, statusUsage, test.tell...)
		})
	}
}

// A command without what it requires never asks a service: another status would tell a script to retry, or to give up.
func TestACommandWithoutAnythingIsStatus2IfItNeedsSomething(t *testing.T) {
	parser, err := newParser(new(commands), Streams{Out: io.Discard, Err: io.Discard}, &environment{lookup: noEnvironment})
	if err != nil {
		t.Fatal(err)
	}
	complete := []string{"user list", "user invite", "store prepare", "store check", "store compact", "store renew", "console", "trace", "help", "version"}
	for _, command := range parser.Model.Leaves(true) {
		line := strings.TrimPrefix(command.FullPath(), name+" ")
		if !slices.Contains(complete, line) {
			runWith(t.Context(), nil, "", strings.Fields(line)...).expect(t, statusUsage, "see "+name+" "+line+" --help")
		}
	}
}

func TestAStrayArgumentIsNotRepeated(t *testing.T) {
	got := runWith(t.Context(), nil, "", "user", "set-password", "1", "my password")
	got.expect(t, statusUsage, "too many arguments for waybookctl user set-password")
	if strings.Contains(got.err, "my password") {
		t.Errorf("printed %s", got.err)
	}
}

// The heading of the commands is in the first lines, and all of it on a screen.
func TestTheHelpFitsOnAScreen(t *testing.T) {
	t.Setenv("COLUMNS", "80")
	got := runWith(t.Context(), nil, "", "--help")
	lines := strings.Split(strings.TrimRight(got.out, "\n"), "\n")
	if got.status != statusOK || len(lines) > 40 || slices.Index(lines, "Commands:") > 8 {
		t.Errorf("status %d, %d lines:\n%s", got.status, len(lines), got.out)
	}
	for _, line := range lines {
		if len(line) > 80 {
			t.Errorf("%d columns: %s", len(line), line)
		}
	}
	if bare := runWith(t.Context(), nil, ""); bare.err != got.out+"waybookctl: name a command\n" || bare.out != "" || bare.status != statusUsage {
		t.Errorf("alone: %+v", bare)
	}
}

func TestHelpIsStatus0EvenWhenArgumentsAreMissing(t *testing.T) {
	for line, want := range map[string]string{
		"--help": "WAYBOOK_ADDRESS", "album -h": "album show", "landmark update --help": "One of tender", "store check --help": "WAYBOOK_DATA",
	} {
		got := runWith(t.Context(), nil, "", strings.Fields(line)...)
		if got.status != statusOK || !strings.Contains(got.out, want) || got.err != "" {
			t.Errorf("%s: status %d, %q is not in:\n%s%s", line, got.status, want, got.out, got.err)
		}
	}
}

func TestTheVersionIsPrintedWhateverElseIsMissing(t *testing.T) {
	for _, line := range []string{"--version", "album show --version", "--version album show"} {
		got := runWith(t.Context(), nil, "", strings.Fields(line)...)
		if want := buildinfo.Read().Line("waybookctl") + "\n"; got.status != statusOK || got.out != want || got.err != "" {
			t.Errorf("%s: status %d, %q%q, want %q", line, got.status, got.out, got.err, want)
		}
	}
}

func TestWithoutAListenerTheErrorNamesTheAddressAndItsFlag(t *testing.T) {
	t.Parallel()
	address := closed(t)
	runWith(t.Context(), nil, "", "album", "show", "1", "--address", address).
		expect(t, statusUnavailable, "no album service answers at "+address, "--address or --album")
	runWith(t.Context(), map[string]string{"WAYBOOK_POI": address}, "", "landmark", "show", "1").
		expect(t, statusUnavailable, "no poi service answers at "+address, "--poi")
}

func TestAFlagOverridesTheEnvironment(t *testing.T) {
	address := closed(t)
	runWith(t.Context(), map[string]string{"WAYBOOK_ADDRESS": "twin.invalid:1"}, "", "user", "show", "1", "--address", address).
		expect(t, statusUnavailable, address)
}

func TestAServiceThatDoesNotAnswerIsStatus5(t *testing.T) {
	address := silent(t)
	runWith(t.Context(), nil, "", "user", "show", "1", "--address", address, "--timeout", "50ms").
		expect(t, statusUnavailable, "did not answer within 50ms", "--timeout")
}

func TestTheErrorTellsThatAnotherServerAnswers(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	go func() { _ = server.Serve(listener) }()
	defer server.Stop()
	runWith(t.Context(), nil, "", "entry", "list", "--owner", "1", "--address", listener.Addr().String()).
		expect(t, statusFailed, "does not have this operation of the blog service", "--blog")
}

func TestAnInterruptEndsACommandWithStatus130(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	address := silent(t)
	done := make(chan ran)
	go func() { done <- runWith(ctx, nil, "", "user", "show", "1", "--address", address, "--timeout", "1m") }()
	interrupt()
	(<-done).expect(t, statusInterrupted, "interrupted")
}

func noEnvironment(string) (string, bool) { return "", false }

// waiting is a standard input of which nothing comes. The command is interrupted when it reads.
type waiting struct {
	interrupt context.CancelFunc
	end       <-chan struct{}
}

func (w waiting) Read([]byte) (int, error) {
	w.interrupt()
	<-w.end
	return 0, io.EOF
}

func TestACommandThatWaitsForStandardInputCanBeInterrupted(t *testing.T) {
	for _, args := range []string{
		"move check -", "compare http://127.0.0.1:1 http://127.0.0.1:2 -",
		"landmark import - --format ndjson --owner 1", "store load --data store -", "store restore --data store -",
	} {
		t.Chdir(t.TempDir())
		ctx, interrupt := context.WithCancel(t.Context())
		end, done := make(chan struct{}), make(chan int, 1)
		var errors strings.Builder
		go func() {
			done <- Run(ctx, strings.Fields(args), Streams{In: waiting{interrupt, end}, Out: io.Discard, Err: &errors}, func(string) (string, bool) { return "", false })
		}()
		select {
		case status := <-done:
			if status != statusInterrupted {
				t.Errorf("%s: status %d: %s", args, status, &errors)
			}
		case <-time.After(10 * time.Second):
			t.Errorf("%s goes on", args)
		}
		close(end)
	}
}

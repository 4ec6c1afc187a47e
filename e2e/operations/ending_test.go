package operations_test

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestTheExitStatusTellsScriptsTheKindOfFailure(t *testing.T) {
	t.Parallel()
	p := startEmpty(t)
	o := operator{t, p.GRPC}
	o.run("", "album", "show", "12").expect(3, "12")
	o.run("", "user", "show", "0").expect(4, "user_id: ")
	o.run("", "landmark", "create", strings.Repeat("x", 201), "--as", o.createUser("x"), "--category", "5", "--lat", "91", "--lng", "1").
		expect(4, "\n  name: ", "\n  location.lat: ")
	o.run("", "album", "shwo", "12").expect(2, `did you mean "show"`)
	o.run("", "album", "list", "--owner", "12").expect(3, "12")
	if status := p.End(os.Interrupt); status != 0 {
		t.Errorf("standalone ends with status %d", status)
	}
	o.run("", "album", "show", "12").expect(5, "no album service answers at "+p.GRPC)
}

func TestASignalEndsAWaitingCommand(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = silent.Close() }()
	program := command(t, "user", "show", "1", "--address", silent.Addr().String(), "--timeout", "10m")
	var failed bytes.Buffer
	program.Stderr = &failed
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	connection, err := silent.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = connection.Close() }()
	if err := program.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = program.Wait() // ProcessState has the result
	if got := program.ProcessState.ExitCode(); got != 130 || !strings.Contains(failed.String(), "interrupted") {
		t.Errorf("status %d: %s", got, failed.String())
	}
}

func TestBashCompletesCommandLines(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("SKIPPED: bash is not installed, so its script is not checked")
	}
	script := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(script, []byte(operator{t, ""}.must("completion", "bash")), 0o600); err != nil {
		t.Fatal(err)
	}
	for words, want := range map[string]string{
		`waybookctl ""`:                      "user session album entry landmark",
		`waybookctl album photo ""`:          "add update remove list",
		`waybookctl album create --cat`:      "--category",
		`waybookctl album list --output = y`: "yaml",
		`waybookctl -o json album list -o t`: "table",
		`waybookctl album show ""`:           "",
	} {
		// This does what bash does when Tab is pressed: it calls the function that complete
		// registered, with the words of the line.
		shell := exec.CommandContext(t.Context(), "bash", "--norc", "-c", fmt.Sprintf(`
			set -eu
			source %q
			function=$(complete -p waybookctl | sed 's/.*-F \([^ ]*\) .*/\1/')
			COMP_WORDS=(%s) COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
			$function
			echo "${COMPREPLY[*]-}"`, script, words))
		shell.Env = append(os.Environ(), "PATH="+binaries+string(filepath.ListSeparator)+os.Getenv("PATH"))
		out, err := shell.CombinedOutput()
		if err != nil || !strings.HasPrefix(string(out), want) || want == "" && string(out) != "\n" {
			t.Errorf("candidates for %s: %q, want %q (%v)", words, out, want, err)
		}
	}
}

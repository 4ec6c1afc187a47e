package operations_test

import (
	"bytes"
	"net"
	"os"
	"strings"
	"testing"
)

func TestTheExitStatusTellsScriptsTheKindOfFailure(t *testing.T) {
	t.Parallel()
	p := startEmpty(t)
	o := operator{t, p.GRPC}
	o.run("", "album", "show", "12").expect(3, "12")
	o.run("", "user", "show", "0").expect(4, "user_id: ")
	o.run("", "user", "create", strings.Repeat("x", 101), "--email", "x", "--no-password").expect(4, "\n  name: ", "\n  email: ")
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

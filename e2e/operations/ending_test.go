package operations_test

import (
	"bytes"
	"net"
	"os"
	"strings"
	"testing"
)

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

//go:build linux

package faults

import (
	"os"
	"syscall"
	"testing"

	"github.com/waybook/waybook/e2e/launch"
)

// program is a program that restarts at the same addresses.
type program struct {
	name, path  string
	environment []string
	// data is the directory of its store; empty if it has none.
	data string
	args []string
	// http and grpc are the addresses to listen on, or empty if the program does not listen.
	http, grpc string

	process *launch.Process
}

// start starts the program through this test's own binary, which can make the system behave like a
// broken disk (see become). variables configure that.
func (p *program) start(t *testing.T, variables ...string) {
	t.Helper()
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	args := append([]string{"-admin", "127.0.0.1:0"}, p.args...)
	if p.http != "" {
		args = append(args, "-http", p.http)
	}
	if p.grpc != "" {
		args = append(args, "-grpc", p.grpc)
	}
	if p.data != "" {
		args = append(args, "-data", p.data)
	}
	environment := append([]string{stageVariable + "=" + p.path}, p.environment...)
	p.process = launch.Begin(t, own, append(environment, variables...), args...).Ready()
}

func (p *program) kill() { p.process.End(syscall.SIGKILL) }

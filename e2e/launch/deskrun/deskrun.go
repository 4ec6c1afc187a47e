// Package deskrun runs waybookctl console for tests.
package deskrun

import (
	"bufio"
	"context"
	"io"
	"strings"
	"testing"

	"github.com/waybook/waybook/e2e/launch"
	"github.com/waybook/waybook/waybookctl/cli"
)

// Start runs waybookctl console on a process until the end of the test, and returns the address that it prints.
func Start(t *testing.T, p *launch.Process, args ...string) (address string) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	printed, out := io.Pipe()
	done := make(chan int, 1)
	var failed strings.Builder
	line := append([]string{"console", "--address", p.GRPC, "--admin", p.Admin, "--journal", t.TempDir() + "/none"}, args...)
	go func() {
		done <- cli.Run(ctx, line, cli.Streams{In: strings.NewReader(""), Out: out, Err: &failed}, func(string) (string, bool) { return "", false })
		_ = out.Close() // of a pipe, never fails
	}()
	t.Cleanup(func() {
		stop()
		if status := <-done; status != 0 {
			t.Errorf("the console ended with status %d: %s", status, failed.String())
		}
	})
	address, err := bufio.NewReader(printed).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(address)
}

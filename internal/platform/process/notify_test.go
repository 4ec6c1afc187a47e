package process_test

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/waybook/waybook/internal/platform/process"
)

// listenAsManager listens as a service manager does.
func listenAsManager(t *testing.T) (socket *net.UnixConn, path string) {
	t.Helper()
	directory, err := os.MkdirTemp("", "manager") // t.TempDir may be too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(directory) })
	path = filepath.Join(directory, "notify")
	socket, err = net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = socket.Close() })
	return socket, path
}

// next reads one state that a program has reported.
func next(t *testing.T, socket *net.UnixConn) string {
	t.Helper()
	message := make([]byte, 1024)
	n, err := socket.Read(message)
	if err != nil {
		t.Fatal(err)
	}
	return string(message[:n])
}

func TestTheServiceManagerLearnsOfReadinessAndOfTheStop(t *testing.T) {
	socket, path := listenAsManager(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var order []string
	done := make(chan outcome, 1)
	go func() {
		done <- run(ctx, nil, map[string]string{"NOTIFY_SOCKET": path}, func(_ context.Context, _ setting, env process.Env) error {
			order = append(order, "started")
			env.Stack.Push("port", func(context.Context) error {
				order = append(order, next(t, socket), "stopped")
				return nil
			})
			return nil
		})
	}()
	ready := next(t, socket)
	stop()
	end := <-done
	if want := []string{"started", "STOPPING=1", "stopped"}; ready != "READY=1" || !slices.Equal(order, want) || end.status != 0 {
		t.Errorf("ready %q, order %v, status %d", ready, order, end.status)
	}
}

func TestAFailedStartIsNotReportedAsReady(t *testing.T) {
	socket, path := listenAsManager(t)
	end := run(t.Context(), nil, map[string]string{"NOTIFY_SOCKET": path}, func(context.Context, setting, process.Env) error {
		return errors.New("no luck")
	})
	sender, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = sender.Close() }()
	if _, err := sender.Write([]byte("nothing before")); err != nil {
		t.Fatal(err)
	}
	if got := next(t, socket); got != "nothing before" || end.status != 1 {
		t.Errorf("reported %q, status %d", got, end.status)
	}
}

func TestAManagerThatCannotBeReachedIsLogged(t *testing.T) {
	end := run(ended(), nil, map[string]string{"NOTIFY_SOCKET": "/nonexistent/notify"}, func(context.Context, setting, process.Env) error {
		return nil
	})
	if end.status != 0 || !strings.Contains(end.errors, "failed to report to the service manager") {
		t.Errorf("status %d, %q", end.status, end.errors)
	}
}

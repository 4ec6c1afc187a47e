package process

import (
	"context"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/grpc"
	healthserver "google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
)

// socketIn returns the path of a socket in a new directory, short enough for every system.
func socketIn(t *testing.T) string {
	t.Helper()
	directory, err := os.MkdirTemp("", "waybook")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(directory); err != nil {
			t.Error(err)
		}
	})
	return filepath.Join(directory, "grpc.sock")
}

// listenAt opens a socket until the test ends.
func listenAt(t *testing.T, path string) net.Listener {
	t.Helper()
	listener, err := Transport{}.ListenGRPC(t.Context(), "grpc", "unix:"+path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() }) // a test may have closed it
	return listener
}

func TestASocketIsForItsOwnerOnly(t *testing.T) {
	path := filepath.Join(filepath.Dir(socketIn(t)), "made", "grpc.sock")
	listener := listenAt(t, path)
	for name, want := range map[string]fs.FileMode{path: fs.ModeSocket | 0o600, filepath.Dir(path): fs.ModeDir | 0o700} {
		info, err := os.Lstat(name)
		if err != nil || info.Mode() != want {
			t.Errorf("%s has mode %v (%v), want %v", name, info.Mode(), err, want)
		}
	}
	if err := listener.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(path); err == nil {
		t.Error("the closed socket still has a file")
	}
}

func TestASocketHasItsModeBeforeItHasAFile(t *testing.T) {
	path := socketIn(t)
	listener, err := (&net.ListenConfig{Control: forOwner}).Listen(t.Context(), "unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Mode().Perm(); got&0o077 != 0 {
		t.Skipf("this system gives a new socket the mode %v", got)
	}
}

func TestAnAbandonedSocketIsReplacedAndOneInUseIsNot(t *testing.T) {
	path := socketIn(t)
	abandoned := listenAt(t, path).(*net.UnixListener)
	abandoned.SetUnlinkOnClose(false) // as after SIGKILL
	if err := abandoned.Close(); err != nil {
		t.Fatal(err)
	}
	listenAt(t, path)

	_, err := Transport{}.ListenGRPC(t.Context(), "grpc", "unix:"+path)
	if err == nil || !strings.Contains(err.Error(), "in use by another process") || !strings.Contains(err.Error(), "-grpc") {
		t.Errorf("a second listener: %v", err)
	}
	connection, err := net.Dial("unix", path)
	if err != nil {
		t.Fatalf("the first listener lost its socket: %v", err)
	}
	if err := connection.Close(); err != nil {
		t.Error(err)
	}
}

func TestASocketReplacesNoOtherFile(t *testing.T) {
	path := socketIn(t)
	if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := (Transport{}).ListenGRPC(t.Context(), "grpc", "unix:"+path); err == nil || !strings.Contains(err.Error(), "not a socket") {
		t.Errorf("got %v", err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "mine" {
		t.Errorf("the file has %q (%v)", text, err)
	}
}

func TestTooLongAPathOfASocketIsRefusedWithItsLimit(t *testing.T) {
	path := filepath.Join(t.TempDir(), strings.Repeat("a", 108), "grpc.sock")
	_, err := Transport{}.ListenGRPC(t.Context(), "grpc", "unix:"+path)
	if err == nil || !strings.Contains(err.Error(), "bytes") || !strings.Contains(err.Error(), "-grpc") {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(filepath.Dir(path)); err == nil {
		t.Error("the directory was made")
	}
}

func TestASocketMayHaveAnyPath(t *testing.T) {
	for _, name := range []string{"grpc.sock", "a b", "100%", "a?b#c", "%41", "日記,1"} {
		path := filepath.Join(filepath.Dir(socketIn(t)), name)
		listener := listenAt(t, path)
		server := grpc.NewServer()
		healthv1.RegisterHealthServer(server, healthserver.NewServer())
		done := make(chan error)
		go func() { done <- server.Serve(listener) }()

		connection, err := Transport{}.Dial("album", Target(listener.Addr()))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := healthv1.NewHealthClient(connection).Check(context.WithoutCancel(t.Context()), &healthv1.HealthCheckRequest{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := connection.Close(); err != nil {
			t.Error(err)
		}
		server.Stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

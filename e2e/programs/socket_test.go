package programs_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/waybook/waybook/e2e/launch"
)

func TestTheGRPCPortIsASocketForItsOwnerOnly(t *testing.T) {
	t.Parallel()
	directory, err := os.MkdirTemp("", "waybook") // t.TempDir may be too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(directory) })
	data := filepath.Join(directory, "data")
	p := launch.Begin(t, binary, nil, "-http", "127.0.0.1:0", "-admin", "127.0.0.1:0", "-data", data).Ready()
	if want := "unix:" + filepath.Join(data, "grpc.sock"); p.GRPC != want {
		t.Errorf("the greeting names %s, want %s", p.GRPC, want)
	}
	info, err := os.Lstat(filepath.Join(data, "grpc.sock"))
	if err != nil || info.Mode() != os.ModeSocket|0o600 {
		t.Errorf("the socket: %v, %v", info, err)
	}
	launch.CreateUser(t, launch.Dial(t, p.GRPC), "someone")
	p.End(syscall.SIGTERM)
	if strings.Contains(p.Logged(), "level=WARN") {
		t.Errorf("it warns about a socket:\n%s", p.Logged())
	}
	if _, err := os.Lstat(filepath.Join(data, "grpc.sock")); err == nil {
		t.Error("the socket remains after a stop")
	}
}

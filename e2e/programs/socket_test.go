package programs_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/waybook/waybook/e2e/launch"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

// shortDirectory returns a directory whose path leaves room for the name of a socket on every
// system.
func shortDirectory(t *testing.T) string {
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
	return directory
}

// startOnSocket starts the program with the default address of its gRPC port.
func startOnSocket(t *testing.T, data string, args ...string) *launch.Process {
	t.Helper()
	return launch.Begin(t, binary, nil, append([]string{"-http", "127.0.0.1:0", "-admin", "127.0.0.1:0", "-data", data}, args...)...)
}

// mustAnswer fails the test if the gRPC port does not answer.
func mustAnswer(t *testing.T, p *launch.Process) {
	t.Helper()
	accounts := accountv1.NewAccountServiceClient(launch.Dial(t, p.GRPC))
	if _, err := accounts.CreateUser(context.WithoutCancel(t.Context()), &accountv1.CreateUserRequest{Name: "someone"}); err != nil {
		t.Errorf("%s: %v", p.GRPC, err)
	}
}

func TestTheGRPCPortIsASocketForItsOwnerOnly(t *testing.T) {
	t.Parallel()
	data := filepath.Join(shortDirectory(t), "data")
	p := startOnSocket(t, data).Ready()
	if want := "unix:" + filepath.Join(data, "grpc.sock"); p.GRPC != want {
		t.Errorf("the greeting names %s, want %s", p.GRPC, want)
	}
	info, err := os.Lstat(filepath.Join(data, "grpc.sock"))
	if err != nil || info.Mode() != os.ModeSocket|0o600 {
		t.Errorf("the socket: %v, %v", info, err)
	}
	mustAnswer(t, p)
	p.End(syscall.SIGTERM)
	if strings.Contains(p.Logged(), "level=WARN") {
		t.Errorf("it warns about a socket:\n%s", p.Logged())
	}
	if _, err := os.Lstat(filepath.Join(data, "grpc.sock")); err == nil {
		t.Error("the socket remains after a stop")
	}
}

func TestATCPPortWithoutTLSIsWarnedOf(t *testing.T) {
	t.Parallel()
	p := launch.Start(t, binary, t.TempDir(), "-demo=false")
	p.End(syscall.SIGTERM)
	expectParts(t, p.Logged(), "level=WARN", "every local user can act as any user", "grpc="+p.GRPC)
}

func TestAKilledProcessesSocketIsReplacedAndARunningOnesIsNot(t *testing.T) {
	t.Parallel()
	data := shortDirectory(t)
	killed := startOnSocket(t, data, "-demo=false").Ready()
	killed.End(syscall.SIGKILL)
	if _, err := os.Lstat(filepath.Join(data, "grpc.sock")); err != nil {
		t.Fatalf("the killed process left no socket: %v", err)
	}
	running := startOnSocket(t, data, "-demo=false").Ready()
	mustAnswer(t, running)

	expectRefusal(t, startOnSocket(t, data, "-demo=false"), 1, "in use by another process")
	mustAnswer(t, running)
	// A process with another store does not take the socket either.
	expectRefusal(t, startOnSocket(t, shortDirectory(t), "-demo=false", "-grpc", running.GRPC), 1, "in use by another process", "-grpc")
	mustAnswer(t, running)
}

func TestADirectoryTooLongForASocketIsRefusedWithAdvice(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), strings.Repeat("a", 100))
	expectRefusal(t, startOnSocket(t, data, "-demo=false"), 1, "bytes", "-grpc", "WAYBOOK_GRPC")
}

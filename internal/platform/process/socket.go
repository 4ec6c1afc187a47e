package process

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/waybook/waybook/internal/platform/settings"
)

// unixScheme begins the address of a Unix socket, unix:PATH. gRPC has the same form.
const unixScheme = "unix:"

// maxSocketPath is the highest number of bytes in the path of a socket: 107 on Linux.
const maxSocketPath = len(syscall.RawSockaddrUnix{}.Path) - 1

// listenUnix opens a Unix socket that only the process's user can connect to. It makes the
// directory if it is missing. It replaces a socket that a killed process left behind, and
// refuses one that a process listens on. Two processes that start at the same moment may
// both find the same abandoned socket; the lock of a store is what keeps them apart.
func listenUnix(ctx context.Context, flagName, path string) (net.Listener, error) {
	listener, err := openSocket(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("can't listen on the Unix socket %s (change it with -%s or %s): %w", path, flagName,
			settings.EnvName(flagName), err)
	}
	return listener, nil
}

func openSocket(ctx context.Context, path string) (net.Listener, error) {
	if err := checkSocketPath(path); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	if err := removeAbandoned(ctx, path); err != nil {
		return nil, err
	}
	listener, err := (&net.ListenConfig{Control: forOwner}).Listen(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, socketMode); err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	return listener, nil
}

// checkSocketPath reports why a socket cannot have a path.
func checkSocketPath(path string) error {
	if len(path) > maxSocketPath {
		return fmt.Errorf("its path has %d bytes; the system allows %d", len(path), maxSocketPath)
	}
	_, err := hasSocket(path)
	return err
}

// socketMode lets only the owner connect.
const socketMode = 0o600

// removeAbandoned removes a socket without a listener.
func removeAbandoned(ctx context.Context, path string) error {
	if exists, err := hasSocket(path); err != nil || !exists {
		return err
	}
	connection, err := new(net.Dialer).DialContext(ctx, "unix", path)
	if err == nil {
		return errors.Join(errors.New("it is in use by another process"), connection.Close())
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		return err
	}
	return os.Remove(path)
}

// hasSocket reports whether a path has a socket. Any other file there is an error.
func hasSocket(path string) (bool, error) {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err == nil && info.Mode().Type() != fs.ModeSocket {
		err = errors.New("the file exists and is not a socket")
	}
	return err == nil, err
}

// Target returns the address of a listener as gRPC clients write it, such as
// 127.0.0.1:9090 or unix:waybook-data/grpc.sock.
func Target(address net.Addr) string {
	if address.Network() == "unix" {
		return unixScheme + address.String()
	}
	return address.String()
}

// socketTarget returns the gRPC target of the socket at a path. gRPC parses targets as URLs,
// so a path like 100%/a needs escapes.
func socketTarget(path string) string {
	whole, err := filepath.Abs(path)
	if err != nil || !strings.HasPrefix(whole, "/") { // such as C:\waybook
		return unixScheme + path
	}
	return unixScheme + "//" + (&url.URL{Path: whole}).EscapedPath()
}

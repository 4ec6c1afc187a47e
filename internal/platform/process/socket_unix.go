//go:build unix

package process

import "syscall"

// forOwner sets the mode of a socket before it has a file. On Linux the file gets this mode,
// so no other user can connect at any moment. Other systems ignore it; there the directory
// protects the file until its mode is set.
func forOwner(_, _ string, connection syscall.RawConn) error {
	return connection.Control(func(socket uintptr) { _ = syscall.Fchmod(int(socket), socketMode) })
}

//go:build !unix

package process

import "syscall"

// forOwner does nothing: the directory protects a socket.
func forOwner(_, _ string, _ syscall.RawConn) error { return nil }

//go:build !unix

package embedded

// syncDirectory does nothing on systems that cannot sync a directory.
func syncDirectory(string) error { return nil }

// isDiskFull returns false: every failure counts as a failing disk.
func isDiskFull(error) bool { return false }

//go:build !unix

package embedded

// syncDirectory does nothing where a directory can't be synced.
func syncDirectory(string) error { return nil }

// isDiskFull knows nothing: every failure counts as that of a failing disk.
func isDiskFull(error) bool { return false }

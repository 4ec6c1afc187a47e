//go:build !linux

package embedded

// releasePages does nothing: the kernel releases the pages when it needs memory.
func releasePages(uintptr, int64) {}

//go:build !linux

package embedded

// releasePages leaves it to the kernel.
func releasePages(uintptr, int64) {}

//go:build !linux

package embedded

// releasePages does nothing: the kernel releases the pages when it needs memory.
func releasePages(uintptr, int64) {}

// mapReserve is 0, because a mapping may extend the file. While a backup runs, a write that
// needs a larger mapping waits for its end.
const mapReserve = 0

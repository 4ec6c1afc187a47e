package embedded

import (
	"strconv"
	"syscall"
)

// releasePages removes pages of the file from the process's resident memory. If it fails,
// they stay there until the kernel needs the memory.
func releasePages(start uintptr, length int64) {
	_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, start, uintptr(length), syscall.MADV_DONTNEED)
}

// mapReserve is how far the file can grow before bbolt maps it again. bbolt waits for all
// reads before it does that, and new reads wait for bbolt. A backup may read for minutes, so
// its store must not come to that point. A mapping behind the end of the file costs address
// space only. Systems with 32 bits have none to spare.
const mapReserve = 64 << 30 >> (64 - strconv.IntSize)

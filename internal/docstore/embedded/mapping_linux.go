package embedded

import "syscall"

// releasePages removes pages of the file from the process's resident memory. If it fails,
// they stay there until the kernel needs the memory.
func releasePages(start uintptr, length int64) {
	_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, start, uintptr(length), syscall.MADV_DONTNEED)
}

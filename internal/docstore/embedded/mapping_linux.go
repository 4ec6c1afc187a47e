package embedded

import "syscall"

// releasePages takes file pages out of the process's resident memory. It is advice:
// when it fails, they stay until the kernel needs the memory.
func releasePages(start uintptr, length int64) {
	_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, start, uintptr(length), syscall.MADV_DONTNEED)
}

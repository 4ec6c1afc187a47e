package load

import (
	"syscall"
	"time"
)

// sleep sleeps in the kernel, to within some 60 µs. A signal may end it early: then
// the request comes a moment before it was due.
func sleep(d time.Duration) {
	request := syscall.NsecToTimespec(d.Nanoseconds())
	_ = syscall.Nanosleep(&request, nil)
}

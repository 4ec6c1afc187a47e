package load

import (
	"syscall"
	"time"
)

// sleep sleeps in the kernel, to within about 60 µs. A signal may end it early. Then the
// request starts slightly before it is due.
func sleep(d time.Duration) {
	request := syscall.NsecToTimespec(d.Nanoseconds())
	_ = syscall.Nanosleep(&request, nil)
}

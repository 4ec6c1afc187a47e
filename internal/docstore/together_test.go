package docstore

import (
	"errors"
	"sync/atomic"
	"testing"
)

func TestReadsTogetherEndBeforeTheFirstErrorInTheirOrderIsReturned(t *testing.T) {
	first, second := errors.New("first"), errors.New("second")
	// A local store does none after the first that fails.
	for isLocal, reads := range map[bool]int32{true: 2, false: 4} {
		var done atomic.Int32
		read := func(err error) func() error {
			return func() error { done.Add(1); return err }
		}
		err := together(isLocal, read(nil), read(first), read(second), read(nil))
		if err != first || done.Load() != reads {
			t.Errorf("local %t: got %v after %d reads", isLocal, err, done.Load())
		}
		if err := together(isLocal, read(nil), read(nil)); err != nil {
			t.Errorf("local %t: got %v", isLocal, err)
		}
	}
}

// TestReadsTogetherOverANetworkMeet lets each read wait for the other.
func TestReadsTogetherOverANetworkMeet(t *testing.T) {
	left, right := make(chan bool), make(chan bool)
	err := together(false, func() error { close(left); <-right; return nil }, func() error { close(right); <-left; return nil })
	must(t, err)
}

func TestAReadTogetherThatPanicsPanicsInTheCaller(t *testing.T) {
	for _, isLocal := range []bool{true, false} {
		for panicking := range 2 {
			reads := []func() error{func() error { return nil }, func() error { return nil }}
			reads[panicking] = func() error { panic("broken") }
			func() {
				defer func() {
					if cause := recover(); cause != "broken" {
						t.Errorf("local %t, read %d: got %v", isLocal, panicking, cause)
					}
				}()
				_ = together(isLocal, reads...)
			}()
		}
	}
}

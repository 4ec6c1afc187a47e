package operation

import (
	"io"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// drip gives a byte of a file at a time, each after a wait.
type drip struct {
	left int
	wait time.Duration
}

func (d *drip) Read(p []byte) (int, error) {
	if d.left == 0 {
		return 0, io.EOF
	}
	time.Sleep(d.wait)
	d.left--
	return copy(p, "x"), nil
}

func TestASlowFileGoesOnEverySecond(t *testing.T) {
	for _, c := range []struct {
		file  drip
		sizes []int
	}{
		{drip{20, time.Millisecond}, []int{8, 8, 4}},
		{drip{3, 700 * time.Millisecond}, []int{2, 1}},
		{drip{2, 20 * time.Second}, []int{1, 1, 0}},
		{drip{0, 0}, []int{0}},
	} {
		synctest.Test(t, func(t *testing.T) {
			var sizes []int
			file := c.file
			for {
				n, err := fill(make([]byte, 8), &file)
				sizes = append(sizes, n)
				if err != nil {
					break
				}
			}
			if !slices.Equal(sizes, c.sizes) {
				t.Errorf("%v: chunks of %v bytes", c.file, sizes)
			}
		})
	}
}

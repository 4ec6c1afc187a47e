package launch

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// Main runs the tests of a package and returns the exit status. prepare builds the programs in a
// directory, which exists until the tests have ended. A goroutine that is left then is a failure.
func Main(m *testing.M, prepare func(directory string) error) (status int) {
	directory, err := os.MkdirTemp("", "waybook-test")
	if err == nil {
		err = prepare(directory)
	}
	if err == nil {
		if status = m.Run(); status == 0 {
			err = goleak.Find()
		}
	}
	if err = errors.Join(err, os.RemoveAll(directory)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return status
}

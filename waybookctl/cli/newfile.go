package cli

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/waybook/waybook/waybookctl/transfer"
)

// newFile is for commands that write a file which their user names.
type newFile struct {
	Force bool `help:"Replace the file if it exists."`
}

// check refuses a file that exists, unless --force is set. A device or a pipe is written to.
func (f newFile) check(path string) error {
	info, err := os.Stat(path)
	if path == "-" || f.Force || err != nil || !info.Mode().IsRegular() {
		return nil
	}
	return fmt.Errorf("the file %s exists; name another one, or replace it with --force", path)
}

// regular returns a file that can be read more than once: the one that is named, or a copy of standard
// input for -, which remove removes.
func regular(path string, in io.Reader) (_ string, remove func() error, err error) {
	if path != "-" {
		return path, func() error { return nil }, nil
	}
	file, err := os.CreateTemp("", "waybook-input-")
	if err != nil {
		return "", nil, err
	}
	remove = func() error { return os.Remove(file.Name()) }
	copied, err := io.Copy(file, io.LimitReader(in, transfer.DefaultMaxSpoolBytes+1))
	if err = errors.Join(err, file.Close()); err == nil && copied > transfer.DefaultMaxSpoolBytes {
		err = fmt.Errorf("standard input has more than %d bytes; name a file", int64(transfer.DefaultMaxSpoolBytes))
	}
	if err != nil {
		return "", nil, errors.Join(err, remove())
	}
	return file.Name(), remove, nil
}

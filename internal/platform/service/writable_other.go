//go:build !unix

package service

import (
	"fmt"
	"io/fs"
)

// mayWrite reports why this user cannot write a file, or in a directory. It knows the attribute of
// read-only files only.
func mayWrite(path string, info fs.FileInfo) error {
	if !info.IsDir() && info.Mode().Perm()&0o200 == 0 {
		return fmt.Errorf("%s is not writable", path)
	}
	return nil
}

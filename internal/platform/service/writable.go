package service

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// checkWritable reports why this user cannot write a file, or create it and its missing
// directories. It changes nothing.
func checkWritable(path string) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return checkCreatable(filepath.Dir(path))
	}
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a file", path)
	}
	return mayWrite(path, info)
}

// checkCreatable reports why this user cannot create a file in a directory, or the directory.
func checkCreatable(directory string) error {
	info, err := os.Stat(directory)
	if errors.Is(err, fs.ErrNotExist) && filepath.Dir(directory) != directory {
		return checkCreatable(filepath.Dir(directory))
	}
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is not a directory", directory)
	}
	return mayWrite(directory, info)
}

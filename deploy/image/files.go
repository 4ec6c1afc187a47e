package image

import (
	"archive/tar"
	"bytes"
	"encoding/pem"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// User is the number of the user and group that own nothing but WorkingDirectory.
const User = 65532

// Executable is the program, whichever it is.
const Executable = "/waybook"

// WorkingDirectory is where a program keeps its embedded store, when it has one.
const WorkingDirectory = "/data"

// file is a file or directory of an image.
type file struct {
	path    string // without the leading slash
	mode    fs.FileMode
	owner   int
	content []byte
}

// Files are what an image holds: a program, the authorities that the public vouches
// with, and a place for data.
type Files []file

// NewFiles returns the files of the image of a program that was compiled.
func NewFiles(executable []byte) Files {
	return Files{
		{path: WorkingDirectory[1:], mode: fs.ModeDir | 0o700, owner: User},
		{path: "etc", mode: fs.ModeDir | 0o755},
		{path: "etc/ssl", mode: fs.ModeDir | 0o755},
		{path: "etc/ssl/certs", mode: fs.ModeDir | 0o755},
		{path: "etc/ssl/certs/ca-certificates.crt", mode: 0o644, content: authorities()},
		{path: Executable[1:], mode: 0o755, content: executable},
	}
}

// authorities are Mozilla's as of the version of their module in go.mod. One that is
// trusted under conditions is left out, as a file in PEM can't state them.
func authorities() []byte {
	var encoded bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			encoded.Write(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}))
		}
	}
	return encoded.Bytes()
}

// Archive writes the files as a tar archive, all of one time.
func (f Files) Archive(w io.Writer, when time.Time) error {
	archive := tar.NewWriter(w)
	for _, file := range f {
		header := &tar.Header{
			Name: file.path, Mode: int64(file.mode.Perm()), Uid: file.owner, Gid: file.owner,
			Size: int64(len(file.content)), ModTime: when, Typeflag: tar.TypeReg, Format: tar.FormatPAX,
		}
		if file.mode.IsDir() {
			header.Name, header.Typeflag = file.path+"/", tar.TypeDir
		}
		if err := archive.WriteHeader(header); err != nil {
			return fmt.Errorf("%s: %w", file.path, err)
		}
		if _, err := archive.Write(file.content); err != nil {
			return fmt.Errorf("%s: %w", file.path, err)
		}
	}
	return archive.Close()
}

// Unpack writes the files below a directory, for a container engine to copy. Owners are
// left to it.
func (f Files) Unpack(directory string, when time.Time) error {
	if err := os.MkdirAll(directory, 0o755); err != nil { // #nosec G301 -- an engine of another user reads it
		return err
	}
	for _, file := range f {
		path := filepath.Join(directory, file.path)
		var err error
		if file.mode.IsDir() {
			err = os.MkdirAll(path, file.mode.Perm())
		} else {
			err = os.WriteFile(path, file.content, file.mode.Perm())
		}
		if err != nil {
			return err
		}
		if err := os.Chmod(path, file.mode.Perm()); err != nil { // whatever the umask
			return err
		}
	}
	for _, file := range f { // afterwards, as what is written changes a directory's time
		if err := os.Chtimes(filepath.Join(directory, file.path), when, when); err != nil {
			return err
		}
	}
	return nil
}

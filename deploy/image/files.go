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

// User is the user and group ID of the programs. It owns only WorkingDirectory.
const User = 65532

// Executable is the path of the program, the same in all images.
const Executable = "/waybook"

// WorkingDirectory is the directory of an embedded store.
const WorkingDirectory = "/data"

// file is a file or directory of an image.
type file struct {
	path    string // without the leading slash
	mode    fs.FileMode
	owner   int
	content []byte
}

// Files are the contents of an image: a program, the public certificate authorities, and a
// directory for data.
type Files []file

// NewFiles returns the files of an image for a compiled program.
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

// authorities are Mozilla's, as of the module version in go.mod. Authorities with constraints are
// left out, because a PEM file cannot express the constraints.
func authorities() []byte {
	var encoded bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			encoded.Write(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}))
		}
	}
	return encoded.Bytes()
}

// Archive writes the files as a tar archive. All have the same time.
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

// Unpack writes the files below a directory for a container engine to copy. The engine sets their
// owners.
func (f Files) Unpack(directory string, when time.Time) error {
	if err := os.MkdirAll(directory, 0o755); err != nil { // #nosec G301 -- an engine that runs as another user reads it
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
		if err := os.Chmod(path, file.mode.Perm()); err != nil { // independent of the umask
			return err
		}
	}
	for _, file := range f { // last, because writing a file changes its directory's time
		if err := os.Chtimes(filepath.Join(directory, file.path), when, when); err != nil {
			return err
		}
	}
	return nil
}

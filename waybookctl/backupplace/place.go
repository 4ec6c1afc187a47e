// Package backupplace keeps backups: in a directory, or in a bucket of any service that speaks S3. It
// also encrypts and decrypts them.
package backupplace

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"filippo.io/age"

	"github.com/waybook/waybook/waybookctl/atomicfile"
)

// Place keeps files by name.
type Place interface {
	// Write writes a file. No file appears if write fails, or if ctx ends before the whole is kept.
	Write(ctx context.Context, name string, write func(io.Writer) error) error
	// Open opens a file. Errors: fs.ErrNotExist.
	Open(ctx context.Context, name string) (File, error)
	// List returns the names that begin with a prefix, sorted.
	List(ctx context.Context, prefix string) ([]string, error)
	// Remove removes a file. It is no error if there is none.
	Remove(ctx context.Context, name string) error
	// Of returns where a file is, for people.
	Of(name string) string
}

// File is an open file.
type File struct {
	io.ReadCloser
	Bytes int64
}

// permissions of a file. A backup holds hashes of passwords.
const permissions fs.FileMode = 0o600

const bucketScheme = "s3://"

// IsBucket reports whether where names a bucket.
func IsBucket(where string) bool { return strings.HasPrefix(where, bucketScheme) }

// Open returns the place s3://BUCKET/PREFIX, or a directory, which is created if it is missing and
// create is set. A bucket's address and credentials are in variables of the environment.
func Open(where string, lookupEnv func(string) (string, bool), create bool) (Place, error) {
	if IsBucket(where) {
		return openBucket(strings.TrimPrefix(where, bucketScheme), lookupEnv)
	}
	if create {
		return directory(where), os.MkdirAll(where, 0o700)
	}
	return directory(where), nil
}

// OpenFile opens the file at a path.
func OpenFile(path string) (File, error) {
	file, err := os.Open(path)
	if err != nil {
		return File{}, err
	}
	info, err := file.Stat()
	if err == nil && info.IsDir() {
		err = fmt.Errorf("%s is a directory", path)
	}
	if err != nil {
		return File{}, errors.Join(err, file.Close())
	}
	return File{file, info.Size()}, nil
}

// directory is a place on this machine.
type directory string

// Of returns the path of a file.
func (d directory) Of(name string) string { return filepath.Join(string(d), name) }

// Write writes a file under another name, syncs it, and renames it.
func (d directory) Write(_ context.Context, name string, write func(io.Writer) error) error {
	return atomicfile.Write(d.Of(name), permissions, write)
}

// Open opens a file.
func (d directory) Open(_ context.Context, name string) (File, error) { return OpenFile(d.Of(name)) }

// List returns the names of regular files.
func (d directory) List(_ context.Context, prefix string) (names []string, err error) {
	entries, err := os.ReadDir(string(d)) // sorted by name
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), prefix) && entry.Type().IsRegular() {
			names = append(names, entry.Name())
		}
	}
	return names, nil
}

// Remove removes a file.
func (d directory) Remove(_ context.Context, name string) error {
	if err := os.Remove(d.Of(name)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// encryptedStart is the start of every file that age writes.
const encryptedStart = "age-encryption.org/"

// Keys encrypt and decrypt backups. Without a recipient nothing is encrypted.
type Keys struct {
	recipients []age.Recipient
	identities []age.Identity
}

// ReadKeys returns the keys of recipients, which are public, such as age1…, and those of a file that
// age-keygen wrote. The file may be empty: then nothing can be decrypted.
func ReadKeys(recipients []string, identities string) (keys Keys, err error) {
	for _, each := range recipients {
		parsed, err := age.ParseRecipients(strings.NewReader(each))
		if err != nil {
			return keys, fmt.Errorf("the recipient %q is no public key of age: %w", each, err)
		}
		keys.recipients = append(keys.recipients, parsed...)
	}
	if identities == "" {
		return keys, nil
	}
	file, err := os.Open(identities)
	if err != nil {
		return keys, err
	}
	defer func() { _ = file.Close() }() // it was only read
	if keys.identities, err = age.ParseIdentities(file); err != nil {
		return keys, fmt.Errorf("%s has no keys of age: %w", identities, err)
	}
	return keys, nil
}

// Encrypts reports whether there is a recipient.
func (k Keys) Encrypts() bool { return len(k.recipients) > 0 }

// Decrypts reports whether there is a private key.
func (k Keys) Decrypts() bool { return len(k.identities) > 0 }

// Encrypt lets write write, and writes it encrypted to a writer.
func (k Keys) Encrypt(to io.Writer, write func(io.Writer) error) error {
	if !k.Encrypts() {
		return write(to)
	}
	encrypted, err := age.Encrypt(to, k.recipients...)
	if err != nil {
		return fmt.Errorf("encrypt the backup: %w", err)
	}
	if err := write(encrypted); err != nil {
		return err // without the last block nothing can be decrypted
	}
	return encrypted.Close()
}

// Decrypt returns what a reader has, decrypted if age encrypted it. Reading fails where the contents
// were changed or cut off.
func (k Keys) Decrypt(from io.Reader) (io.Reader, error) {
	buffered := bufio.NewReader(from)
	start, err := buffered.Peek(len(encryptedStart))
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if string(start) != encryptedStart {
		return buffered, nil
	}
	if !k.Decrypts() {
		return nil, errors.New("the backup is encrypted; name the file with its private key in --identity")
	}
	decrypted, err := age.Decrypt(buffered, k.identities...)
	if err != nil {
		return nil, fmt.Errorf("decrypt the backup: %w", err)
	}
	return decrypted, nil
}

// Package directory keeps blobs as files, beside the embedded store.
package directory

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/waybook/waybook/internal/blob"
)

// unfinished ends the name of a file that a Put is writing. Only one Put at a time can make it.
const unfinished = ".part"

// Store is a blob.Store in a directory. Nothing in it leads out of the directory, not even a
// symbolic link.
type Store struct {
	root *os.Root

	mu sync.Mutex
	// groups are the subdirectories that are known to survive a crash.
	groups map[string]bool
}

var _ blob.Store = (*Store)(nil)

const (
	directoryMode = 0o700
	fileMode      = 0o600
)

// Open opens a directory. It makes what is missing of it and of the directories above.
func Open(name string) (*Store, error) {
	if err := makeAll(filepath.Clean(name)); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	return &Store{root: root, groups: make(map[string]bool)}, nil
}

// makeAll makes a directory and those above it, so that they survive a crash.
func makeAll(name string) error {
	above := filepath.Dir(name)
	if info, err := os.Stat(above); above != name && (err != nil || !info.IsDir()) {
		if err := makeAll(above); err != nil {
			return err
		}
	}
	if err := os.Mkdir(name, directoryMode); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncAndClose(os.Open(above))
}

func (s *Store) Close() error { return s.root.Close() }

// Put writes a file under another name, syncs and renames it, and syncs the name.
func (s *Store) Put(ctx context.Context, key blob.Key, r io.Reader) error {
	if err := key.Validate(); err != nil {
		return err
	}
	name := key.Name()
	if err := s.makeGroup(path.Dir(name)); err != nil {
		return err
	}
	file, err := s.root.OpenFile(name+unfinished, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%w: %s", blob.ErrExists, name)
	}
	if err != nil {
		return err
	}
	own, err := file.Stat()
	if err == nil {
		err = s.write(ctx, file, own, name, r)
	}
	if err != nil && s.check(own, name) == nil {
		err = errors.Join(err, s.remove(name+unfinished))
	}
	return err
}

// check returns an error if the other name is not that of a Put's own file any more: a Delete has
// removed it.
func (s *Store) check(own os.FileInfo, name string) error {
	if now, err := s.root.Lstat(name + unfinished); err != nil || !os.SameFile(now, own) {
		return fmt.Errorf("%w: it was deleted while it was stored: %s", blob.ErrNotFound, name)
	}
	return nil
}

// write writes a file and gives it its name.
func (s *Store) write(ctx context.Context, file *os.File, own os.FileInfo, name string, r io.Reader) error {
	_, err := s.root.Lstat(name) // after the other name is this Put's, so that no other Put can rename
	switch {
	case err == nil:
		err = fmt.Errorf("%w: %s", blob.ErrExists, name)
	case errors.Is(err, fs.ErrNotExist):
		if _, err = io.Copy(file, &untilEnd{ctx, r}); err == nil {
			err = file.Sync()
		}
		if err == nil {
			err = s.check(own, name) // while it is open, no other file can be taken for it
		}
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	if err := s.root.Rename(name+unfinished, name); err != nil {
		return err
	}
	if err := syncAndClose(s.root.Open(path.Dir(name))); err != nil {
		return errors.Join(err, s.remove(name)) // a blob that is not durable is none
	}
	return nil
}

// untilEnd reads until the context ends.
type untilEnd struct {
	ctx context.Context
	r   io.Reader
}

func (u *untilEnd) Read(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.r.Read(p)
}

// makeGroup makes a subdirectory if there is none, so that it survives a crash.
func (s *Store) makeGroup(group string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.groups[group] {
		return nil
	}
	if err := s.root.Mkdir(group, directoryMode); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if err := syncAndClose(s.root.Open(".")); err != nil {
		return err
	}
	s.groups[group] = true
	return nil
}

// syncAndClose makes the names in an opened directory survive a crash. Windows cannot.
func syncAndClose(directory *os.File, err error) error {
	if err != nil {
		return err
	}
	if runtime.GOOS != "windows" {
		err = directory.Sync()
	}
	return errors.Join(err, directory.Close())
}

// opened is an open blob.
type opened struct {
	*os.File
	size int64
}

func (o *opened) Size() int64 { return o.size }

// Open opens a file. A file that is deleted afterwards is still read.
func (s *Store) Open(ctx context.Context, key blob.Key) (blob.Blob, error) {
	if err := errors.Join(ctx.Err(), key.Validate()); err != nil {
		return nil, err
	}
	file, err := s.root.Open(key.Name())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s", blob.ErrNotFound, key.Name())
	}
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return &opened{file, info.Size()}, nil
}

// Delete removes a file. A crash may bring it back; the next sweep removes it again.
func (s *Store) Delete(ctx context.Context, key blob.Key) error {
	if err := s.DeleteUnfinished(ctx, key); err != nil {
		return err
	}
	return s.remove(key.Name())
}

// DeleteUnfinished removes the file of an unfinished Put.
func (s *Store) DeleteUnfinished(ctx context.Context, key blob.Key) error {
	if err := errors.Join(ctx.Err(), key.Validate()); err != nil {
		return err
	}
	return s.remove(key.Name() + unfinished)
}

func (s *Store) remove(name string) error {
	if err := s.root.Remove(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// List lists subdirectories until there are enough entries.
func (s *Store) List(ctx context.Context, after blob.Key, limit int) ([]blob.Entry, error) {
	groups, err := fs.ReadDir(s.root.FS(), ".") // in order
	if err != nil {
		return nil, err
	}
	var entries []blob.Entry
	for _, group := range groups {
		if !group.IsDir() || after != (blob.Key{}) && group.Name() < path.Dir(after.Name()) {
			continue
		}
		if err := ctx.Err(); err != nil || len(entries) >= limit {
			return entries, err
		}
		if entries, err = s.list(entries, group.Name(), after, limit); err != nil {
			return nil, err
		}
	}
	return entries, nil
}

// list appends entries of a subdirectory. A blob and an unfinished Put of its key stay together.
func (s *Store) list(entries []blob.Entry, group string, after blob.Key, limit int) ([]blob.Entry, error) {
	files, err := fs.ReadDir(s.root.FS(), group)
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		name, isUnfinished := strings.CutSuffix(group+"/"+file.Name(), unfinished)
		key, isName := blob.ParseName(name)
		if !isName || name <= after.Name() {
			continue
		}
		if len(entries) >= limit && entries[len(entries)-1].Key != key {
			return entries, nil
		}
		info, err := file.Info()
		if errors.Is(err, fs.ErrNotExist) { // it was deleted or renamed meanwhile
			continue
		}
		if err != nil {
			return nil, err
		}
		entry := blob.Entry{Key: key, IsUnfinished: isUnfinished, Time: info.ModTime()}
		if !isUnfinished {
			entry.Size = info.Size()
		}
		entries = append(entries, entry)
	}
	return entries, nil
}

// Now returns the time of this machine.
func (s *Store) Now(context.Context) (time.Time, error) { return time.Now(), nil }

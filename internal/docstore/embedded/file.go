package embedded

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	bolt "go.etcd.io/bbolt"
)

// bbolt's file begins with two meta pages, and each commit writes one of them. A meta page
// says how large the pages are, how many of them are in use, and where the list of free
// pages is. Numbers have the byte order of the machine.
const (
	pageHeaderBytes = 16
	flagsAt         = 8  // in a page's header: what the page is
	countAt         = 10 // in a page's header: how many elements the page has
	overflowAt      = 12 // and how many further pages it takes
	pageIDBytes     = 8  // the length of the number of a page
	metaMagic       = 0xED0CDAED
	metaVersion     = 2
	metaVersionAt   = 4
	metaPageSizeAt  = 8
	metaRootAt      = 16
	metaListAt      = 32
	metaPagesAt     = 40
	metaCommitAt    = 48
	metaSumAt       = 56
	metaBytes       = pageHeaderBytes + metaSumAt + 8

	minPageBytes, maxPageBytes = 1 << 10, 1 << 24
	headBytes                  = 4 << 10 // how much of a page is read at once
	maxCommit                  = 1 << 62 // no store has had as many commits

	// noList is the place of a list of free pages that was not written.
	noList = ^uint64(0)
)

// meta is a valid meta page.
type meta struct {
	pageBytes int64
	// root is the first page of the bucket of all buckets.
	root uint64
	// list is the page of the list of free pages, or noList.
	list uint64
	// pages is the number of pages in use, free ones included.
	pages  int64
	commit uint64
	// offset is where the meta page is in the file.
	offset int64
}

// bytes returns how long the file must be at least.
func (m meta) bytes() int64 { return m.pages * m.pageBytes }

// readMeta returns the newer of the valid meta pages of a file. Errors: *DamageError.
func readMeta(file io.ReaderAt) (newest meta, found bool, err error) {
	offsets := []int64{0}
	first, isValid, err := readMetaAt(file, 0)
	if err != nil {
		return meta{}, false, err
	}
	if isValid {
		offsets = []int64{first.pageBytes}
		newest, found = first, true
	} else {
		// The size of a page is unknown, and so is the place of the second meta page.
		offsets = offsets[:0]
		for size := int64(minPageBytes); size <= maxPageBytes; size *= 2 {
			offsets = append(offsets, size)
		}
	}
	for _, offset := range offsets {
		second, isValid, err := readMetaAt(file, offset)
		switch {
		case err != nil:
			return meta{}, false, err
		case !isValid:
		case !found && second.pageBytes == offset:
			return second, true, nil
		case found && second.pageBytes != offset:
			return meta{}, false, damage("its meta pages say that pages have %d and %d bytes", offset,
				second.pageBytes)
		case found && second.commit > first.commit:
			newest = second
		}
	}
	return newest, found, nil
}

// readMetaAt reads the meta page at an offset. A page behind the end of the file is invalid.
func readMetaAt(file io.ReaderAt, offset int64) (m meta, isValid bool, err error) {
	var page [metaBytes]byte
	if _, err := file.ReadAt(page[:], offset); errors.Is(err, io.EOF) {
		return meta{}, false, nil
	} else if err != nil {
		return meta{}, false, err
	}
	if m, isValid = parseMeta(page[:]); !isValid {
		return meta{}, false, nil
	}
	if m.pageBytes < minPageBytes || m.pageBytes > maxPageBytes || m.pageBytes&(m.pageBytes-1) != 0 || m.pages <= 0 ||
		m.pages > math.MaxInt64/m.pageBytes || m.commit > maxCommit {
		return meta{}, false, damage("a meta page counts %d pages of %d bytes and %d commits", m.pages, m.pageBytes,
			m.commit)
	}
	m.offset = offset
	return m, true, nil
}

// parseMeta decodes a meta page.
func parseMeta(page []byte) (m meta, isValid bool) {
	if len(page) < metaBytes {
		return meta{}, false
	}
	fields, order := page[pageHeaderBytes:], binary.NativeEndian
	sum := fnv.New64a()
	_, _ = sum.Write(fields[:metaSumAt]) // never fails
	return meta{
			pageBytes: int64(order.Uint32(fields[metaPageSizeAt:])),
			root:      order.Uint64(fields[metaRootAt:]),
			list:      order.Uint64(fields[metaListAt:]),
			pages:     int64(order.Uint64(fields[metaPagesAt:])), // #nosec G115 -- a file has fewer pages than 2^63
			commit:    order.Uint64(fields[metaCommitAt:]),
		}, order.Uint32(fields) == metaMagic && order.Uint32(fields[metaVersionAt:]) == metaVersion &&
			order.Uint64(fields[metaSumAt:]) == sum.Sum64()
}

// checkFile returns an error for a file that is not a store, or that is shorter than its
// meta page says. bbolt maps the file into memory, and a read of a page behind the end of
// the file would kill the process.
//
// The file may be in use. Its writer extends the file before it writes the meta page that
// counts the new pages, so the length is read after the meta page.
func checkFile(file *os.File) (newest meta, err error) {
	newest, found, err := readMeta(file)
	if err != nil {
		return newest, err
	}
	info, err := file.Stat()
	if err != nil {
		return newest, err
	}
	switch {
	case info.Size() == 0:
		return newest, errors.New("the file is empty, which no store is: restore a backup, or remove the file to " +
			"start without any data")
	case !found:
		return newest, fmt.Errorf("the file has %d bytes and no valid meta page: it is not a store, or it is "+
			"damaged; restore a backup", info.Size())
	case info.Size() < newest.bytes():
		return newest, fmt.Errorf("the file is truncated: it has %d bytes, and its meta page says %d; "+
			"restore a backup", info.Size(), newest.bytes())
	}
	return newest, nil
}

// errNetwork says why a store is on no network file system, and what to do.
var errNetwork = errors.New("locks and mapped files do not hold between machines there; keep the store on a local " +
	"disk, or use MongoDB")

// refuseNetwork returns an error if a store would lie on a network file system.
func refuseNetwork(path string) error {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	network, err := networkOf(filepath.Dir(path))
	if err == nil && network != "" {
		err = fmt.Errorf("it is on a network file system (%s): %w", network, errNetwork)
	}
	return err
}

// createFile makes the file of an empty store, unless the file exists. A crash leaves no file or a
// whole one, and perhaps one with another name.
func createFile(disk Disk, path string) (err error) {
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	unnamed, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".new-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.Remove(unnamed.Name())) }()
	if err := unnamed.Close(); err != nil {
		return err
	}
	db, err := bolt.Open(unnamed.Name(), 0o600, nil)
	if err != nil {
		return err
	}
	if err := errors.Join(db.Update(writeFormat), db.Close(), TakeAttributes(unnamed.Name(), path)); err != nil {
		return err
	}
	// Another process may have created the file meanwhile, and may have it open.
	if err := os.Link(unnamed.Name(), path); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// settle makes the state that readers will see durable. A process that was killed, or whose last
// sync failed, may have left it in the system's memory only. After a failed sync the system takes
// the pages for written, so a sync alone does not help. The pages that a meta page refers to were
// synced before it was written, so it is enough to write the newest one again.
//
// Without this, the next commit would use the pages of the state before, and a power failure could
// leave a file with that state's meta page and without its pages.
func settle(disk Disk, file *os.File) error {
	newest, found, err := readMeta(file)
	if err != nil {
		return err
	}
	if !found {
		return errors.New("the file has no valid meta page any more")
	}
	page := make([]byte, newest.pageBytes)
	if _, err := file.ReadAt(page, newest.offset); err != nil {
		return err
	}
	// The file's name may be as new as its contents: the start that created it may have crashed.
	path, err := filepath.EvalSymlinks(file.Name())
	if err != nil {
		return err
	}
	err = disk.WriteAt(file, page, newest.offset)
	if err == nil {
		err = disk.Sync(file)
	}
	if err == nil {
		err = disk.SyncDirectory(filepath.Dir(path))
	}
	if err != nil {
		return fmt.Errorf("the disk does not keep what is written to the file: repair it, or copy the file to "+
			"another disk: %w", err)
	}
	return nil
}

// readAhead reads a file from its beginning until stop is closed. A search for free pages
// visits pages in the order of keys. Where the disk has to be read, it takes a fraction of
// the time if the pages are read in the order of the file meanwhile.
func readAhead(file io.ReaderAt, stop <-chan struct{}) {
	piece := make([]byte, 1<<20)
	for offset := int64(0); ; offset += int64(len(piece)) {
		select {
		case <-stop:
			return
		default:
		}
		if _, err := file.ReadAt(piece, offset); err != nil {
			return // the end of the file, or an error that the search meets too
		}
	}
}

// openings is how many times openDatabase opens a file that is replaced at the same time.
const openings = 3

// openDatabase opens and locks the file, and checks it. A damaged file is an error.
func openDatabase(ctx context.Context, disk Disk, path string, options bolt.Options,
	check func(*bolt.DB) error) (db *bolt.DB, file *os.File, err error) {
	for range openings {
		if !options.ReadOnly {
			// bbolt follows pages when it opens a file for writing, so they are checked before.
			readOnly, _, err := openOnce(ctx, disk, path, bolt.Options{ReadOnly: true}, check)
			if err == nil {
				err = readOnly.Close()
			}
			if err != nil {
				return nil, nil, err
			}
		}
		if db, file, err = openOnce(ctx, disk, path, options, check); err != nil {
			return nil, nil, err
		}
		opened, err := file.Stat()
		if err != nil {
			return nil, nil, errors.Join(err, db.Close())
		}
		if named, err := os.Stat(db.Path()); err == nil && os.SameFile(opened, named) {
			return db, file, nil
		}
		// Compact replaced the file while this call waited for the lock of the old one.
		if err := db.Close(); err != nil {
			return nil, nil, err
		}
	}
	return nil, nil, errors.New("the file was replaced while it was opened")
}

// openOnce opens the file, and checks all pages if that is for reading only.
func openOnce(ctx context.Context, disk Disk, path string, options bolt.Options,
	check func(*bolt.DB) error) (db *bolt.DB, file *os.File, err error) {
	stop, reading := make(chan struct{}), sync.WaitGroup{}
	defer func() {
		close(stop)
		reading.Wait()
	}()
	options.OpenFile = func(name string, flag int, mode fs.FileMode) (*os.File, error) {
		opened, err := os.OpenFile(name, flag&^os.O_CREATE, mode) // #nosec G304 -- the operator's own file
		if err != nil {
			return nil, err
		}
		if _, err := checkFile(opened); err != nil {
			return nil, errors.Join(err, opened.Close())
		}
		if file == nil {
			file = opened
			if options.ReadOnly {
				reading.Go(func() { readAhead(opened, stop) })
			}
		}
		return opened, nil
	}
	hasPanicked, err := guarded(func() (err error) {
		if db, err = openBolt(path, options, mapReserve); errors.Is(err, syscall.ENOMEM) {
			// The process may use little address space. The file is mapped as it is then.
			file = nil
			db, err = openBolt(path, options, 0)
		}
		return err
	})
	if hasPanicked && file != nil {
		err = errors.Join(err, file.Close()) // bbolt has not, and it is locked
	}
	if err != nil {
		return nil, nil, err
	}
	_, err = guarded(func() error {
		if !options.ReadOnly {
			return check(db)
		}
		return db.View(func(tx *bolt.Tx) error {
			if _, err := checkPages(ctx, file, tx); err != nil {
				return err
			}
			return check(db)
		})
	})
	if err == nil && !options.ReadOnly {
		err = disk.Attach(db, file)
	}
	if err == nil && !options.ReadOnly {
		err = settle(disk, file)
	}
	if err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	return db, file, nil
}

// Disk is what the engine does to its file beside the commits of bbolt. Package forgetful has one
// for tests, which forgets what was not synced.
type Disk interface {
	// Attach is called with each database that the engine opens for writing, before its first
	// transaction. file is the database's own.
	Attach(db *bolt.DB, file *os.File) error
	WriteAt(file *os.File, contents []byte, offset int64) error
	Sync(file *os.File) error
	// SyncDirectory makes the names of files survive a power failure.
	SyncDirectory(path string) error
}

// systemDisk is the disk of the operating system.
type systemDisk struct{}

func (systemDisk) Attach(*bolt.DB, *os.File) error { return nil }

func (systemDisk) WriteAt(file *os.File, contents []byte, offset int64) error {
	_, err := file.WriteAt(contents, offset)
	return err
}

func (systemDisk) Sync(file *os.File) error { return file.Sync() }

func (systemDisk) SyncDirectory(path string) error { return syncDirectory(path) }

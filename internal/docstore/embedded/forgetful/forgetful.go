// Package forgetful has a disk for tests of the embedded engine. It keeps its files in the
// operating system's memory, as a real one does until a sync: they survive a kill of the process,
// but after a power cut a random part of what was not synced is missing, also of single pages.
package forgetful

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"sync"
	"syscall"
	"time"
	"unsafe"

	bolt "go.etcd.io/bbolt"

	"github.com/waybook/waybook/internal/docstore/embedded"
)

// ErrKilled is the error of everything that a killed process tries.
var ErrKilled = errors.New("the process was killed")

const (
	// sectorBytes is what a disk writes whole or not at all.
	sectorBytes = 512
	pageBytes   = 4096
	never       = -1
)

// Disk is an embedded.Disk with the file of one store. Its engine stands for a process: it is
// killed between two steps, each a write or a sync, and must be closed then, which changes
// nothing.
type Disk struct {
	path string

	mu     sync.Mutex
	random *rand.Rand
	// sectors are those that a power cut may change, by their number.
	sectors map[int64]sector
	// isNamed: the directory was synced after the file had got its name.
	isNamed bool
	// isKilled, untilKill and untilFailure are about the present process.
	isKilled                bool
	untilKill, untilFailure int
	// space is how long the file may become; 0 means any length.
	space int64
}

// sector is a sector with writes that were not synced.
type sector struct {
	// versions are the contents that it may have after a power cut: the durable one, and those
	// written since.
	versions [][]byte
	// isClean: a sync failed after the last write. The system has noted the failure and takes the
	// sector for synced, so no later sync writes it.
	isClean bool
}

// New returns a disk for the store with this path. A file that exists is durable.
func New(path string, random *rand.Rand) *Disk {
	_, err := os.Stat(path)
	return &Disk{path: path, random: random, sectors: make(map[int64]sector), isNamed: err == nil, untilKill: never,
		untilFailure: never}
}

// Open opens the store in a new process.
func (d *Disk) Open() (*embedded.Engine, error) { return d.OpenWithClock(time.Now) }

// OpenWithClock is Open for a process with a clock of its own.
func (d *Disk) OpenWithClock(now func() time.Time) (*embedded.Engine, error) {
	d.mu.Lock()
	d.isKilled = false
	d.mu.Unlock()
	return embedded.OpenOn(d, d.path, now)
}

// KillAfter kills the process, or the next one, after that many steps. A write may be done in
// part.
func (d *Disk) KillAfter(steps int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.untilKill = steps
}

// Kill kills the process.
func (d *Disk) Kill() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.isKilled, d.untilKill = true, never
}

// IsKilled reports whether the process was killed.
func (d *Disk) IsKilled() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.isKilled
}

// FailSync makes a sync fail, after that many that succeed.
func (d *Disk) FailSync(after int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.untilFailure = after
}

// Fill makes the disk full: the file may not grow any more.
func (d *Disk) Fill() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	stat, err := os.Stat(d.path)
	if err != nil {
		return err
	}
	d.space = stat.Size()
	return nil
}

// Empty makes space on the disk.
func (d *Disk) Empty() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.space = 0
}

// CutPower forgets a random part of what was not synced. No engine may be open.
func (d *Disk) CutPower() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.untilKill, d.untilFailure = never, never
	sectors := d.sectors
	d.sectors = make(map[int64]sector)
	if !d.isNamed && d.random.IntN(2) == 0 {
		if err := os.Remove(d.path); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	file, err := os.OpenFile(d.path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	random := d.once()
	survives := survival(random)
	for _, number := range slices.Sorted(maps.Keys(sectors)) {
		versions := sectors[number].versions
		version := versions[0]
		if survives(number) {
			version = versions[1+random.IntN(len(versions)-1)]
		}
		if _, err := file.WriteAt(version, number*sectorBytes); err != nil {
			return errors.Join(err, file.Close())
		}
	}
	return file.Close()
}

// once returns what is random in one event. The database chooses pages in the order of a map, so
// each event draws once from the randomness of the disk, which then repeats whatever pages the
// event finds.
func (d *Disk) once() *rand.Rand {
	return rand.New(rand.NewPCG(d.random.Uint64(), 0)) // #nosec G404 -- a test repeats it
}

// survival returns a function that decides which sectors the disk has written: none, all, whole
// pages, or any.
func survival(random *rand.Rand) func(number int64) bool {
	switch random.IntN(5) {
	case 0:
		return func(int64) bool { return false }
	case 1:
		return func(int64) bool { return true }
	case 2:
		return func(int64) bool { return random.IntN(2) == 0 }
	default:
		pages := make(map[int64]bool)
		return func(number int64) bool {
			page := number * sectorBytes / pageBytes
			if _, isDrawn := pages[page]; !isDrawn {
				pages[page] = random.IntN(2) == 0
			}
			return pages[page]
		}
	}
}

// Attach takes the writes of a database into the disk's hands. bbolt syncs before and after it
// writes a meta page, and so does the disk in its place.
func (d *Disk) Attach(db *bolt.DB, file *os.File) error {
	if err := d.Step(); err != nil {
		return err
	}
	writeAt, err := hook(db)
	if err != nil {
		return err
	}
	metaPages := 2 * int64(db.Info().PageSize)
	*writeAt = func(contents []byte, offset int64) (int, error) {
		if offset >= metaPages {
			return len(contents), d.WriteAt(file, contents, offset)
		}
		if err := d.Sync(file); err != nil {
			return 0, err
		}
		if err := d.WriteAt(file, contents, offset); err != nil {
			return 0, err
		}
		return len(contents), d.Sync(file)
	}
	db.NoSync = true
	return nil
}

// hook returns the function with which a database writes. bbolt has it for its own tests.
func hook(db *bolt.DB) (*func([]byte, int64) (int, error), error) {
	field := reflect.ValueOf(db).Elem().FieldByName("ops")
	if field.IsValid() {
		field = field.FieldByName("writeAt")
	}
	if !field.IsValid() || field.Type() != reflect.TypeFor[func([]byte, int64) (int, error)]() {
		return nil, errors.New("this version of bbolt has another hook for its writes")
	}
	return (*func([]byte, int64) (int, error))(unsafe.Pointer(field.UnsafeAddr())), nil // #nosec G103 -- the type is the field's
}

// Step is a step on another file. It returns an error if the process is killed, now or before.
func (d *Disk) Step() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.stepLocked()
}

func (d *Disk) stepLocked() error {
	if d.untilKill == 0 {
		d.isKilled = true
	}
	if d.isKilled {
		d.untilKill = never
		return ErrKilled
	}
	if d.untilKill > 0 {
		d.untilKill--
	}
	return nil
}

// WriteAt writes to the file and remembers what was there.
func (d *Disk) WriteAt(file *os.File, contents []byte, offset int64) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	wasKilled := d.isKilled
	err := d.stepLocked()
	if wasKilled {
		return err
	}
	if err != nil {
		contents = contents[:d.once().IntN(len(contents)/pageBytes+1)*pageBytes]
	}
	if d.space > 0 && offset+int64(len(contents)) > d.space {
		return fmt.Errorf("write: %w", syscall.ENOSPC)
	}
	if offset%sectorBytes != 0 || len(contents)%sectorBytes != 0 {
		return fmt.Errorf("a write of %d bytes at %d is not one of sectors", len(contents), offset)
	}
	before, written := make([]byte, len(contents)), slices.Clone(contents)
	if _, err := file.ReadAt(before, offset); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	for at := 0; at < len(contents); at += sectorBytes {
		number := (offset + int64(at)) / sectorBytes
		s, isKnown := d.sectors[number]
		if !isKnown {
			s.versions = [][]byte{before[at : at+sectorBytes]}
		}
		s.versions = append(s.versions, written[at:at+sectorBytes])
		s.isClean = false
		d.sectors[number] = s
	}
	if _, err := file.WriteAt(contents, offset); err != nil {
		return err
	}
	return err
}

// Sync makes durable what was written since the last sync.
func (d *Disk) Sync(*os.File) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.stepLocked(); err != nil {
		return err
	}
	if d.untilFailure == 0 {
		d.untilFailure = never
		for number, s := range d.sectors {
			s.isClean = true
			d.sectors[number] = s
		}
		return fmt.Errorf("sync: %w", syscall.EIO)
	}
	if d.untilFailure > 0 {
		d.untilFailure--
	}
	maps.DeleteFunc(d.sectors, func(_ int64, s sector) bool { return !s.isClean })
	return nil
}

// SyncDirectory makes the name of the file durable, if it has got it.
func (d *Disk) SyncDirectory(path string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.stepLocked(); err != nil {
		return err
	}
	if _, err := os.Stat(d.path); err == nil && path == filepath.Dir(d.path) {
		d.isNamed = true
	}
	return nil
}

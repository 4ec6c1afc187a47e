package embedded

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"

	bolt "go.etcd.io/bbolt"
)

// bbolt never overwrites a page in use. So a deletion, too, needs free pages or a longer file, and on a
// full disk it would fail. Therefore the engine keeps space in a file of its own. When a commit that
// makes the store no larger finds no space, the engine removes that file and commits again. From then on
// it refuses writes that make the store larger, until it can keep as much space again: on the disk, or in
// free pages of the store.
const (
	reserveSuffix = ".reserve"
	reserveBytes  = 4 << 20
	// growthBytes is what a write that makes the store larger takes beside its documents: pages that
	// it changes, and index entries.
	growthBytes = 16 << 10
)

// reserve is the space that is kept on the disk. Only the committer uses it.
type reserve struct {
	// store is the path of the store.
	store string
	// isKept reports that the file is there.
	isKept bool
	// isOff reports that the file system cannot keep space for a file.
	isOff bool
	// lack is why the file could not be made.
	lack error
}

// newReserve makes the reserve of a store. It stays after the end of the process.
func newReserve(db *bolt.DB) *reserve {
	store := db.Path()
	if target, err := filepath.EvalSymlinks(store); err == nil {
		store = target
	}
	r := &reserve{store: store, isOff: db.IsReadOnly()}
	r.keep()
	return r
}

// keep makes the file if it is missing, and reports whether it is there.
func (r *reserve) keep() bool {
	if r.isKept || r.isOff {
		return r.isKept
	}
	r.lack = makeReserve(r.store)
	r.isKept, r.isOff = r.lack == nil, r.lack != nil && !isDiskFull(r.lack)
	return r.isKept
}

func makeReserve(store string) error {
	path := store + reserveSuffix
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600) // #nosec G304 -- beside the operator's own file
	if err != nil {
		return err
	}
	err = allocate(file, reserveBytes)
	if err = errors.Join(err, file.Close(), TakeAttributes(path, store)); err != nil {
		err = errors.Join(err, os.Remove(path))
	}
	return err
}

// release gives the space to the store, and reports whether there was any.
func (r *reserve) release() bool {
	if !r.isKept {
		return false
	}
	r.isKept = false
	return os.Remove(r.store+reserveSuffix) == nil
}

// refuse returns an error for a write that makes the store larger, if the space for deletions is not
// there. free is how many bytes of the store are free pages beyond that space; the write takes its part.
func (r *reserve) refuse(bytes int, free *int64) error {
	if *free -= int64(2*bytes + growthBytes); *free >= 0 {
		return nil
	}
	return fmt.Errorf("the disk is full, and the last %d MiB are kept for deletions; free some space: %w", reserveBytes>>20, r.lack)
}

// refuseGrowth sends the writes that make the store larger their error, if the reserve is not there, and
// returns the others.
func (c *committer) refuseGrowth(batch []*write) (rest []*write) {
	isGrowth := func(w *write) bool { return w.isGrowth }
	if !slices.ContainsFunc(batch, isGrowth) || c.reserve.keep() || c.reserve.isOff {
		return batch
	}
	free := c.list.free() - reserveBytes
	for _, w := range batch {
		if w.isGrowth {
			if err := c.reserve.refuse(w.bytes, &free); err != nil {
				w.done <- err
				continue
			}
		}
		rest = append(rest, w)
	}
	return rest
}

// free returns about how many bytes of the file are free pages.
func (l *freeList) free() int64 {
	last, found, err := readMeta(l.file)
	if err != nil || !found {
		return 0
	}
	if last.list == noList {
		return listShare / pageIDBytes * last.pageBytes // it was too long to be written
	}
	var header [pageHeaderBytes + pageIDBytes]byte
	if _, err := l.file.ReadAt(header[:], int64(last.list)*last.pageBytes); err != nil { // #nosec G115 -- it is below pages
		return 0
	}
	// A count that does not fit the header is the first number of the list.
	count := uint64(binary.NativeEndian.Uint16(header[countAt:]))
	if count == math.MaxUint16 {
		count = binary.NativeEndian.Uint64(header[pageHeaderBytes:])
	}
	return int64(count) * last.pageBytes // #nosec G115 -- a file has fewer pages than 2^63
}

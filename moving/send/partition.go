package send

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/waybook/waybook/moving/movefile"
)

// partition spreads items over files, so that items with the same key are in one file, which fits
// into memory. A bucket without items has no file, and one with few has none before save. It is safe
// for concurrent use while it is written.
type partition struct {
	folder  string
	buckets []bucket
}

type bucket struct {
	mu   sync.Mutex
	file *os.File
	// rest holds the last items, those that are not in the file. It stays in memory if there is no file.
	rest []byte
}

// bucketBuffer bounds the bytes of a bucket's rest.
const bucketBuffer = 16 << 10

// newPartition makes the folder of a partition.
func newPartition(folder string, count int) (*partition, error) {
	return &partition{folder: folder, buckets: make([]bucket, count)}, os.Mkdir(folder, 0o700)
}

func (p *partition) path(i int) string { return filepath.Join(p.folder, fmt.Sprintf("%03d", i)) }

// item is what a bucket holds: some bytes about a record at a position. Items with the same key are in
// the same bucket.
type item struct {
	at        movefile.Position
	key, data []byte
}

// headBytes is the length of an item's head: 2 bytes for the file, 6 for the line, 4 for each length.
const headBytes = 16

// add adds an item to a bucket.
func (p *partition) add(i int, each item) error {
	var head [headBytes]byte
	binary.LittleEndian.PutUint64(head[:8], uint64(each.at.File)<<48|uint64(each.at.Line)) // #nosec G115 -- both are positive
	binary.LittleEndian.PutUint32(head[8:], uint32(len(each.key)))                         // #nosec G115 -- a line is bounded
	binary.LittleEndian.PutUint32(head[12:], uint32(len(each.data)))                       // #nosec G115 -- a line is bounded
	b := &p.buckets[i]
	b.mu.Lock()
	defer b.mu.Unlock()
	b.rest = append(append(append(b.rest, head[:]...), each.key...), each.data...)
	if len(b.rest) > bucketBuffer {
		return p.write(i)
	}
	return nil
}

// write moves the rest of a bucket to its file.
func (p *partition) write(i int) (err error) {
	b := &p.buckets[i]
	if b.file == nil {
		if b.file, err = os.OpenFile(p.path(i), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
			return err
		}
	}
	_, err = b.file.Write(b.rest)
	if b.rest = b.rest[:0]; cap(b.rest) > 2*bucketBuffer {
		b.rest = nil // a large item would hold its memory
	}
	return err
}

// close ends the writing. The items can be read then.
func (p *partition) close() (err error) {
	for i := range p.buckets {
		if b := &p.buckets[i]; b.file != nil {
			err = errors.Join(err, p.write(i), b.file.Close())
			b.file, b.rest = nil, nil
		}
	}
	return err
}

// save is close for all items, so that sync and a later process find them in files.
func (p *partition) save() (err error) {
	for i := range p.buckets {
		if len(p.buckets[i].rest) > 0 {
			err = errors.Join(err, p.write(i))
		}
	}
	return errors.Join(err, p.close())
}

// sync makes the files of a partition that was saved survive a power failure, and returns their size, which is
// smaller if the folder loses one.
func (p *partition) sync() (int64, error) {
	files, err := os.ReadDir(p.folder)
	for _, each := range files {
		file, opening := os.OpenFile(filepath.Join(p.folder, each.Name()), os.O_RDWR, 0)
		if opening != nil {
			return 0, opening
		}
		err = errors.Join(err, file.Sync(), file.Close())
	}
	size, sizing := p.size()
	return size, errors.Join(err, sizing)
}

// size returns the bytes of the files.
func (p *partition) size() (total int64, err error) {
	files, err := os.ReadDir(p.folder)
	for _, each := range files {
		info, err := each.Info()
		if err != nil {
			return 0, err
		}
		total += info.Size()
	}
	return total, err
}

// read returns the items of a bucket in the order of their positions in the files of one reader.
func (p *partition) read(i int) ([]item, error) {
	data := p.buckets[i].rest
	if len(data) == 0 {
		var err error
		if data, err = os.ReadFile(p.path(i)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	var items []item
	for len(data) > 0 {
		if len(data) < headBytes {
			return nil, fmt.Errorf("%s: %w", p.path(i), io.ErrUnexpectedEOF)
		}
		place := binary.LittleEndian.Uint64(data)
		ofKey, length := int(binary.LittleEndian.Uint32(data[8:])), int(binary.LittleEndian.Uint32(data[12:]))
		data = data[headBytes:]
		if len(data) < ofKey+length {
			return nil, fmt.Errorf("%s: %w", p.path(i), io.ErrUnexpectedEOF)
		}
		at := movefile.Position{File: int(place >> 48), Line: int64(place & (1<<48 - 1))} // #nosec G115 -- 16 and 48 bits
		items = append(items, item{at, data[:ofKey], data[ofKey : ofKey+length]})
		data = data[ofKey+length:]
	}
	return items, nil
}

// firstBuckets returns the numbers of so many buckets.
func firstBuckets(count int) []int {
	all := make([]int, count)
	for n := range all {
		all[n] = n
	}
	return all
}

// bucketOf returns the bucket of a key.
func bucketOf(space string, id movefile.ID, count int) int {
	const offset, prime = 14695981039346656037, 1099511628211 // FNV-1a
	hash := uint64(offset)
	for i := range len(space) {
		hash = (hash ^ uint64(space[i])) * prime
	}
	for i := range len(id) {
		hash = (hash ^ uint64(id[i])) * prime
	}
	hash ^= hash >> 32
	return int(hash % uint64(count)) // #nosec G115 -- below count
}

package importer

import (
	"encoding/binary"
	"hash/maphash"
	"os"
)

// index is a set of keys with a value each, which is not 0, on disk: a hash table in a scratch
// file. The first 16 bits of a key's hash name its bucket. A bucket is a part of the file; when it
// is full, it moves to the end of the file, with twice the room. The kernel caches the file.
//
// Two keys with the same 64 bits of a hash count as the same one: among 20 million keys, with a
// probability of 1 in 100,000. The hash has a new seed in each run.
type index struct {
	file    scratch
	seed    maphash.Seed
	buckets [1 << 16]bucket
	// end is the size of the file.
	end int64
	// held is the bucket in memory, and slots its content: a hash and a value of 8 bytes each.
	held  *bucket
	slots []byte
	// recent has keys that were found, each in the place that its hash says: those of a parent's
	// many children.
	recent [1 << 16]struct{ hash, value uint64 }
	// err is the first error. After it, nothing is read or written.
	err error
}

// bucket is where a bucket is, and how many bytes it has and uses.
type bucket struct {
	at         int64
	size, used int
}

const (
	slotBytes = 16
	// firstBytes is the size of a bucket with one key.
	firstBytes = 4 * slotBytes
)

// newIndex makes an empty index in a folder; "" is the system's folder for temporary files.
func newIndex(folder string) (*index, error) {
	file, err := newScratch(folder)
	return &index{file: file, seed: maphash.MakeSeed()}, err
}

// scratch is a temporary file. Some systems delete it only when it is closed.
type scratch struct{ *os.File }

func newScratch(folder string) (scratch, error) {
	file, err := os.CreateTemp(folder, "waybook-move-")
	if err == nil {
		_ = os.Remove(file.Name())
	}
	return scratch{file}, err
}

// Close closes and deletes the file.
func (s scratch) Close() error {
	defer func() { _ = os.Remove(s.Name()) }() // most often it is removed already
	return s.File.Close()
}

func (x *index) hash(key string) uint64 { return max(1, maphash.String(x.seed, key)) }

// get returns the value of a key by its hash; 0 if the key is not there.
func (x *index) get(hash uint64) (value uint64) {
	recent := &x.recent[hash%uint64(len(x.recent))]
	if recent.hash == hash {
		return recent.value
	}
	if _, at := x.find(hash); at < len(x.slots) {
		value = binary.LittleEndian.Uint64(x.slots[at+8:])
		recent.hash, recent.value = hash, value
	}
	return value
}

// add adds a key that is not there, by its hash.
func (x *index) add(hash, value uint64) {
	b, at := x.find(hash)
	x.slots = binary.LittleEndian.AppendUint64(x.slots, hash)
	x.slots = binary.LittleEndian.AppendUint64(x.slots, value)
	if b.used = len(x.slots); b.used > b.size {
		b.at, b.size, at = x.end, max(firstBytes, 2*b.size), 0
		x.end += int64(b.size)
	}
	if x.err == nil {
		_, x.err = x.file.WriteAt(x.slots[at:], b.at+int64(at))
	}
}

// find reads the bucket of a hash, and returns the offset of its slot, or the end of the bucket.
func (x *index) find(hash uint64) (b *bucket, at int) {
	b = &x.buckets[hash>>48]
	if b != x.held && x.err == nil {
		x.held, x.slots = b, append(x.slots[:0], make([]byte, b.used)...)
		_, x.err = x.file.ReadAt(x.slots, b.at)
	}
	for at < len(x.slots) && binary.LittleEndian.Uint64(x.slots[at:]) != hash {
		at += slotBytes
	}
	return b, at
}

package importer

import (
	"encoding/binary"
	"hash/maphash"
	"os"
)

// index is a set of keys with a value each, which is not 0, on disk: extendible hashing in a scratch file. A table in memory
// leads from the first bits of a key's hash to a page of the file, and a page that is full splits in two. The table takes
// 4 bytes for about a hundred keys; the kernel caches the pages.
//
// Two keys with the same 64 bits of a hash count as the same one: among 20 million keys, with a probability of 1 in
// 100,000. The hash has a new seed in each run.
type index struct {
	file *os.File
	seed maphash.Seed
	// table has the page of each value of the first depth bits of a hash. Depths are how many bits the keys of a page have
	// in common.
	table  []uint32
	depth  uint8
	depths []uint8
	// page is the page in memory, whose number is held.
	page [pageBytes]byte
	held uint32
	// recent has keys that were found, each in the place that its hash says: those of a parent's many children.
	recent [1 << 16]struct{ hash, value uint64 }
	// err is the first error. After it, nothing is read or written.
	err error
}

const (
	pageBytes = 4096
	// slotBytes are those of a hash, which is 0 in a free slot, and a value.
	slotBytes = 16
)

// newIndex makes an empty index in a folder; "" is the system's folder for temporary files.
func newIndex(folder string) (*index, error) {
	file, err := os.CreateTemp(folder, "waybook-move-")
	if err != nil {
		return nil, err
	}
	_ = os.Remove(file.Name()) // some systems refuse it while the file is open; close removes it there
	x := &index{file: file, seed: maphash.MakeSeed(), table: []uint32{0}, depths: []uint8{0}}
	x.write(x.page[:], 0, 0)
	return x, nil
}

// close removes the index.
func (x *index) close() error {
	defer func() { _ = os.Remove(x.file.Name()) }() // most often it is removed already
	return x.file.Close()
}

// hash returns the hash of a key.
func (x *index) hash(key string) uint64 { return max(1, maphash.String(x.seed, key)) }

// get returns the value of a key by its hash; 0 if the key is not there.
func (x *index) get(hash uint64) (value uint64) {
	recent := &x.recent[hash%uint64(len(x.recent))]
	if recent.hash == hash {
		return recent.value
	}
	if _, at := x.find(hash); at < pageBytes {
		value = binary.LittleEndian.Uint64(x.page[at+8:])
	}
	if value != 0 {
		recent.hash, recent.value = hash, value
	}
	return value
}

// put sets the value of a key by its hash.
func (x *index) put(hash, value uint64) {
	page, at := x.find(hash)
	for ; at == pageBytes && x.err == nil; page, at = x.find(hash) {
		x.split(page)
	}
	if x.err != nil {
		return
	}
	slot := x.page[at : at+slotBytes]
	binary.LittleEndian.PutUint64(slot, hash)
	binary.LittleEndian.PutUint64(slot[8:], value)
	x.write(slot, page, at)
	if recent := &x.recent[hash%uint64(len(x.recent))]; recent.hash == hash {
		recent.value = value
	}
}

// find reads the page of a hash, and returns the offset of its slot, of the first free slot, or pageBytes.
func (x *index) find(hash uint64) (page uint32, at int) {
	page = x.table[hash>>1>>(63-x.depth)]
	if page != x.held && x.err == nil {
		_, x.err = x.file.ReadAt(x.page[:], int64(page)*pageBytes)
		x.held = page
	}
	for ; at < pageBytes; at += slotBytes {
		if found := binary.LittleEndian.Uint64(x.page[at:]); found == hash || found == 0 {
			break
		}
	}
	return page, at
}

// split moves those keys of the page in memory to a new page that have a 1 behind the bits that all have in common.
func (x *index) split(page uint32) {
	full, depth := x.page, x.depths[page]
	if depth == x.depth {
		twice := make([]uint32, 2*len(x.table))
		for n := range twice {
			twice[n] = x.table[n/2]
		}
		x.table, x.depth = twice, x.depth+1
	}
	added, shift := uint32(len(x.depths)), x.depth-depth-1 // #nosec G115 -- 2^32 pages are 16 TiB
	x.depths[page]++
	x.depths = append(x.depths, depth+1)
	first := binary.LittleEndian.Uint64(full[:]) >> 1 >> (63 - x.depth) >> (shift + 1) << (shift + 1)
	for n := first | 1<<shift; n < first+2<<shift; n++ {
		x.table[n] = added
	}
	for bit, to := range []uint32{page, added} {
		clear(x.page[:])
		end := 0
		for at := 0; at < pageBytes; at += slotBytes {
			if hash := binary.LittleEndian.Uint64(full[at:]); hash<<depth>>63 == uint64(bit) { // #nosec G115 -- 0 or 1
				end += copy(x.page[end:], full[at:at+slotBytes])
			}
		}
		x.held = to
		x.write(x.page[:], to, 0)
	}
}

// write writes a part of a page.
func (x *index) write(part []byte, page uint32, at int) {
	if x.err == nil {
		_, x.err = x.file.WriteAt(part, int64(page)*pageBytes+int64(at))
	}
}

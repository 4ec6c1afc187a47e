// Package spoil changes fields of the pages of a store's file, for tests of what programs do with
// damaged stores.
package spoil

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
)

const (
	headerBytes, elementBytes, bucketBytes = 16, 16, 16
	// in a meta page
	rootAt, listAt, pagesAt, commitAt = headerBytes + 16, headerBytes + 32, headerBytes + 40, headerBytes + 48
	sumAt                             = headerBytes + 56
	branch, leaf, meta, list          = 1, 2, 4, 16
)

// field is a number in a page.
type field struct{ page, at, size int }

// spoiler collects the fields of a file by what they are.
type spoiler struct {
	file      []byte
	pageBytes int
	fields    map[string][]field
}

var order = binary.NativeEndian

// Change gives a random field of the pages in use another value, and says what it did. The sum of
// a meta page that it changes is right in half of the cases. Otherwise that page is invalid, and
// the file is as it was a commit before.
func Change(file []byte, random *rand.Rand) (what string) {
	s := spoiler{file, os.Getpagesize(), map[string][]field{}}
	newest := 0
	for page := range 2 {
		s.add("page", page, page*s.pageBytes)
		if s.number(page*s.pageBytes+commitAt) > s.number(newest+commitAt) {
			newest = page * s.pageBytes
		}
	}
	s.addTree(s.number(newest + rootAt))
	list := s.number(newest + listAt)
	s.add("page", list, list*s.pageBytes)
	inUse := s.number(newest + pagesAt)
	names := slices.Sorted(maps.Keys(s.fields))
	name := names[random.IntN(len(names))]
	f := s.fields[name][random.IntN(len(s.fields[name]))]
	before := s.read(f)
	most := ^uint64(0) >> (64 - 8*f.size)
	values := []uint64{0, 1, 2, most, most >> 1, most - 1, before + 1, before - 1, before ^ 1<<random.IntN(8*f.size),
		uint64(random.IntN(inUse)), uint64(random.IntN(1 << 16)), random.Uint64()}
	after := values[random.IntN(len(values))] & most
	if after == before {
		after = (before + 1) & most
	}
	s.write(f, after)
	if isMeta := f.page < 2 && f.at%s.pageBytes >= headerBytes; isMeta && random.IntN(2) == 0 {
		sum := fnv.New64a()
		start := f.page * s.pageBytes
		_, _ = sum.Write(file[start+headerBytes : start+sumAt]) // never fails
		order.PutUint64(file[start+sumAt:], sum.Sum64())
		what = ", with a right sum"
	}
	return fmt.Sprintf("%s in page %d: %#x became %#x%s", name, f.page, before, after, what)
}

func (s spoiler) number(at int) int { return int(order.Uint64(s.file[at:])) } // #nosec G115 -- a small file

// addTree notes the fields of a page and of those below.
func (s spoiler) addTree(page int) {
	at := page * s.pageBytes
	s.add("page", page, at)
	if order.Uint16(s.file[at+8:]) == branch {
		for i := range int(order.Uint16(s.file[at+10:])) {
			s.addTree(s.number(at + headerBytes + i*elementBytes + 8))
		}
	}
}

func (s spoiler) note(name string, page, at, size int) {
	s.fields[name] = append(s.fields[name], field{page, at, size})
}

// add notes the fields of a page, or of the bucket in the value of an element.
func (s spoiler) add(of string, page, at int) {
	s.note(of+": id", page, at, 8)
	s.note(of+": flags", page, at+8, 2)
	s.note(of+": count", page, at+10, 2)
	s.note(of+": overflow", page, at+12, 4)
	first := at + headerBytes
	count := int(order.Uint16(s.file[at+10:]))
	switch order.Uint16(s.file[at+8:]) {
	case meta:
		for i, name := range []string{"magic", "version", "page size", "flags"} {
			s.note("meta: "+name, page, first+4*i, 4)
		}
		for i, name := range []string{"root", "sequence", "freelist", "pgid", "txid", "sum"} {
			s.note("meta: "+name, page, first+16+8*i, 8)
		}
	case list:
		for i := range min(count, 100) {
			s.note("free page", page, first+8*i, 8)
		}
	case branch:
		for i := range count {
			s.note("branch: pos", page, first+i*elementBytes, 4)
			s.note("branch: ksize", page, first+i*elementBytes+4, 4)
			s.note("branch: pgid", page, first+i*elementBytes+8, 8)
		}
	case leaf:
		for i := range count {
			s.addElement(of, page, first+i*elementBytes)
		}
	}
}

func (s spoiler) addElement(of string, page, at int) {
	for i, name := range []string{"flags", "pos", "ksize", "vsize"} {
		s.note(of+" leaf: "+name, page, at+4*i, 4)
	}
	if order.Uint32(s.file[at:])&1 == 0 {
		return
	}
	value := at + int(order.Uint32(s.file[at+4:])) + int(order.Uint32(s.file[at+8:]))
	s.note("bucket: root", page, value, 8)
	s.note("bucket: sequence", page, value+8, 8)
	if root := s.number(value); root == 0 {
		s.add("bucket", page, value+bucketBytes)
	} else {
		s.addTree(root)
	}
}

func (s spoiler) read(f field) uint64 {
	raw := make([]byte, 8)
	copy(raw, s.file[f.at:f.at+f.size])
	return binary.LittleEndian.Uint64(raw)
}

func (s spoiler) write(f field, value uint64) {
	copy(s.file[f.at:f.at+f.size], binary.LittleEndian.AppendUint64(nil, value))
}

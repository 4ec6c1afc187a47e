package embedded

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	bolt "go.etcd.io/bbolt"
)

// bbolt trusts the pages of its file. One wrong number makes it allocate, loop or recurse without
// end, also in goroutines that no caller can recover. So each opening follows all pages before
// bbolt follows one. It reads the file and not the mapping, visits each page once, and compares
// each number with what it must fit into.

const (
	metaPages = 2 // the first pages of a file

	branchPage, leafPage, listPage = 1, 2, 16 // what a page is, in its header

	// An element of a branch page is the position of its key, the size of its key, and a page. One
	// of a leaf page is flags, the position of its key, the size of its key, and that of its
	// value.
	elementBytes = 16
	// bucketBytes is the beginning of a bucket in its parent: its first page and a number. A small
	// bucket has no page; a leaf page follows as if it was one.
	bucketBytes = 16
	isBucket    = 1 // the flag of such an element

	// maxDepth bounds the pages from the root of all buckets to a document.
	maxDepth = 64
	// maxBranchKeys bounds the keys of a branch page that takes several pages. bbolt splits one
	// with more than four.
	maxBranchKeys = 8
	// maxFaults bounds the faults that are kept.
	maxFaults = 20
)

// DamageError reports that a store's file is damaged.
type DamageError struct {
	// Faults are the first ones of Count.
	Faults []string
	Count  int
}

func (e *DamageError) Error() string {
	text := "the file is damaged; restore a backup: " + strings.Join(e.Faults, "; ")
	if more := e.Count - len(e.Faults); more > 0 {
		text += fmt.Sprintf("; and %d more faults", more)
	}
	return text
}

// damage returns an error with one fault.
func damage(format string, args ...any) *DamageError {
	return &DamageError{[]string{fmt.Sprintf(format, args...)}, 1}
}

// pages is a walk over all pages of a snapshot.
type pages struct {
	ctx  context.Context
	file io.ReaderAt
	meta meta
	// used has a bit for each page that was met, and met is how many they are.
	used    []uint64
	met     int64
	entered int
	// heads are the beginnings of the pages from the root to the present one.
	heads  [maxDepth][]byte
	damage DamageError
	// failure ends the walk.
	failure error
}

// block is a page, or what a small bucket has in its place.
type block struct {
	page   uint64
	offset int64 // in the file
	size   int64
	head   []byte
	flags  uint16
	count  int
	// isInline: it is in the value of an element.
	isInline bool
}

// checkPages follows all pages of a snapshot, and returns how many are free. Errors: *DamageError.
func checkPages(ctx context.Context, file io.ReaderAt, tx *bolt.Tx) (free int64, err error) {
	var first firstPage
	_, _ = tx.WriteTo(&first) // ends with its error, once it has the meta page
	current, isValid := parseMeta(first)
	if !isValid {
		return 0, damage("the snapshot has no valid meta page")
	}
	p := &pages{ctx: ctx, file: file, meta: current, used: make([]uint64, current.pages/64+1)}
	p.tree(current.root, nil, nil, 0, true)
	free = current.pages - metaPages - p.met
	if current.list != noList {
		free = p.freePages()
		if lost := current.pages - metaPages - p.met; lost > 0 && p.damage.Count == 0 {
			p.fault(current.list, "the list of free pages lacks %d that are not in use", lost)
		}
	}
	if p.failure != nil {
		return 0, p.failure
	}
	if p.damage.Count > 0 {
		return 0, &p.damage
	}
	return free, nil
}

// firstPage is a writer that keeps the meta page of a copy.
type firstPage []byte

func (f *firstPage) Write(page []byte) (int, error) {
	*f = bytes.Clone(page)
	return 0, io.ErrShortWrite
}

func (p *pages) fault(page uint64, format string, args ...any) {
	if p.damage.Count++; p.damage.Count <= maxFaults {
		p.damage.Faults = append(p.damage.Faults, fmt.Sprintf("page %d: ", page)+fmt.Sprintf(format, args...))
	}
}

// tree checks the part of a bucket that is below a page. Its first key is that in the page above,
// by which bbolt finds it again when it changes, and all are before end; nil is no limit.
func (p *pages) tree(page uint64, first, end []byte, depth int, hasBuckets bool) {
	if depth == maxDepth {
		p.fault(page, "it is below %d others", depth)
		return
	}
	b, ok := p.enter(page, depth, branchPage, leafPage)
	if !ok {
		return
	}
	below := p.elements(b, first, end, depth, hasBuckets)
	for i, each := range below {
		next := end
		if i+1 < len(below) {
			next = below[i+1].key
		}
		p.tree(each.page, each.key, next, depth+1, hasBuckets)
	}
}

// enter reads the header of a page of some kinds, and notes that it is used, with the pages behind
// it that it takes.
func (p *pages) enter(page uint64, depth int, kinds ...uint16) (b block, ok bool) {
	if p.entered++; p.failure == nil && p.entered%checkEvery == 1 {
		p.failure = p.ctx.Err()
	}
	if p.failure != nil {
		return b, false
	}
	count := uint64(p.meta.pages) // #nosec G115 -- it is positive
	if page < metaPages || page >= count {
		p.fault(page, "it is referred to, and pages go from %d to %d", metaPages, count-1)
		return b, false
	}
	b = block{page: page, offset: int64(page) * p.meta.pageBytes, size: p.meta.pageBytes} // #nosec G115 -- it is below count
	if p.heads[depth] == nil {
		p.heads[depth] = make([]byte, min(p.meta.pageBytes, headBytes))
	}
	header := p.read(b, 0, int64(len(p.heads[depth])), p.heads[depth])
	if header == nil {
		return b, false
	}
	b.head = header
	order := binary.NativeEndian
	b.flags, b.count = order.Uint16(header[flagsAt:]), int(order.Uint16(header[countAt:]))
	further := uint64(order.Uint32(header[overflowAt:]))
	switch own := order.Uint64(header); {
	case own != page:
		p.fault(page, "it has the number %d", own)
		return b, false
	case !slices.Contains(kinds, b.flags):
		p.fault(page, "it is of the kind %#x", b.flags)
		return b, false
	case further >= count-page:
		p.fault(page, "it takes %d further pages, and the file has %d", further, count)
		return b, false
	}
	for each := page; each <= page+further; each++ {
		if !p.meet(each) {
			p.fault(each, "it is in use twice")
			return b, false
		}
	}
	b.size += int64(further) * p.meta.pageBytes // #nosec G115 -- at most the size of the file
	return b, true
}

// meet notes that a page is used, and reports whether it was not.
func (p *pages) meet(page uint64) bool {
	word, bit := &p.used[page/64], uint64(1)<<(page%64)
	if *word&bit != 0 {
		return false
	}
	*word |= bit
	p.met++
	return true
}

// read returns bytes of a block; nil if the walk has failed.
func (p *pages) read(b block, at, n int64, into []byte) []byte {
	if at+n <= int64(len(b.head)) {
		return b.head[at : at+n]
	}
	if into == nil {
		into = make([]byte, n)
	}
	if _, err := p.file.ReadAt(into, b.offset+at); err != nil {
		p.failure = fmt.Errorf("read page %d: %w", b.page, err)
		return nil
	}
	return into
}

// child is an element of a branch page.
type child struct {
	page uint64
	key  []byte
}

// elements checks the elements of a branch page, which it returns, or of a leaf page. Behind them,
// bbolt writes each key and its value without a gap, in as many pages as that takes.
func (p *pages) elements(b block, first, last []byte, depth int, hasBuckets bool) (below []child) {
	order, isBranch, end := binary.NativeEndian, b.flags == branchPage, int64(pageHeaderBytes+b.count*elementBytes)
	if end > b.size || b.count == 0 && (isBranch || first != nil) ||
		isBranch && (b.size > p.meta.pageBytes+maxBranchKeys*bolt.MaxKeySize) {
		p.fault(b.page, "it has %d elements in %d bytes", b.count, b.size)
		return nil
	}
	var before []byte
	for i := range b.count {
		at := int64(pageHeaderBytes + i*elementBytes)
		raw := p.read(b, at, elementBytes, nil)
		if raw == nil {
			return nil
		}
		field := func(i int) int64 { return int64(order.Uint32(raw[4*i:])) }
		flags, position, keySize, valueSize := field(0), field(1), field(2), field(3)
		if isBranch {
			flags, position, keySize, valueSize = 0, field(0), field(1), 0
		}
		if at+position != end || keySize == 0 || keySize > bolt.MaxKeySize || valueSize > b.size-end-keySize {
			p.fault(b.page, "its element %d is not where it should be: it has a key of %d bytes and a "+
				"value of %d at %d", i, keySize, valueSize, at+position)
			return nil
		}
		key := p.read(b, end, keySize, nil)
		if key == nil {
			return nil
		}
		if i == 0 && first != nil && !bytes.Equal(key, first) || i > 0 && bytes.Compare(key, before) <= 0 ||
			last != nil && bytes.Compare(key, last) >= 0 {
			p.fault(b.page, "the key of its element %d is out of order", i)
			return nil
		}
		before = key
		switch value := end + keySize; {
		case isBranch:
			below = append(below, child{order.Uint64(raw[8:]), key})
		case hasBuckets && flags == isBucket && valueSize >= bucketBytes:
			p.bucket(b, value, valueSize, depth)
		case hasBuckets || flags != 0:
			p.fault(b.page, "its element %d has the flags %#x and %d bytes", i, flags, valueSize)
		}
		if p.failure != nil {
			return nil
		}
		end += keySize + valueSize
	}
	if taken := b.size / p.meta.pageBytes; b.isInline && end != b.size ||
		!b.isInline && taken != (end+p.meta.pageBytes-1)/p.meta.pageBytes && taken != end/p.meta.pageBytes+1 {
		p.fault(b.page, "its elements take %d of %d bytes", end, b.size)
		return nil
	}
	return below
}

// bucket checks the bucket in the value of an element.
func (p *pages) bucket(b block, at, size int64, depth int) {
	order := binary.NativeEndian
	begin := p.read(b, at, bucketBytes, nil)
	if begin == nil {
		return
	}
	if root := order.Uint64(begin); root != 0 {
		if size != bucketBytes {
			p.fault(b.page, "a bucket with a page of its own has %d bytes", size)
			return
		}
		p.tree(root, nil, nil, depth+1, false)
		return
	}
	at += bucketBytes
	inside := block{page: b.page, offset: b.offset + at, size: size - bucketBytes, isInline: true,
		head: b.head[min(at, int64(len(b.head))):]}
	if inside.size < pageHeaderBytes {
		p.fault(b.page, "a small bucket has %d bytes", size)
		return
	}
	header := p.read(inside, 0, pageHeaderBytes, nil)
	if header == nil {
		return
	}
	inside.flags, inside.count = order.Uint16(header[flagsAt:]), int(order.Uint16(header[countAt:]))
	if order.Uint64(header) != 0 || inside.flags != leafPage || order.Uint32(header[overflowAt:]) != 0 {
		p.fault(b.page, "a small bucket does not begin as one")
		return
	}
	p.elements(inside, nil, nil, depth, false)
}

// freePages checks the list of free pages and returns how many there are.
func (p *pages) freePages() (free int64) {
	b, ok := p.enter(p.meta.list, 0, listPage)
	if !ok {
		return 0
	}
	order, begin, count := binary.NativeEndian, int64(pageHeaderBytes), uint64(b.count)
	if count == math.MaxUint16 { // the first number of the list is the count
		begin += pageIDBytes
		if b.size < begin {
			return 0
		}
		first := p.read(b, pageHeaderBytes, pageIDBytes, nil)
		if first == nil {
			return 0
		}
		count = order.Uint64(first)
	}
	if count > uint64(b.size-begin)/pageIDBytes { // #nosec G115 -- a page is larger than its header
		p.fault(b.page, "the list of free pages has %d of them in %d bytes", count, b.size)
		return 0
	}
	const piece = 512
	for last := uint64(metaPages - 1); uint64(free) < count; { // #nosec G115 -- it counts up
		ids := p.read(b, begin+free*pageIDBytes, min(int64(count)-free, piece)*pageIDBytes, nil) // #nosec G115 -- it is at most b.size
		if ids == nil {
			return 0
		}
		for ; len(ids) > 0; ids = ids[pageIDBytes:] {
			id := order.Uint64(ids)
			if id <= last || id >= uint64(p.meta.pages) || !p.meet(id) { // #nosec G115 -- it is positive
				p.fault(b.page, "the list of free pages has page %d behind %d: it is in use, out of order, or "+
					"not in the file", id, last)
				return 0
			}
			last = id
			free++
		}
	}
	return free
}

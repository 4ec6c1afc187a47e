//go:build linux

package faults

import (
	"encoding/binary"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"testing"
)

// storeFile is the file of the embedded store in its directory.
const storeFile = "waybook.db"

// The offsets of the fields in bbolt's meta pages, which are the first two pages of the file.
const (
	pageHeader    = 16
	magicAt       = 0
	pageSizeAt    = 8
	pagesAt       = 40
	transactionAt = 48
	checksumAt    = 56
	magic         = 0xED0CDAED
)

// meta holds the fields of a meta page.
type meta struct{ pageSize, pages, transaction int64 }

func readMeta(page []byte) (meta, bool) {
	fields := page[pageHeader:]
	sum := fnv.New64a()
	_, _ = sum.Write(fields[:checksumAt])
	isValid := binary.NativeEndian.Uint32(fields[magicAt:]) == magic &&
		binary.NativeEndian.Uint64(fields[checksumAt:]) == sum.Sum64()
	return meta{
		int64(binary.NativeEndian.Uint32(fields[pageSizeAt:])), int64(binary.NativeEndian.Uint64(fields[pagesAt:])),
		int64(binary.NativeEndian.Uint64(fields[transactionAt:])),
	}, isValid
}

// tear leaves a file as a power cut could during the next commit. Pages after the last used page
// hold random bytes or are missing in part. The meta page that was being written, in place of the
// older one, is garbage.
func tear(t *testing.T, path string, random *rand.Rand) {
	t.Helper()
	contents, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	size := int64(os.Getpagesize())
	first, isFirstValid := readMeta(contents[:size])
	second, isSecondValid := readMeta(contents[size : 2*size])
	if !isFirstValid && !isSecondValid {
		t.Fatal("the store has no valid meta page")
	}
	current, torn := first, contents[size:2*size]
	if !isFirstValid || isSecondValid && second.transaction > first.transaction {
		current, torn = second, contents[:size]
	}
	if current.pageSize != size {
		t.Fatalf("the pages have %d bytes, unlike those of the system", current.pageSize)
	}
	garble(torn[pageHeader+random.IntN(checksumAt):], random) // starting within the checksummed part
	used := current.pages * size
	tail := contents[used:]
	garble(tail, random)
	contents = contents[:used+random.Int64N(int64(len(tail))+1)]
	if err := os.WriteFile(path, contents, 0o600); err != nil {
		t.Fatal(err)
	}
}

func garble(bytes []byte, random *rand.Rand) {
	for i := range bytes {
		bytes[i] = byte(random.Uint32())
	}
}

package importer

import (
	"errors"
	"os"
	"strconv"
	"testing"
)

func TestAnIndexKeepsTheValueOfEachKey(t *testing.T) {
	folder := t.TempDir()
	x, err := newIndex(folder)
	if err != nil {
		t.Fatal(err)
	}
	const keys = 100_000
	key := func(n int) uint64 { return x.hash(strconv.Itoa(n)) }
	for n := range keys {
		if got := x.get(key(n)); got != 0 {
			t.Fatalf("%d has %d before it is put", n, got)
		}
		x.add(key(n), uint64(n)+1)
		if got := x.get(key(n / 2)); got != uint64(n/2)+1 {
			t.Fatalf("%d has %d", n/2, got)
		}
	}
	for n := range keys {
		if got := x.get(key(n)); got != uint64(n)+1 {
			t.Fatalf("%d has %d", n, got)
		}
	}
	if err := errors.Join(x.err, x.file.Close()); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("%v are left, %v", left, err)
	}
}

func BenchmarkIndex(b *testing.B) {
	x, err := newIndex("")
	if err != nil {
		b.Fatal(err)
	}
	for n := range b.N {
		hash := x.hash(strconv.Itoa(n))
		if got := x.get(hash); got != 0 {
			b.Fatal(got)
		}
		x.add(hash, 1)
	}
	b.ReportMetric(float64(x.end)/float64(b.N), "file-bytes/key")
	if err := errors.Join(x.err, x.file.Close()); err != nil {
		b.Fatal(err)
	}
}

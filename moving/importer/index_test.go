package importer

import (
	"errors"
	"os"
	"strconv"
	"testing"
)

func TestAnIndexKeepsTheLastValueOfEachKey(t *testing.T) {
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
		x.put(key(n), uint64(n)+1)
		if got := x.get(key(n / 2)); got == 0 {
			t.Fatalf("%d is gone", n/2)
		}
		x.put(key(n/2), uint64(n)+2)
	}
	for n := range keys {
		want := uint64(n) + 1
		if n < keys/2 {
			want = uint64(2*n) + 3
		}
		if got := x.get(key(n)); got != want {
			t.Fatalf("%d has %d, want %d", n, got, want)
		}
	}
	if err := errors.Join(x.err, x.close()); err != nil {
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
		x.put(hash, 1)
	}
	b.ReportMetric(float64(len(x.depths))*pageBytes/float64(b.N), "file-bytes/key")
	if err := errors.Join(x.err, x.close()); err != nil {
		b.Fatal(err)
	}
}

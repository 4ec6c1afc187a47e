package send

import (
	"bytes"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/waybook/waybook/moving/movefile"
)

func TestRunsThatFollowEachOtherAreInBucketsThatDo(t *testing.T) {
	bucket := func(number uint64) int {
		return rootBucket(movefile.Root{Kind: movefile.KindAlbum, ID: movefile.ID(strconv.FormatUint(number, 10))})
	}
	const runs = 500
	for run := range uint64(runs) {
		first, last, next := bucket(run*runLength), bucket(run*runLength+runLength-1), bucket((run+1)*runLength)
		after := first + 1
		if after == userBuckets+contentBuckets {
			after = userBuckets
		}
		if first < userBuckets || last != first || next != after {
			t.Fatalf("run %d: buckets %d and %d, then %d", run, first, last, next)
		}
	}
}

// An identifier may have a time above 22 bits that hardly vary.
func TestNumbersThatAreFarApartSpread(t *testing.T) {
	held := map[int]int{}
	for n := range uint64(100_000) {
		held[rootBucket(movefile.Root{Kind: movefile.KindEntry, ID: movefile.ID(strconv.FormatUint((1<<40+n)<<22|5<<12, 10))})]++
	}
	for bucket, count := range held {
		if count > 200 {
			t.Errorf("bucket %d holds %d of 100,000", bucket, count)
		}
	}
	if len(held) < contentBuckets*9/10 {
		t.Errorf("%d buckets are filled", len(held))
	}
}

// A bucket with few items is in memory, one with many in a file with a rest, and one with a large item in a file.
func TestABucketReadsAsItWasWritten(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "records")
	written, err := newPartition(folder, 4)
	if err != nil {
		t.Fatal(err)
	}
	want := make([][]item, 4)
	for i, lengths := range [][]int{{3}, slices.Repeat([]int{5000}, 10), {10, 3 * bucketBuffer}, nil} {
		for n, length := range lengths {
			each := item{movefile.Position{File: 2, Line: int64(n)}, []byte{byte(n)}, bytes.Repeat([]byte{byte(i)}, length)}
			want[i] = append(want[i], each)
			if err := written.add(i, each); err != nil {
				t.Fatal(err)
			}
		}
		if held := len(written.buckets[i].rest); held > bucketBuffer {
			t.Errorf("bucket %d holds %d bytes", i, held)
		}
	}
	expect := func(p *partition, bytes int64) {
		t.Helper()
		for i := range want {
			if got, err := p.read(i); err != nil || !reflect.DeepEqual(got, want[i]) {
				t.Errorf("bucket %d has %d items: %v", i, len(got), err)
			}
		}
		if size, err := p.sync(); err != nil || size != bytes {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
	const few, many, large = headBytes + 1 + 3, 10 * (headBytes + 1 + 5000), 2*(headBytes+1) + 10 + 3*bucketBuffer
	if err := written.close(); err != nil {
		t.Fatal(err)
	}
	expect(written, many+large)
	if err := written.save(); err != nil {
		t.Fatal(err)
	}
	expect(&partition{folder, make([]bucket, 4)}, few+many+large)
}

func TestAnEmptyItemIsReportedAsDamage(t *testing.T) {
	key := keyOf(string(users), "1")
	err := resolve([]item{{key: key}, {key: key}}, func(space) bool { return true }, func(match, movefile.Fault) error { return nil })
	if err == nil || !strings.Contains(err.Error(), "a temporary file was changed") {
		t.Fatalf("error: %v", err)
	}
}

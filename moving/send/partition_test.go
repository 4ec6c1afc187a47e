package send

import (
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

func TestAnEmptyItemIsReportedAsDamage(t *testing.T) {
	key := keyOf(string(users), "1")
	err := resolve([]item{{key: key}, {key: key}}, func(space) bool { return true }, func(match, movefile.Fault) error { return nil })
	if err == nil || !strings.Contains(err.Error(), "a temporary file was changed") {
		t.Fatalf("error: %v", err)
	}
}

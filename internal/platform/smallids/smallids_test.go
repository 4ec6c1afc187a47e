package smallids_test

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/docstore/embedded"
	"github.com/waybook/waybook/internal/id"
	"github.com/waybook/waybook/internal/platform/apierror"
	"github.com/waybook/waybook/internal/platform/smallids"
)

// world is a store, a clock and the shares that were reported.
type world struct {
	*testing.T
	store docstore.Engine
	now   time.Time
	share float64
}

func newWorld(t *testing.T) *world {
	w := &world{T: t, store: open(t, filepath.Join(t.TempDir(), "waybook.db")), now: time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)}
	return w
}

func open(t *testing.T, file string) docstore.Engine {
	t.Helper()
	store, err := embedded.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return store
}

// start returns the counter of albums as a program that starts opens it.
func (w *world) start(from int64) (*smallids.Setting, *smallids.Counter) {
	w.Helper()
	setting := smallids.New(from, func() time.Time { return w.now }, func(_ string, share float64) { w.share = share })
	numbers, err := setting.Open(w.Context(), w.store, "album")
	if err != nil {
		w.Fatal(err)
	}
	counter, err := numbers.Counter(w.Context(), "albums", func(context.Context, int64) (bool, error) { return false, nil })
	if err != nil {
		w.Fatal(err)
	}
	return setting, counter
}

func (w *world) next(c *smallids.Counter, count int) int64 {
	w.Helper()
	first, err := c.Next(w.Context(), count)
	if err != nil {
		w.Fatal(err)
	}
	return first
}

func TestNumbersFollowEachOtherFromTheFirst(t *testing.T) {
	w := newWorld(t)
	_, c := w.start(1000)
	got := []int64{w.next(c, 1), w.next(c, 3), w.next(c, 1), w.next(c, 100), w.next(c, 1)}
	if want := []int64{1000, 1001, 1004, 1005, 1105}; !slices.Equal(got, want) {
		t.Errorf("got %d, want %d", got, want)
	}
}

// A call may come when the numbers of another were just drawn: what was taken ahead then is for it.
func TestCallsAtTheSameTimeGetDifferentNumbersAndLeaveNoneOut(t *testing.T) {
	w := newWorld(t)
	_, c := w.start(1)
	var mu sync.Mutex
	given := map[int64]bool{}
	var callers sync.WaitGroup
	for range 16 {
		callers.Go(func() {
			last := int64(0)
			for n := range 50 {
				first, err := c.Next(t.Context(), 1+n%3)
				if err != nil || first <= last {
					t.Errorf("got %d after %d: %v", first, last, err)
				}
				mu.Lock()
				for i := range int64(1 + n%3) {
					if given[first+i] {
						t.Errorf("%d was given twice", first+i)
					}
					given[first+i] = true
				}
				mu.Unlock()
				last = first
			}
		})
	}
	callers.Wait()
	if highest := slices.Max(slices.Collect(maps.Keys(given))); highest != int64(len(given)) {
		t.Errorf("the highest is %d after %d numbers", highest, len(given))
	}
}

// The numbers that may have been given since the counter was last seen are left out.
func TestAStartLeavesOutWhatALaterStateMayHaveGiven(t *testing.T) {
	for unseen, want := range map[time.Duration]int64{
		0: 128 * 60, -time.Hour: 128 * 60, time.Minute: 128 * 120, 24 * time.Hour: 1<<20 + 8*(86400+60), 20 * 365 * 24 * time.Hour: 1 << 26,
	} {
		t.Run(fmt.Sprint(unseen), func(t *testing.T) {
			w := newWorld(t)
			_, c := w.start(1000)
			first := w.next(c, 1)
			w.now = w.now.Add(unseen)
			_, again := w.start(1000)
			if got := w.next(again, 1) - first; got < want || got > want+100 {
				t.Errorf("left out %d, want %d and what was taken ahead", got, want)
			}
		})
	}
}

func TestACounterThatIsOpenIsSeen(t *testing.T) {
	w := newWorld(t)
	setting, c := w.start(1000)
	first := w.next(c, 1)
	w.now = w.now.Add(24 * time.Hour)
	if err := setting.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, again := w.start(1000)
	if got := w.next(again, 1) - first; got > 128*60+100 {
		t.Errorf("left out %d", got)
	}
}

func TestTheLastNumbersAreGivenAndThenNone(t *testing.T) {
	w := newWorld(t)
	_, c := w.start(smallids.Max - 1)
	if got := []int64{w.next(c, 1), w.next(c, 1)}; !slices.Equal(got, []int64{smallids.Max - 1, smallids.Max}) || w.share != 1 {
		t.Errorf("got %d, share %v", got, w.share)
	}
	for range 3 {
		first, err := c.Next(t.Context(), 1)
		if e := apierror.From(err); err == nil || e.Kind != codes.FailedPrecondition || e.Reason != "IDENTIFIERS_USED_UP" {
			t.Errorf("got %d, %v", first, err)
		}
	}
}

func TestACounterKnowsItsNumbers(t *testing.T) {
	w := newWorld(t)
	_, c := w.start(1000)
	var none *smallids.Counter
	for number, want := range map[int64]bool{999: false, 1000: true, 5000: true} {
		if got := c.Has(id.OfOld(number, 7)); got != want || none.Has(id.OfOld(number, 7)) {
			t.Errorf("%d: %v", number, got)
		}
		if got := c.Admits(fmt.Sprint(number)); got == want || !none.Admits(fmt.Sprint(number)) {
			t.Errorf("%d is admitted: %v", number, got)
		}
	}
	if c.Admits("a-1") || !none.Admits("a-1") {
		t.Error("a text is admitted")
	}
	for _, from := range []int64{-1, smallids.Max + 1} {
		if err := smallids.Check(from); err == nil || !strings.Contains(err.Error(), "-small-ids-from") {
			t.Errorf("%d: %v", from, err)
		}
	}
}

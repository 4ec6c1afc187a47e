package smallids_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/docstore/embedded"
	"github.com/waybook/waybook/internal/id"
	"github.com/waybook/waybook/internal/platform/apierror"
	"github.com/waybook/waybook/internal/platform/smallids"
)

// world is a store and the shares that were reported. It is in a bubble of synctest, so its time is that of the test.
type world struct {
	*testing.T
	file  string
	store docstore.Engine
	share float64
}

// inWorld runs a test of a new store.
func inWorld(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "waybook.db")
	synctest.Test(t, func(t *testing.T) {
		w := &world{T: t, file: file}
		w.open()
		defer func() { w.close() }()
		test(t, w)
	})
}

func (w *world) open() {
	w.Helper()
	store, err := embedded.Open(w.Context(), w.file)
	if err != nil {
		w.Fatal(err)
	}
	w.store = store
}

func (w *world) close() {
	w.Helper()
	if err := w.store.Close(); err != nil {
		w.Fatal(err)
	}
}

// state returns the store as it is between two programs, or replaces it if there is a state to put back.
func (w *world) state(putBack []byte) []byte {
	w.Helper()
	w.close()
	if putBack != nil {
		if err := os.WriteFile(w.file, putBack, 0o600); err != nil {
			w.Fatal(err)
		}
	}
	is, err := os.ReadFile(w.file)
	if err != nil {
		w.Fatal(err)
	}
	w.open()
	return is
}

// start returns the counter of albums as a program that starts opens it.
func (w *world) start(from int64) (*smallids.Setting, *smallids.Counter) {
	return w.startAt(from, time.Now)
}

func (w *world) startAt(from int64, clock func() time.Time) (*smallids.Setting, *smallids.Counter) {
	w.Helper()
	setting := smallids.New(from, clock, func(_ string, share float64) { w.share = share })
	counter, err := setting.Counter(w.Context(), w.store, "album", "albums", func(context.Context, int64) (bool, error) { return false, nil })
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
	inWorld(t, func(t *testing.T, w *world) {
		_, c := w.start(1000)
		got := []int64{w.next(c, 1), w.next(c, 3), w.next(c, 1), w.next(c, 100), w.next(c, 1)}
		if want := []int64{1000, 1001, 1004, 1005, 1105}; !slices.Equal(got, want) {
			t.Errorf("got %d, want %d", got, want)
		}
	})
}

// A call may come when the numbers of another were just drawn: what was taken ahead then is for it.
func TestCallsAtTheSameTimeGetDifferentNumbersAndLeaveNoneOut(t *testing.T) {
	inWorld(t, testCallsAtTheSameTime)
}

func testCallsAtTheSameTime(t *testing.T, w *world) {
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

// Programs start and stop, are little and much used, and between two of them a state is put back, or time passes.
func TestNoNumberIsGivenTwiceWhenAStateIsPutBack(t *testing.T) {
	for seed := range uint64(15) {
		inWorld(t, func(t *testing.T, w *world) {
			random := rand.New(rand.NewPCG(seed, 1))
			given, history, kept := map[int64]string{}, "", []byte(nil)
			for range 12 {
				setting, c := w.start(1000)
				history += " start"
				for range 1 + random.IntN(3) {
					calls, wait := random.IntN(200)*random.IntN(2), time.Minute>>random.IntN(20)
					history += fmt.Sprintf(" %d calls %v", calls, wait)
					for range calls {
						number := w.next(c, 1)
						if before, isGiven := given[number]; isGiven {
							t.Fatalf("seed %d:%s: %d was given twice, first after%s", seed, history, number, before)
						}
						given[number] = history
					}
					time.Sleep(wait)
					if err := setting.Sweep(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
				switch random.IntN(4) {
				case 0:
					kept = w.state(nil)
					history += " keep"
				case 1, 2:
					w.state(kept)
					history += " put back"
				default:
					down := 7 * 24 * time.Hour >> random.IntN(26)
					time.Sleep(down)
					history += fmt.Sprint(" down ", down)
					if down > 2*time.Hour {
						kept = nil // what is put back is not so old
					}
				}
			}
		})
	}
}

// lost starts the counter again after a time in which no program had it open, and returns how many numbers are left out.
func (w *world) lost(unseen time.Duration) int64 {
	w.Helper()
	_, c := w.start(1000)
	before := w.next(c, 1)
	time.Sleep(unseen)
	_, c = w.start(1000)
	return w.next(c, 1) - before
}

func TestAStartLeavesOutWhatALaterStateMayHaveGiven(t *testing.T) {
	for unseen, want := range map[time.Duration]int64{
		0: 1 << 13, time.Minute: 1<<13 + 128*60, 24 * time.Hour: 1<<13 + 128*86400, 30 * 24 * time.Hour: 1<<24 + 4*30*86400, 20 * 365 * 24 * time.Hour: 1 << 26,
	} {
		t.Run(fmt.Sprint(unseen), func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				if got := w.lost(unseen); got < want-100 || got > want+100 {
					t.Errorf("left out %d, want %d and what was taken ahead", got, want)
				}
			})
		})
	}
}

func TestStartsOneAfterAnotherDoNotUseUpAllNumbers(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		const starts, between = 100, 36 * time.Hour
		_, c := w.start(1000)
		before := w.next(c, 1)
		for range starts {
			time.Sleep(between)
			w.start(1000)
		}
		_, c = w.start(1000)
		if got, most := w.next(c, 1)-before, 1<<25+8*int64(starts*between/time.Second)+1<<15; got > most {
			t.Errorf("%d starts left out %d, want at most %d", starts, got, most)
		}
	})
}

func TestStartsLeaveNumbersOutAfterAClockWasPutBack(t *testing.T) {
	for ahead, want := range map[time.Duration]int64{24 * time.Hour: 128 * 3600, 20 * 365 * 24 * time.Hour: 4 * 3600} {
		t.Run(fmt.Sprint(ahead), func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				w.start(1000)
				w.startAt(1000, func() time.Time { return time.Now().Add(ahead) })
				if got := w.lost(time.Hour); got < want-100 {
					t.Errorf("a start left out %d numbers after an hour, want %d", got, want)
				}
			})
		})
	}
}

func TestAClockThatWasAheadStopsNoCalls(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		_, c := w.start(1000)
		first := w.next(c, 1)
		_, c = w.startAt(1000, func() time.Time { return time.Now().Add(24 * time.Hour) })
		ahead := w.next(c, 1)
		began := time.Now()
		_, c = w.start(1000)
		if got := w.next(c, 1); got <= ahead || ahead <= first || time.Since(began) > 10*time.Second {
			t.Errorf("got %d, %d and after %v %d", first, ahead, time.Since(began), got)
		}
	})
}

// A program with a clock that is ahead shares the counter.
func TestAClockThatIsAheadStopsNoOtherProgram(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		_, c := w.start(1000)
		w.next(c, 100)
		_, ahead := w.startAt(1000, func() time.Time { return time.Now().Add(time.Hour) })
		w.next(ahead, 1)
		began := time.Now()
		if w.next(c, 128); time.Since(began) > 2*time.Second {
			t.Errorf("128 numbers took %v", time.Since(began))
		}
	})
}

// Nothing is left of a call that ends before its numbers come.
func TestACallThatEndsLeavesItsNumbersToTheNext(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		_, c := w.start(1000)
		w.next(c, 1)
		_, c = w.start(1000)
		before := w.next(c, 1)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		if first, err := c.Next(ctx, 1000); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %d, %v", first, err)
		}
		began := time.Now()
		if got := w.next(c, 1); got != before+1 || time.Since(began) > time.Second {
			t.Errorf("got %d after %d, in %v", got, before, time.Since(began))
		}
	})
}

func TestACounterThatIsOpenIsSeen(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		setting, c := w.start(1000)
		first := w.next(c, 1)
		time.Sleep(24 * time.Hour)
		if err := setting.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		_, again := w.start(1000)
		if got := w.next(again, 1) - first; got > 1<<13+100 {
			t.Errorf("left out %d", got)
		}
	})
}

func TestTheLastNumbersAreGivenAndThenNone(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
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
	})
}

func TestACounterKnowsItsNumbers(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
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
	})
}

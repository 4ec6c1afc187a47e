package choices_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// deadline is the time that a caller gives a call.
const deadline = 10 * time.Second

// castAll lets users vote at once, each by one call, and returns how many calls failed.
func castAll(t testing.TB, running []*counter, firstUser int64, users int) (failed int) {
	var voting sync.WaitGroup
	var mu sync.Mutex
	for user := range users {
		voting.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), deadline)
			defer cancel()
			if _, err := running[user%len(running)].Put(ctx, voteID, firstUser+int64(user), ballot(1)); err != nil {
				mu.Lock()
				defer mu.Unlock()
				if failed++; failed == 1 {
					t.Logf("the first error: %v", err)
				}
			}
		})
	}
	voting.Wait()
	return failed
}

func TestAThousandVotersAtOnceAreCounted(t *testing.T) {
	for name, processes := range map[string]int{"in one process": 1, "in three processes": 3} {
		t.Run(name, func(t *testing.T) {
			const users = 1000
			engine := newStore(t)
			votes := newCounter(t, engine)
			var running []*counter
			for range processes {
				running = append(running, openCounter(t, newSlow(engine)))
			}
			if failed := castAll(t, running, 1, users); failed > 0 {
				t.Errorf("%d of %d calls failed", failed, users)
			}
			if got := stored(t, votes).Numbers; got != (numbers{users}) {
				t.Errorf("numbers %v", got)
			}
			expectTidy(t, votes)
		})
	}
}

// BenchmarkBallots counts ballots on one entry, of 1,000 voters at a time, over a store with
// reads of 1 ms and writes of 3 ms.
func BenchmarkBallots(b *testing.B) {
	for name, processes := range map[string]int{"processes=1": 1, "processes=3": 3} {
		b.Run(name, func(b *testing.B) {
			const users = 1000
			engine := newStore(b)
			votes := newCounter(b, engine)
			var running []*counter
			for range processes {
				running = append(running, openCounter(b, newSlow(engine)))
			}
			failed := 0
			first := int64(1)
			for b.Loop() {
				failed += castAll(b, running, first, users)
				first += users
			}
			counted := float64(stored(b, votes).Numbers[0])
			b.ReportMetric(counted/b.Elapsed().Seconds(), "ballots/s")
			b.ReportMetric(float64(failed)/float64(b.N), "failed/op")
		})
	}
}

// BenchmarkLoneChoice puts one choice after the other.
func BenchmarkLoneChoice(b *testing.B) {
	engine := newStore(b)
	newCounter(b, engine)
	votes := openCounter(b, newSlow(engine))
	for user := int64(1); b.Loop(); user++ {
		put(b, votes, user, 1)
	}
}

// BenchmarkClients measures the CPU of a choice while some clients choose at the same time, under one parent.
func BenchmarkClients(b *testing.B) {
	for _, clients := range []int{1, 16, 64} {
		b.Run(fmt.Sprint(clients), func(b *testing.B) {
			votes := newCounter(b, newStoreIn(b, b.TempDir()))
			var user atomic.Int64
			var calls sync.WaitGroup
			before := cpuTime(b)
			for range clients {
				calls.Go(func() {
					for next := user.Add(1); next <= int64(b.N); next = user.Add(1) {
						put(b, votes, next, 1)
					}
				})
			}
			calls.Wait()
			b.ReportMetric(float64((cpuTime(b)-before).Microseconds())/float64(b.N), "cpu-µs/op")
		})
	}
}

// cpuTime returns the CPU time of the process so far.
func cpuTime(t tb) time.Duration {
	t.Helper()
	var usage syscall.Rusage
	must(t, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

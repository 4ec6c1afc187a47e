package embedded_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/waybook/waybook/internal/docstore"
)

// A poller lacks no change that is older than 2.5 s when its call returns, whatever its pause.
func TestAPollerAtAnyRateSeesAChangeWithin2500Milliseconds(t *testing.T) {
	t.Parallel()
	for _, writes := range []time.Duration{300 * time.Millisecond, 6 * time.Second} {
		for _, pauses := range [][]time.Duration{
			{100 * time.Millisecond}, {600 * time.Millisecond}, {time.Second}, {2 * time.Second}, {3 * time.Second}, {5 * time.Second},
			{5 * time.Second, 3700 * time.Millisecond, time.Second},
		} {
			t.Run(fmt.Sprint("a write every ", writes, ", polled every ", pauses), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { pollFor(t, time.Minute, writes, pauses) })
			})
		}
	}
}

func pollFor(t *testing.T, span, writes time.Duration, pauses []time.Duration) {
	engine := open(t, filepath.Join(t.TempDir(), "store.db"))
	defer shut(t, engine)
	spec := docstore.Spec{Name: "polled", ID: docstore.Int64, Tombstones: true, Feed: &docstore.Feed{Rest: "content"}}
	articles, err := docstore.Open[int64, article](t.Context(), engine, spec)
	must(t, err)
	end := time.Now().Add(span)
	var written []time.Time
	var running sync.WaitGroup
	running.Go(func() {
		for time.Now().Before(end) {
			written = append(written, time.Now())
			if err := articles.Insert(t.Context(), article{ID: int64(len(written))}); err != nil {
				t.Error(err)
				return
			}
			time.Sleep(writes/2 + rand.N(writes)) // #nosec G404 -- not a secret
		}
	})
	// returned[i] are the times at which calls of poller i returned, and found[i] the changes that it had.
	returned, found := make([][]time.Time, len(pauses)), make([][]int, len(pauses))
	for i, pause := range pauses {
		running.Go(func() {
			token, seen := "", 0
			for time.Now().Before(end) {
				page, err := articles.Feed(t.Context(), docstore.FeedQuery{Token: token, Limit: 100})
				if err != nil {
					t.Error(err)
					return
				}
				token, seen = page.Next, seen+len(page.Changes)
				if page.More {
					continue
				}
				returned[i], found[i] = append(returned[i], time.Now()), append(found[i], seen)
				time.Sleep(pause + rand.N(pause/20)) // #nosec G404 -- not a secret
			}
		})
	}
	running.Wait()
	for i, pause := range pauses {
		var lags []time.Duration
		for call, seen := range found[i] {
			if seen < len(written) { // the first change that the call lacks
				lags = append(lags, max(0, returned[i][call].Sub(written[seen])))
			}
		}
		slices.Sort(lags)
		p99 := lags[len(lags)*99/100]
		t.Logf("a poller every %v: %d calls, p50 %v, p99 %v, most %v", pause, len(lags), lags[len(lags)/2], p99, lags[len(lags)-1])
		if p99 > 2500*time.Millisecond {
			t.Errorf("a poller every %v lacks changes of %v before", pause, p99)
		}
	}
}

package world

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"testing/synctest"
	"time"
)

// turns let clients act at the same time, and nevertheless as a seed chooses: a call of the store waits for
// its turn, and between two turns only one client goes on.
type turns struct {
	mu   sync.Mutex
	isOn bool
	// runs is how often clients have acted at the same time.
	runs    int
	waiting []turn
}

// turn is what a client waits for.
type turn struct {
	client  int
	granted chan struct{}
}

// clientKey is the key of a context with the number of the client.
type clientKey struct{}

// run runs all at the same time, with what they leave in the background.
func (t *turns) run(random *rand.Rand, all []func()) {
	t.runs++
	t.set(true)
	defer t.set(false)
	ended := make(chan struct{}, len(all))
	for _, each := range all {
		go func() {
			each()
			ended <- struct{}{}
		}()
		synctest.Wait()
	}
	for {
		switch isGranted := t.grant(random); {
		case !isGranted && len(ended) == len(all):
			return
		case !isGranted:
			time.Sleep(time.Millisecond)
		}
		synctest.Wait()
	}
}

func (t *turns) set(isOn bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.isOn = isOn
}

// grant gives a turn to one of those who wait. It reports whether anybody does.
func (t *turns) grant(random *rand.Rand) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.waiting) == 0 {
		return false
	}
	// Some began to wait at once.
	slices.SortStableFunc(t.waiting, func(a, b turn) int { return a.client - b.client })
	next := random.IntN(len(t.waiting))
	close(t.waiting[next].granted)
	t.waiting = slices.Delete(t.waiting, next, next+1)
	return true
}

// wait waits for a turn, if clients act at the same time.
func (t *turns) wait(ctx context.Context) {
	mine := turn{clientOf(ctx), make(chan struct{})}
	t.mu.Lock()
	isOn := t.isOn
	if isOn {
		t.waiting = append(t.waiting, mine)
	}
	t.mu.Unlock()
	if isOn {
		<-mine.granted
	}
}

package account

import (
	"context"
	"sync"
)

// turns are locks of keys. Callers that change one document take turns. Otherwise many of them at once
// would change it against each other and run into their deadlines. The store still decides between
// processes. The zero value has no turn taken. Turns may be used concurrently.
type turns struct {
	mu sync.Mutex
	// of has the keys whose turn somebody has or waits for.
	of map[string]*turn
}

type turn struct {
	taken chan struct{}
	// callers are those that have the turn or wait for it.
	callers int
}

// take waits for the turn of a key. The caller ends it by calling end.
func (t *turns) take(ctx context.Context, key string) (end func(), err error) {
	t.mu.Lock()
	if t.of == nil {
		t.of = map[string]*turn{}
	}
	mine := t.of[key]
	if mine == nil {
		mine = &turn{taken: make(chan struct{}, 1)}
		t.of[key] = mine
	}
	mine.callers++
	t.mu.Unlock()
	select {
	case mine.taken <- struct{}{}:
		return func() {
			<-mine.taken
			t.leave(key, mine)
		}, nil
	case <-ctx.Done():
		t.leave(key, mine)
		return nil, ctx.Err()
	}
}

// leave forgets a key that nobody has or waits for.
func (t *turns) leave(key string, mine *turn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if mine.callers--; mine.callers == 0 {
		delete(t.of, key)
	}
}

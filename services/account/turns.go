package account

import (
	"context"
	"hash/maphash"
)

// turns are locks, each for a part of the keys. Callers that change one document take turns.
// Otherwise many of them at once would change it against each other and run into their
// deadlines. The store still decides between processes. Turns may be used concurrently.
type turns struct {
	locks [64]chan struct{}
	seed  maphash.Seed
}

func newTurns() *turns {
	t := &turns{seed: maphash.MakeSeed()}
	for i := range t.locks {
		t.locks[i] = make(chan struct{}, 1)
	}
	return t
}

// take waits for the turn of a key. The caller ends it by calling end.
func (t *turns) take(ctx context.Context, key string) (end func(), err error) {
	lock := t.locks[maphash.String(t.seed, key)%uint64(len(t.locks))]
	select {
	case lock <- struct{}{}:
		return func() { <-lock }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

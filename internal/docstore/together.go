package docstore

import "sync"

// Together does reads that do not need each other's results. It does them at the same time if
// the store is reached over a network: all have ended when it returns the first error in their
// order. Otherwise it does them one after the other until one fails, because a read is faster
// than the start of a goroutine. A read that panics panics in the caller.
func Together(store Engine, reads ...func() error) error {
	if !store.IsLocal() {
		return atTheSameTime(reads)
	}
	for _, read := range reads {
		if err := read(); err != nil {
			return err
		}
	}
	return nil
}

func atTheSameTime(reads []func() error) error {
	errs, panics := make([]error, len(reads)), make([]any, len(reads))
	guarded := func(i int) {
		defer func() { panics[i] = recover() }()
		errs[i] = reads[i]()
	}
	var others sync.WaitGroup
	for i := range reads[1:] {
		others.Go(func() { guarded(i + 1) })
	}
	guarded(0)
	others.Wait()
	for _, cause := range panics {
		if cause != nil {
			panic(cause)
		}
	}
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// Together is Together on the collection's store.
func (c *Collection[K, T]) Together(reads ...func() error) error { return Together(c.store, reads...) }

package docstore

import "sync"

// Together does reads that do not need each other's results. It does them at the same time if
// the store is reached over a network. Otherwise it does them one after the other, because a
// read is faster than the start of a goroutine. All reads have ended when it returns the first
// error in their order.
func Together(store Engine, reads ...func() error) error {
	errs := make([]error, len(reads))
	if store.IsLocal() {
		for i, read := range reads {
			errs[i] = read()
		}
	} else {
		var all sync.WaitGroup
		for i, read := range reads {
			all.Go(func() { errs[i] = read() })
		}
		all.Wait()
	}
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

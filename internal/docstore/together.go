package docstore

import "sync"

// together is Collection.Together of a store that may be local.
func together(isLocal bool, reads ...func() error) error {
	if !isLocal {
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

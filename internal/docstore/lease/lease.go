// Package lease lets one process at a time do a job on a store that several processes
// share, such as building an index.
//
// A lease is a document that its holder changes every few seconds. Another process takes
// the lease once it has seen the document unchanged for a whole expiry. No process compares
// its clock with that of another one, so clocks may differ by any amount. They must only
// run at about the same rate: a holder gives up after two thirds of the expiry, so one
// clock may run half as fast again as another.
package lease

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/waybook/waybook/internal/chance"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/pause"
)

const (
	// expiry is how long a lease is held after the last sign of life of its holder. It is
	// longer than an election of a primary takes.
	expiry = time.Minute
	// renewal is the interval between two signs of life.
	renewal = expiry / 6
	// surrender is how long a holder goes on without a successful renewal.
	surrender = expiry * 2 / 3
	// poll is the mean interval at which a waiting process looks at the lease.
	poll = time.Second
	// releaseTimeout bounds the release. A lease that is not released expires.
	releaseTimeout = 5 * time.Second
)

// ErrLost is the cause of the context of a job whose process could not renew the lease.
// Another process may do the job.
var ErrLost = errors.New("the lease was lost")

// Collection is the name of the collection of leases.
const Collection = "leases"

// held is a lease as stored. It stays when it is released.
type held struct {
	Name string `bson:"_id"`
	// Holder is a random text of one call of Do; empty if the lease is free.
	Holder string `bson:"holder"`
	// Signs counts the changes of the document, so each change is visible.
	Signs int64 `bson:"signs"`
}

// errTaken reports that another process has changed a lease.
var errTaken = errors.New("another process has the lease")

// Do waits until no other process does the job of that name, and then does it. The other
// process may have completed the job, so the job first checks what is left to do. A process
// that dies during its job is succeeded after an expiry of a minute.
//
// The context of the job ends with the cause ErrLost if the lease cannot be renewed, before
// any other process can take it. The job must then stop promptly. Do returns the error of
// the job, joined with ErrLost in that case. While the store is unavailable, Do waits for
// the lease until ctx ends.
//
// Do opens the collection of leases in store. Calls of the same process exclude each other
// too.
func Do(ctx context.Context, store docstore.Engine, name string, job func(context.Context) error) error {
	leases, err := docstore.Open[string, held](ctx, store, docstore.Spec{Name: Collection, ID: docstore.String})
	if err != nil {
		return err
	}
	l := lease{leases, name, rand.Text()}
	signed, err := l.await(ctx)
	if err != nil {
		return fmt.Errorf("wait for the lease %q: %w", name, err)
	}
	return l.do(ctx, signed, job)
}

// lease is one call of Do.
type lease struct {
	leases       *docstore.Collection[string, held]
	name, holder string
}

// await takes the lease and returns when it began to.
func (l lease) await(ctx context.Context) (signed time.Time, err error) {
	var seen sighting
	for {
		began := time.Now()
		taken, err := l.try(ctx, &seen)
		switch {
		case taken:
			return began, nil
		case err != nil && !errors.Is(err, docstore.ErrUnavailable):
			return time.Time{}, err
		}
		if err := pause.For(ctx, poll/2+chance.Below(poll)); err != nil {
			return time.Time{}, err
		}
	}
}

// sighting is a lease as it was last read, and when it was first read so.
type sighting struct {
	held  held
	since time.Time
}

// try takes the lease if it is free, or if it has been unchanged for an expiry.
func (l lease) try(ctx context.Context, seen *sighting) (taken bool, err error) {
	found, err := l.leases.Get(ctx, l.name)
	if errors.Is(err, docstore.ErrNotFound) {
		found = held{Name: l.name}
		err = l.leases.Insert(ctx, found)
	}
	var another *docstore.DuplicateError
	switch {
	case errors.As(err, &another):
		return false, nil // inserted meanwhile
	case err != nil:
		return false, err
	case found != seen.held:
		*seen = sighting{found, time.Now()}
	}
	// It is this call's own if an earlier attempt succeeded without an answer.
	isFree := found.Holder == "" || found.Holder == l.holder
	if !isFree && time.Since(seen.since) < expiry {
		return false, nil
	}
	err = l.sign(ctx, l.holder, func(now held) bool { return now == found })
	if errors.Is(err, errTaken) {
		return false, nil
	}
	return err == nil, err
}

// sign changes the lease and its holder if it may be changed, or returns errTaken.
func (l lease) sign(ctx context.Context, holder string, mayChange func(held) bool) error {
	_, err := l.leases.Update(ctx, l.name, func(h *held) error {
		if !mayChange(*h) {
			return errTaken
		}
		h.Holder = holder
		h.Signs++
		return nil
	})
	return err
}

func (l lease) isMine(h held) bool { return h.Holder == l.holder }

// do does the job, and keeps the lease meanwhile.
func (l lease) do(ctx context.Context, signed time.Time, job func(context.Context) error) (err error) {
	jobCtx, end := context.WithCancelCause(ctx)
	kept := make(chan struct{})
	go func() {
		defer close(kept)
		l.keep(jobCtx, signed, func() { end(ErrLost) })
	}()
	defer func() {
		end(nil)
		<-kept
		if errors.Is(context.Cause(jobCtx), ErrLost) {
			err = errors.Join(ErrLost, err)
		}
		l.release(ctx)
	}()
	return job(jobCtx)
}

// keep renews the lease until ctx ends or the lease is lost.
func (l lease) keep(ctx context.Context, signed time.Time, lose func()) {
	next := renewal
	for pause.For(ctx, next) == nil {
		began := time.Now()
		callCtx, cancel := context.WithDeadline(ctx, signed.Add(surrender))
		err := l.sign(callCtx, l.holder, l.isMine)
		cancel()
		switch {
		case err == nil:
			signed, next = began, renewal
		case errors.Is(err, errTaken), errors.Is(err, docstore.ErrNotFound), time.Since(signed) >= surrender:
			lose()
			return
		default:
			next = min(poll, surrender-time.Since(signed))
		}
	}
}

// release frees the lease. If that fails, the lease expires.
func (l lease) release(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
	defer cancel()
	_ = l.sign(ctx, "", l.isMine)
}

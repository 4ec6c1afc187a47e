package lease

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/docstore/embedded"
	"github.com/waybook/waybook/internal/storetest"
)

// shared is a store that several processes share, with the way of one process to it.
type shared struct {
	docstore.Engine
	// isCut reports that this process cannot reach the store. losesReplies reports that its
	// writes happen without an answer.
	isCut, losesReplies atomic.Bool
}

var errCut = fmt.Errorf("%w: the network is down", docstore.ErrUnavailable)

// wayTo returns the way of a process to a store.
func wayTo(store docstore.Engine) *shared {
	s := &shared{}
	hooked := &storetest.Hooked{Engine: store}
	hooked.Read = func(_ context.Context, _ storetest.Call, do func() error) error {
		if s.isCut.Load() {
			return errCut
		}
		return do()
	}
	hooked.Write = func(ctx context.Context, call storetest.Call, do func() error) error {
		err := hooked.Read(ctx, call, do)
		if s.losesReplies.Load() {
			return errCut
		}
		return err
	}
	s.Engine = hooked
	return s
}

// inTime runs a test of processes that share a store, in simulated time.
func inTime(t *testing.T, test func(t *testing.T, ways [2]*shared)) {
	path := filepath.Join(t.TempDir(), "waybook.db")
	synctest.Test(t, func(t *testing.T) {
		engine, err := embedded.Open(context.WithoutCancel(t.Context()), path)
		if err != nil {
			t.Fatal(err)
		}
		test(t, [2]*shared{wayTo(engine), wayTo(engine)})
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
	})
}

const name = "build indexes"

// begin starts a call of Do whose job lasts until finish is closed or its context ends.
// begun is closed when the job has begun.
func begin(ctx context.Context, way *shared) (begun, finish chan struct{}, ended chan error) {
	begun, finish, ended = make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- Do(ctx, way, name, func(ctx context.Context) error {
			close(begun)
			select {
			case <-finish:
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		})
	}()
	return begun, finish, ended
}

func isClosed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// pass lets time pass.
func pass(d time.Duration) {
	time.Sleep(d) // simulated
	synctest.Wait()
}

func TestOneProcessAtATimeDoesTheJobAndTheOthersFindItDone(t *testing.T) {
	inTime(t, func(t *testing.T, ways [2]*shared) {
		var inside, built, calls atomic.Int32
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				err := Do(t.Context(), ways[i%2], name, func(context.Context) error {
					calls.Add(1)
					if inside.Add(1) != 1 {
						t.Error("two processes do the job at once")
					}
					defer inside.Add(-1)
					if built.Load() == 0 {
						time.Sleep(time.Hour) // simulated
						built.Add(1)
					}
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if built.Load() != 1 || calls.Load() != 8 {
			t.Errorf("built %d times in %d calls", built.Load(), calls.Load())
		}
	})
}

func TestJobsOfDifferentNamesDoNotWaitForEachOther(t *testing.T) {
	inTime(t, func(t *testing.T, ways [2]*shared) {
		begun, finish, ended := begin(t.Context(), ways[0])
		<-begun
		if err := Do(t.Context(), ways[1], "another", func(context.Context) error { return nil }); err != nil {
			t.Error(err)
		}
		close(finish)
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func TestAProcessThatDiesIsSucceededAfterTheExpiry(t *testing.T) {
	inTime(t, func(t *testing.T, ways [2]*shared) {
		died := time.Now()
		leases, err := docstore.Open[string, held](t.Context(), ways[0], docstore.Spec{Name: Collection, ID: docstore.String})
		if err != nil {
			t.Fatal(err)
		}
		if err := leases.Insert(t.Context(), held{Name: name, Holder: "a dead process", Signs: 7}); err != nil {
			t.Fatal(err)
		}
		if err := Do(t.Context(), ways[1], name, func(context.Context) error { return nil }); err != nil {
			t.Error(err)
		}
		if waited := time.Since(died); waited < expiry || waited > expiry+2*poll {
			t.Errorf("succeeded after %v, want about %v", waited, expiry)
		}
	})
}

func TestAProcessThatCannotRenewStopsBeforeItIsSucceeded(t *testing.T) {
	inTime(t, func(t *testing.T, ways [2]*shared) {
		firstBegun, _, firstEnded := begin(t.Context(), ways[0])
		<-firstBegun
		secondBegun, finish, secondEnded := begin(t.Context(), ways[1])
		pass(10 * expiry)
		if isClosed(secondBegun) {
			t.Fatal("a lease that is renewed was taken")
		}
		ways[0].isCut.Store(true)
		if err := <-firstEnded; !errors.Is(err, ErrLost) {
			t.Errorf("the first job ended with %v", err)
		}
		if isClosed(secondBegun) {
			t.Error("the second job began before the first ended")
		}
		<-secondBegun
		ways[0].isCut.Store(false)
		pass(expiry)
		close(finish)
		if err := <-secondEnded; err != nil {
			t.Errorf("the second job ended with %v", err)
		}
	})
}

func TestALeaseSurvivesAStoreThatIsAwayForHalfAMinute(t *testing.T) {
	inTime(t, func(t *testing.T, ways [2]*shared) {
		begun, finish, ended := begin(t.Context(), ways[0])
		<-begun
		for _, trouble := range []*atomic.Bool{&ways[0].isCut, &ways[0].losesReplies} {
			for range 5 {
				trouble.Store(true)
				pass(expiry / 2)
				trouble.Store(false)
				pass(2 * poll)
			}
		}
		close(finish)
		if err := <-ended; err != nil {
			t.Errorf("the job ended with %v", err)
		}
	})
}

func TestALeaseTakenWithoutAnAnswerIsHeldByItsTaker(t *testing.T) {
	inTime(t, func(t *testing.T, ways [2]*shared) {
		ways[0].losesReplies.Store(true)
		begun, finish, ended := begin(t.Context(), ways[0])
		pass(10 * poll)
		if isClosed(begun) {
			t.Fatal("a job began without an answer of the store")
		}
		ways[0].losesReplies.Store(false)
		pass(2 * poll)
		if !isClosed(begun) {
			t.Error("the process waits for itself")
		}
		close(finish)
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func TestAJobThatFailsOrPanicsReleasesItsLease(t *testing.T) {
	inTime(t, func(t *testing.T, ways [2]*shared) {
		broken := errors.New("no luck")
		if err := Do(t.Context(), ways[0], name, func(context.Context) error { return broken }); !errors.Is(err, broken) || errors.Is(err, ErrLost) {
			t.Errorf("got %v", err)
		}
		func() {
			defer func() { _ = recover() }()
			_ = Do(t.Context(), ways[0], name, func(context.Context) error { panic("no luck") })
		}()
		began := time.Now()
		if err := Do(t.Context(), ways[1], name, func(context.Context) error { return nil }); err != nil {
			t.Error(err)
		}
		if waited := time.Since(began); waited != 0 {
			t.Errorf("waited %v for a released lease", waited)
		}
	})
}

func TestAWaitEndsWithItsContext(t *testing.T) {
	inTime(t, func(t *testing.T, ways [2]*shared) {
		begun, finish, ended := begin(t.Context(), ways[0])
		<-begun
		ctx, cancel := context.WithCancel(t.Context())
		waitBegun, _, waitEnded := begin(ctx, ways[1])
		pass(5 * poll)
		cancel()
		if err := <-waitEnded; !errors.Is(err, context.Canceled) || isClosed(waitBegun) {
			t.Errorf("got %v", err)
		}
		close(finish)
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

package follow

import (
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/platform/service"
	"github.com/waybook/waybook/internal/waybooktest"
)

// settling is long enough for the slowest machine to store a child beside its parent in most cases.
const settling = 100 * time.Millisecond

// stepping is a clock that steps. passed is by how much it is ahead for good.
type stepping struct{ offset, passed atomic.Int64 }

func (s *stepping) now() time.Time {
	return time.Now().Add(time.Duration(s.offset.Load() + s.passed.Load()))
}

// pass lets time pass until a sweep forgets each deletion from before, wherever steps have left the
// clock: no source can draw the identifiers, which are of the machine's time.
func (s *stepping) pass() { s.passed.Add(int64(27 * time.Hour)) }

// step moves the clock by up to an hour, in either direction.
func (s *stepping) step() { s.offset.Store(rand.Int64N(int64(2*time.Hour)) - int64(time.Hour)) }

// startReplica serves the services in a store, until the test ends.
func startReplica(t *testing.T, store docstore.Engine) *waybooktest.Waybook {
	t.Helper()
	return waybooktest.StartOn(t, store, waybooktest.Deps(func(deps *service.Deps) {
		deps.Now = func() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }
		deps.Changes = service.Changes{Settling: settling, Kept: time.Nanosecond}
	}))
}

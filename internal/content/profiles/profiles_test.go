package profiles

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/waybook/waybook/internal/platform/apierror"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

// accounts is an account service that only implements BatchGetUsers, and can be down.
type accounts struct {
	accountv1.AccountServiceClient

	mu    sync.Mutex
	names map[int64]string
	down  error
	asked [][]int64
	// gate, unless nil, blocks every call until it is closed.
	gate chan struct{}
}

func (a *accounts) BatchGetUsers(
	ctx context.Context, request *accountv1.BatchGetUsersRequest, _ ...grpc.CallOption,
) (*accountv1.BatchGetUsersResponse, error) {
	a.mu.Lock()
	a.asked = append(a.asked, request.GetUserIds())
	gate := a.gate
	a.mu.Unlock()
	if gate != nil {
		select {
		case <-gate:
		case <-ctx.Done():
			return nil, status.FromContextError(ctx.Err()).Err()
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.down != nil {
		return nil, a.down
	}
	reply := &accountv1.BatchGetUsersResponse{}
	for _, id := range request.GetUserIds() {
		if name, ok := a.names[id]; ok {
			reply.Users = append(reply.Users, &accountv1.User{UserId: id, Name: name, IconUrl: name + ".jpg"})
		}
	}
	return reply, nil
}

func (a *accounts) rename(id int64, name string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.names[id] = name
}

func (a *accounts) breakDown(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.down = err
}

// calls returns how many calls arrived.
func (a *accounts) calls() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.asked)
}

// inBubble runs a test on a fake clock, which advances only when all goroutines wait.
func inBubble(t *testing.T, test func(*testing.T, *accounts, *Directory)) {
	synctest.Test(t, func(t *testing.T) {
		a := &accounts{names: map[int64]string{1: "阿海", 2: "小旅人"}}
		d := NewDirectory(a, slog.New(slog.DiscardHandler))
		test(t, a, d)
	})
}

func TestARenameShowsWithinTheCachesBound(t *testing.T) {
	inBubble(t, func(t *testing.T, a *accounts, d *Directory) {
		if got := d.Show(t.Context(), 1).Of(1).Name; got != "阿海" {
			t.Fatalf("shown as %q", got)
		}
		a.rename(1, "大海")
		time.Sleep(profileTTL - time.Second)
		if got := d.Show(t.Context(), 1).Of(1).Name; got != "阿海" || a.calls() != 1 {
			t.Errorf("before the bound: %q after %d calls", got, a.calls())
		}
		time.Sleep(2 * time.Second)
		if got := d.Show(t.Context(), 1).Of(1).Name; got != "大海" {
			t.Errorf("after the bound: %q", got)
		}
	})
}

func TestConcurrentMissesShareOneCall(t *testing.T) {
	inBubble(t, func(t *testing.T, a *accounts, d *Directory) {
		a.gate = make(chan struct{})
		var group sync.WaitGroup
		for range 50 {
			group.Go(func() {
				if got := d.Show(t.Context(), 1, 2, 1); got.Of(1).Name != "阿海" || got.Of(2).Name != "小旅人" {
					t.Errorf("shown as %v", got)
				}
			})
		}
		synctest.Wait() // all callers wait for the same replies
		close(a.gate)
		group.Wait()
		// Two concurrent callers may each load one of the users, but no user is loaded
		// twice.
		asked := slices.Sorted(slices.Values(slices.Concat(a.asked...)))
		if !slices.Equal(asked, []int64{1, 2}) {
			t.Errorf("asked for %v", a.asked)
		}
	})
}

func TestACanceledCallerDoesNotCancelTheLoadForOthers(t *testing.T) {
	inBubble(t, func(t *testing.T, a *accounts, d *Directory) {
		a.gate = make(chan struct{})
		ctx, leave := context.WithCancel(t.Context())
		var group sync.WaitGroup
		group.Go(func() { d.Show(ctx, 1) })
		synctest.Wait()
		group.Go(func() {
			if got := d.Show(t.Context(), 1).Of(1).Name; got != "阿海" {
				t.Errorf("shown as %q", got)
			}
		})
		synctest.Wait()
		leave()
		synctest.Wait()
		close(a.gate)
		group.Wait()
	})
}

func TestWhileAccountIsDownTheLastKnownNameIsShown(t *testing.T) {
	inBubble(t, func(t *testing.T, a *accounts, d *Directory) {
		d.Show(t.Context(), 1)
		time.Sleep(time.Hour)
		a.breakDown(status.Error(codes.Unavailable, "down"))
		if got := d.Show(t.Context(), 1, 2); got.Of(1).Name != "阿海" || got.Of(2) != (Profile{}) {
			t.Errorf("shown as %v", got)
		}
		if profile, err := d.Require(t.Context(), 1); err != nil || profile.Name != "阿海" {
			t.Errorf("require a known user: %v, %v", profile, err)
		}
		_, err := d.Require(t.Context(), 2)
		if got := apierror.From(err); got == nil || got.Kind != codes.Unavailable {
			t.Errorf("require an unknown user: %v", err)
		}
		a.breakDown(nil)
		if got := d.Show(t.Context(), 2).Of(2).Name; got != "小旅人" {
			t.Errorf("once it is up again: %q", got)
		}
	})
}

func TestACallToAHangingAccountServiceTimesOut(t *testing.T) {
	inBubble(t, func(t *testing.T, a *accounts, d *Directory) {
		a.gate = make(chan struct{}) // and never closed
		if got := d.Show(t.Context(), 1).Of(1); got != (Profile{}) {
			t.Errorf("shown as %v", got)
		}
	})
}

func TestAUserWhoIsGoneHasAnEmptyNameAndCannotWrite(t *testing.T) {
	inBubble(t, func(t *testing.T, a *accounts, d *Directory) {
		for range 2 {
			if got := d.Show(t.Context(), 9).Of(9); got != (Profile{}) {
				t.Errorf("shown as %v", got)
			}
		}
		if a.calls() != 1 {
			t.Errorf("%d calls: the missing user is not cached", a.calls())
		}
		_, err := d.Require(t.Context(), 9)
		var known *apierror.Error
		if !errors.As(err, &known) || known.Reason != "USER_NOT_FOUND" {
			t.Errorf("require: %v", err)
		}
	})
}

func TestAUserWhoHasJustBeenCreatedCanWriteAlthoughSomebodyAskedBefore(t *testing.T) {
	inBubble(t, func(t *testing.T, a *accounts, d *Directory) {
		d.Show(t.Context(), 9)
		a.rename(9, "new")
		if got, err := d.Require(t.Context(), 9); err != nil || got.Name != "new" {
			t.Errorf("%v, %v", got, err)
		}
	})
}

func TestManyUsersAreLoadedInBatchesThatTheContractAllows(t *testing.T) {
	inBubble(t, func(t *testing.T, a *accounts, d *Directory) {
		ids := make([]int64, 2*maxBatch+1)
		for i := range ids {
			ids[i] = int64(i + 1)
			a.names[ids[i]] = fmt.Sprint(ids[i])
		}
		profiles := d.Show(t.Context(), ids...)
		for _, id := range ids {
			if profiles.Of(id).Name != fmt.Sprint(id) {
				t.Fatalf("user %d is shown as %v", id, profiles.Of(id))
			}
		}
		var sizes []int
		for _, batch := range a.asked {
			sizes = append(sizes, len(batch))
		}
		slices.Sort(sizes)
		if !slices.Equal(sizes, []int{1, maxBatch, maxBatch}) {
			t.Errorf("batches of %v", sizes)
		}
	})
}

func TestTheCachesAreBounded(t *testing.T) {
	inBubble(t, func(t *testing.T, _ *accounts, d *Directory) {
		ids := make([]int64, maxBatch)
		for round := range int64(maxProfiles/maxBatch + 5) {
			for i := range ids {
				ids[i] = round*maxBatch + int64(i) + 1
			}
			d.Show(t.Context(), ids...)
		}
		d.fresh.(interface{ CleanUp() }).CleanUp()
		d.last.(interface{ CleanUp() }).CleanUp()
		if fresh, last := d.fresh.EstimatedSize(), d.last.EstimatedSize(); fresh > maxProfiles || last > maxProfiles {
			t.Errorf("%d fresh and %d last profiles", fresh, last)
		}
	})
}

func TestAUserWhoHasJustMovedInIsNotMissing(t *testing.T) {
	inBubble(t, func(t *testing.T, a *accounts, d *Directory) {
		for _, want := range []map[int64]bool{{7: true}, {}} {
			got, err := d.Missing(t.Context(), []int64{1, 7})
			if err != nil || len(got) != len(want) || got[7] != want[7] {
				t.Errorf("missing are %v (%v), want %v", got, err, want)
			}
			a.rename(7, "阿明")
		}
	})
}

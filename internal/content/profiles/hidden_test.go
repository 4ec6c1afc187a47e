package profiles

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"

	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

// hiding is an account service with hidden users, one on each page.
type hiding struct {
	accountv1.AccountServiceClient

	hidden []int64
	down   error
	takes  time.Duration
	calls  int
}

func (h *hiding) ListHiddenUsers(
	ctx context.Context, request *accountv1.ListHiddenUsersRequest, _ ...grpc.CallOption,
) (*accountv1.ListHiddenUsersResponse, error) {
	h.calls++
	select {
	case <-time.After(h.takes):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	page := len(request.GetPageToken())
	if h.down != nil || page >= len(h.hidden) {
		return &accountv1.ListHiddenUsersResponse{}, h.down
	}
	reply := &accountv1.ListHiddenUsersResponse{UserIds: h.hidden[page : page+1]}
	if page+1 < len(h.hidden) {
		reply.NextPageToken = request.GetPageToken() + "x"
	}
	return reply, nil
}

// hiddenIn runs a test on a fake clock.
func hiddenIn(t *testing.T, test func(t *testing.T, account *hiding, expect func(want ...int64))) {
	synctest.Test(t, func(t *testing.T) {
		account := &hiding{hidden: []int64{1, 2}}
		h := NewHidden(account, slog.New(slog.DiscardHandler), time.Now)
		test(t, account, func(want ...int64) {
			t.Helper()
			if got := slices.Sorted(maps.Keys(h.Users(t.Context()))); !slices.Equal(got, want) {
				t.Errorf("hidden are %v, want %v", got, want)
			}
		})
	})
}

func TestHiddenUsersAreAskedForEveryFewSeconds(t *testing.T) {
	hiddenIn(t, func(t *testing.T, account *hiding, expect func(...int64)) {
		expect(1, 2)
		account.hidden, account.calls = []int64{3}, 0
		time.Sleep(askEvery - time.Millisecond)
		expect(1, 2)
		time.Sleep(time.Millisecond)
		expect(3)
		expect(3)
		if account.calls != 1 {
			t.Errorf("%d calls", account.calls)
		}
	})
}

func TestWhileAccountIsDownTheHiddenUsersAreThoseKnownLast(t *testing.T) {
	hiddenIn(t, func(t *testing.T, account *hiding, expect func(...int64)) {
		account.down = errors.New("down")
		expect()
		account.down = nil
		expect()
		time.Sleep(askEvery)
		expect(1, 2)
		account.down, account.hidden = errors.New("down"), nil
		for range 3 {
			time.Sleep(time.Hour)
			expect(1, 2)
		}
		account.down, account.takes = nil, time.Hour
		time.Sleep(askEvery)
		began := time.Now()
		expect(1, 2)
		expect(1, 2)
		if took := time.Since(began); took != askTimeout {
			t.Errorf("waited %v", took)
		}
		account.takes = 0
		time.Sleep(askEvery)
		expect()
	})
}

func TestOneCallAsksForHiddenUsersAndOthersWaitOnlyAfterAWhile(t *testing.T) {
	hiddenIn(t, func(t *testing.T, account *hiding, expect func(...int64)) {
		for _, c := range []struct {
			after  time.Duration
			others []int64
		}{{askEvery, []int64{1, 2}}, {maxHiddenAge, nil}} {
			account.hidden, account.takes = []int64{1, 2}, 0
			time.Sleep(askEvery)
			expect(1, 2)
			account.hidden, account.calls, account.takes = nil, 0, time.Millisecond
			time.Sleep(c.after)
			var all sync.WaitGroup
			all.Go(func() { expect() })
			synctest.Wait()
			for range 3 {
				all.Go(func() { expect(c.others...) })
			}
			all.Wait()
			if account.calls != 1 {
				t.Errorf("%d calls", account.calls)
			}
		}
	})
}

func TestAHiddenThatIsNilKnowsNobody(t *testing.T) {
	var none *Hidden
	if users := none.Users(t.Context()); len(users) > 0 || users.Require(1) != nil {
		t.Errorf("hidden are %v", users)
	}
}

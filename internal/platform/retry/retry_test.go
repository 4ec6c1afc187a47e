package retry

import (
	"context"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/waybook/waybook/internal/platform/apierror"
)

func TestABusyServiceIsAskedAgainWhenItSays(t *testing.T) {
	busy := apierror.New(codes.ResourceExhausted, "SERVICE_BUSY", "too many calls in flight")
	busy.RetryAfter = time.Minute
	attempts := apierror.New(codes.ResourceExhausted, "TOO_MANY_ATTEMPTS", "too many attempts")
	attempts.RetryAfter = time.Minute
	for name, c := range map[string]struct {
		err       error
		repeated  int64
		waitsFrom time.Duration
	}{
		"busy":              {busy, 2, time.Minute},
		"unavailable":       {status.Error(codes.Unavailable, "away"), 2, 100 * time.Millisecond},
		"too many attempts": {attempts, 0, 0},
		"a long message":    {status.Error(codes.ResourceExhausted, "grpc: received message larger than max"), 0, 0},
	} {
		calls := int64(0)
		wait := func(_ context.Context, pause time.Duration) error {
			if pause < c.waitsFrom || pause > c.waitsFrom+time.Second {
				t.Errorf("%s: a pause of %v, want %v", name, pause, c.waitsFrom)
			}
			return nil
		}
		repeated, err := Do(t.Context(), Options{Note: func(string) {}, Wait: wait}, func() error {
			if calls++; calls > 2 {
				return nil
			}
			return c.err
		})
		if repeated != c.repeated || (err == nil) != (repeated == 2) {
			t.Errorf("%s: repeated %d times, %v; want %d", name, repeated, err, c.repeated)
		}
	}
}

func TestACallIsNotRepeatedForMoreThanAnElection(t *testing.T) {
	calls := 0
	_, err := Do(t.Context(), Options{Note: func(string) {}, Wait: func(context.Context, time.Duration) error { return nil }}, func() error {
		calls++
		return status.Error(codes.Unavailable, "away")
	})
	if err == nil || calls != maxTries {
		t.Errorf("after %d calls: %v", calls, err)
	}
}

package reply

import (
	"testing"
	"time"
)

func TestAMomentIsWrittenAsTheLayoutSays(t *testing.T) {
	taipei := time.FixedZone("Taipei", 8*60*60)
	for _, at := range []time.Time{
		{},
		time.Date(-1, 12, 31, 23, 59, 59, 0, time.UTC), time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC),
		time.Date(9, 9, 9, 9, 9, 9, 999_999_999, time.UTC), time.Date(1969, 12, 31, 15, 59, 59, 0, time.UTC),
		time.Date(2026, 10, 11, 20, 30, 40, 0, time.UTC), time.Date(2028, 2, 28, 16, 0, 0, 0, time.UTC),
		time.Date(9999, 12, 31, 15, 59, 59, 0, time.UTC), time.Date(9999, 12, 31, 16, 0, 0, 0, time.UTC),
		time.UnixMilli(-1 << 62), time.UnixMilli(1<<62 - 1),
	} {
		d := &Document{Zone: taipei, Bytes: []byte("x")}
		d.appendMoment(at)
		if got, want := string(d.Bytes), "x"+at.In(taipei).Format(time.DateTime); got != want {
			t.Errorf("%v is written as %q, want %q", at, got, want)
		}
	}
}

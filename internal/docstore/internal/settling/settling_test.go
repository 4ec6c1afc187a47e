package settling

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/waybook/waybook/internal/docstore"
)

// The store's moments are the milliseconds of the test. Writes take as long as the settling time.
func TestWhatHasSettledWasThePresentASettlingTimeBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const settling = 2 * time.Second
		start := time.Now()
		now := func() docstore.Moment { return docstore.Moment(time.Since(start).Milliseconds()) }
		line := Begin(0)
		last := docstore.Moment(0)
		for _, pause := range []time.Duration{0, 1, 400, 1999, 2000, 2001, 5000, 30} {
			for range 5 {
				time.Sleep(pause * time.Millisecond)
				settled := line.Settled(now(), time.Now(), settling)
				if settled > 0 && now()-settled < docstore.Moment(settling.Milliseconds()) || settled < last {
					t.Errorf("at %d, %d has settled, after %d", now(), settled, last)
				}
				if pause < 2000 {
					continue
				}
				if last = settled; now()-settled > docstore.Moment(2*pause+2000) {
					t.Errorf("at %d, %d has settled, of a poller every %d ms", now(), settled, pause)
				}
			}
		}
	})
}

func TestAStoreThatHasJustBeenMetHasNoSettledMoment(t *testing.T) {
	var line Line
	if settled := line.Settled(5, time.Now(), time.Second); settled != 0 {
		t.Errorf("got %d", settled)
	}
}

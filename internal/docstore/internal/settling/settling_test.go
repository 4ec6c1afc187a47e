package settling

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/waybook/waybook/internal/docstore"
)

// The store's moments are the milliseconds of the test. To observe one takes 30 ms, and the moment is one of
// those: a late one where it is the settled one, and an early one where the read is at it.
func TestAReadIsAtAMomentASettlingTimeAfterTheSettledOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const settling, takes = 2 * time.Second, 30 * time.Millisecond
		began := time.Now()
		var line Line
		var observations []time.Time
		observe := func(context.Context) (docstore.Moment, error) {
			observations = append(observations, time.Now())
			time.Sleep(takes)
			return docstore.Moment(len(observations)), nil
		}
		reads := 0
		read := func(settled, present docstore.Moment) (docstore.FeedBatch, error) {
			reads++
			if between := observations[present-1].Sub(observations[settled-1].Add(takes)); between < settling {
				t.Errorf("after %v: the present is only %v after what is settled", time.Since(began), between)
			}
			return docstore.FeedBatch{Until: settled}, nil
		}
		for _, between := range []time.Duration{0, 50, 130, 399, 400, 401, 700, 1999, 2000, 2001, 2030, 5000} {
			for range 5 {
				called := time.Now()
				if _, err := line.Read(t.Context(), settling, observe, read); err != nil {
					t.Fatal(err)
				}
				if took := time.Since(called); took > settling+settling/perSettling+3*takes {
					t.Errorf("a read took %v", took)
				}
				time.Sleep(between * time.Millisecond)
			}
		}
		if reads == 0 {
			t.Error("nothing was read")
		}
		if most := int(time.Since(began) / (settling / perSettling)); len(observations) > most+1 {
			t.Errorf("%d observations in %v", len(observations), time.Since(began))
		}
	})
}

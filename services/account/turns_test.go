package account

import (
	"context"
	"strconv"
	"testing"
	"testing/synctest"
)

// A login counts its attempt for the email address and for the client together, so neither may wait for
// the other.
func TestNoKeyWaitsForTheTurnOfAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := &turns{}
		ends := map[string]func(){}
		for i := range 200 {
			key := strconv.Itoa(i)
			end, err := turns.take(t.Context(), key)
			if err != nil {
				t.Fatal(err)
			}
			ends[key] = end
		}
		impatient, cancel := context.WithCancel(t.Context())
		go func() {
			if _, err := turns.take(impatient, "7"); err == nil {
				t.Error("somebody had the turn of another")
			}
		}()
		var last string
		go func() {
			end, err := turns.take(t.Context(), "7")
			if err != nil {
				t.Error(err)
				return
			}
			last = "7"
			end()
		}()
		synctest.Wait()
		cancel()
		synctest.Wait()
		if last != "" {
			t.Error("two had one turn")
		}
		for _, end := range ends {
			end()
		}
		synctest.Wait()
		if last != "7" {
			t.Error("who waited did not get the turn")
		}
		if len(turns.of) != 0 {
			t.Errorf("%d keys are kept", len(turns.of))
		}
	})
}

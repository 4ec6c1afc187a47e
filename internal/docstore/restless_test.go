package docstore

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestOnlyADocumentThatHasChangedSinceItWasFoundIsRestless(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const settling = 2 * time.Second
		changed := func(id int64, at Moment) RawChange { return RawChange{ID: ValueOf(id), At: at} }
		var r restless
		want := func(step string, unsettled []RawChange, ids ...int64) {
			t.Helper()
			moving := r.found(unsettled, settling)
			if len(moving) != len(ids) {
				t.Fatalf("%s: got %v, want %v", step, moving, ids)
			}
			for i, change := range moving {
				if change.ID != ValueOf(ids[i]) {
					t.Errorf("%s: got %v, want %v", step, moving, ids)
				}
			}
		}
		want("at first", []RawChange{changed(3, 1), changed(2, 1), changed(1, 1)})
		time.Sleep(settling / 2)
		want("too early", []RawChange{changed(1, 2), changed(2, 1), changed(3, 2)})
		time.Sleep(settling / 2)
		want("after a settling time", []RawChange{changed(2, 1), changed(3, 3), changed(1, 3)}, 1, 3)
		r.settled([]RawChange{changed(3, 3)})
		want("after a page had one", []RawChange{changed(1, 4), changed(3, 4)}, 1)
		full := make([]RawChange, maxUnsettled)
		for i := range full {
			full[i] = changed(int64(10+i), 1)
		}
		want("in a look that may not have found all", full)
		want("after it", []RawChange{changed(1, 4), changed(3, 4)}, 1)
		want("after a look that did not find one", []RawChange{changed(3, 4)})
		want("found again", []RawChange{changed(1, 5), changed(3, 5)})
	})
}

func TestFullLooksRememberABoundedNumberOfDocuments(t *testing.T) {
	var r restless
	for look := range 2 * maxFound / maxUnsettled {
		full := make([]RawChange, maxUnsettled)
		for i := range full {
			full[i] = RawChange{ID: ValueOf(int64(look*maxUnsettled + i)), At: 1}
		}
		r.found(full, time.Second)
		if len(r.first) > maxFound {
			t.Fatalf("look %d: %d are remembered", look, len(r.first))
		}
	}
}

package choices_test

import (
	"context"
	"testing"

	"github.com/waybook/waybook/internal/storetest"
)

// A primary that was elected just now shows what a majority had before, unless the read asks for what was acknowledged.
func TestACountSeesWhatWasStoredBeforeIt(t *testing.T) {
	store := storetest.NewReplica(t, storetest.ReplicaSettings{})
	votes := newCounter(t, store)
	put(t, votes, voter, 2)
	store.Remember(0)
	put(t, votes, voter, 1)
	put(t, votes, another, 1)
	hasFailed := false
	late := openCounter(t, &storetest.Hooked{Engine: store.Process(), Read: func(_ context.Context, call storetest.Call, do func() error) error {
		if call.Collection == "choices" {
			hasFailed = true
			store.Fail(storetest.Failover{LateReads: 1})
			defer store.Settle()
		}
		return do()
	}})
	_, err := late.Recount(t.Context(), voteID)
	must(t, err)
	if got := stored(t, votes).Numbers; got != (numbers{2}) || !hasFailed {
		t.Errorf("numbers %v, has failed: %v", got, hasFailed)
	}
	expectTidy(t, votes)
}

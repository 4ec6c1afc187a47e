package storetest_test

import (
	"testing"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/storetest"
)

func TestNoCollectionKeepsWhatItWasLent(t *testing.T) {
	t.Parallel()
	storetest.RunWith(t, storetest.Settings{Programs: 10, Many: 300, IsShort: true}, func(t *testing.T) docstore.Engine {
		return storetest.Lender{Engine: storetest.NewReplica(t, storetest.ReplicaSettings{})}
	})
}

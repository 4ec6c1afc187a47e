package docstoretest_test

import (
	"testing"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/docstore/docstoretest"
)

func TestNoCollectionKeepsWhatItWasLent(t *testing.T) {
	t.Parallel()
	docstoretest.RunWith(t, docstoretest.Settings{Programs: 10, Many: 300, IsShort: true}, func(t *testing.T) docstore.Engine {
		return docstoretest.Lender{Engine: docstoretest.NewReplica(t, docstoretest.ReplicaSettings{})}
	})
}

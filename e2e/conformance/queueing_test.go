package conformance

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/waybook/waybook/e2e/mongotest"
	"github.com/waybook/waybook/e2e/mongowire"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/waybooktest"
)

// A server may let a write wait, for a lock or for room, longer than the settling time.
func TestADocumentWhoseInsertQueuesIsListed(t *testing.T) {
	t.Parallel()
	server := mongotest.StartServer(t, mongowire.Config{})
	uri := server.URI("")
	spec := docstore.Spec{Name: "followed", ID: docstore.Int64, Tombstones: true, Feed: &docstore.Feed{Settling: 100 * time.Millisecond}}
	documents := waybooktest.Must(docstore.Open[int64, work](t.Context(), open(t, uri, mongotest.NewDatabase(t, uri)), spec))(t)
	token, seen := "", []int64(nil)
	follow := func() {
		for began := time.Now(); time.Since(began) < 5*spec.SettlingTime(); {
			page := waybooktest.Must(documents.Changes(t.Context(), docstore.ChangesQuery{Token: token, Limit: 10}))(t)
			token = page.Next
			for _, change := range page.Changes {
				seen = append(seen, change.ID)
			}
		}
	}
	arrived, held := make(chan struct{}), make(chan struct{})
	server.SetFaults(func(command mongowire.Command) mongowire.Fault {
		if command.Collection != spec.Name || command.Name != "insert" && command.Name != "update" {
			return mongowire.Fault{}
		}
		close(arrived)
		return mongowire.Fault{Hold: held}
	})
	var inserting sync.WaitGroup
	inserting.Go(func() {
		if err := documents.Insert(t.Context(), work{1, "late"}); err != nil {
			t.Error(err)
		}
	})
	<-arrived
	server.SetFaults(nil)
	if err := documents.Insert(t.Context(), work{2, "early"}); err != nil {
		t.Error(err)
	}
	follow()
	close(held)
	inserting.Wait()
	follow()
	if !slices.Contains(seen, 1) || !slices.Contains(seen, 2) {
		t.Errorf("only %v were listed", seen)
	}
}

package storetest_test

import (
	"testing"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/id"
	"github.com/waybook/waybook/internal/storetest"
)

// rankedNote is a note of a later version.
type rankedNote struct {
	ID   int64  `bson:"_id"`
	Text string `bson:"text"`
	Rank int64  `bson:"rank"`
}

func TestAnIndexOfALaterVersionLacksWhatAnEarlierOneWritesUntilABackfill(t *testing.T) {
	r := storetest.NewReplica(t, storetest.ReplicaSettings{Shards: 2})
	earlier := openNotes(t, r)
	must(t, earlier.Insert(t.Context(), note{ID: 1}))
	process := r.Process()
	byRank := docstore.Index1[int64]{Name: "rank", A: "rank"}
	later, err := docstore.Open[int64, rankedNote](t.Context(), process, docstore.Spec{
		Name: "notes", ID: docstore.Int64, Sharding: docstore.ByPlace, Scheme: id.Scheme{}, Tombstones: true, Feed: &docstore.Feed{Settling: settling},
		Indexes: []docstore.Index{byRank.Declare()}, Defaults: map[string]docstore.Value{"rank": docstore.ValueOf[int64](5)},
	})
	must(t, err)
	ranked := func() (ids []int64) {
		t.Helper()
		page, err := later.Page(t.Context(), docstore.Query{Where: byRank.All().Everywhere(), Limit: len(keys)})
		must(t, err)
		for _, each := range page.Documents {
			ids = append(ids, each.ID)
		}
		return ids
	}
	must(t, later.Insert(t.Context(), rankedNote{ID: 2, Rank: 9}))
	expect(t, "the index", ranked(), 1, 2)
	must(t, earlier.Insert(t.Context(), note{ID: 3}))
	expect(t, "the index before a backfill", ranked(), 1, 2)
	completed, err := process.Backfill(t.Context())
	if must(t, err); completed != 1 {
		t.Errorf("the backfill completed %d documents", completed)
	}
	expect(t, "the index", ranked(), 1, 2, 3)
	_, err = earlier.Update(t.Context(), 2, func(n *note) error { n.Text = "changed"; return nil })
	must(t, err)
	found, err := later.Get(t.Context(), 2)
	if must(t, err); found != (rankedNote{2, "changed", 9}) {
		t.Errorf("got %+v", found)
	}
}

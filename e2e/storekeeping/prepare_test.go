package storekeeping_test

import (
	"testing"

	"github.com/waybook/waybook/e2e/mongotest"
	"github.com/waybook/waybook/e2e/mongowire"
	"github.com/waybook/waybook/internal/content/integrity"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/platform/service"
	"github.com/waybook/waybook/waybookctl/storekeeping"
)

func TestPrepareCreatesAndReportsWhatIsMissing(t *testing.T) {
	onEachStore(t, func(t *testing.T, s store) {
		first, err := storekeeping.Prepare(t.Context(), s.options())
		s.must(err)
		second, err := storekeeping.Prepare(t.Context(), s.options())
		s.must(err)
		specs := s.specs()
		if len(first.Collections) != len(specs) || len(second.Collections) != len(specs) {
			t.Fatalf("prepared %d and %d of %d collections", len(first.Collections), len(second.Collections), len(specs))
		}
		for i, spec := range specs {
			fresh, again := first.Collections[i], second.Collections[i]
			if fresh.Name != spec.Name || !fresh.Made || len(fresh.IndexesMade) != len(spec.Indexes) || len(fresh.IndexesFound) != 0 {
				t.Errorf("first: %+v", fresh)
			}
			if again.Name != spec.Name || again.Made || len(again.IndexesMade) != 0 || len(again.IndexesFound) != len(spec.Indexes) || again.Sharded {
				t.Errorf("again: %+v", again)
			}
		}
		s.fill()
		s.dropIndex(specs[len(specs)-1], specs[len(specs)-1].Indexes[0].Name)
		third, err := storekeeping.Prepare(t.Context(), s.options())
		s.must(err)
		made := 0
		for _, c := range third.Collections {
			made += len(c.IndexesMade)
		}
		if made != 1 {
			t.Errorf("%d indexes were created, want 1", made)
		}
		s.check(integrity.Look, storekeeping.Clean)
	})
}

func TestPrepareShardsTheDeclaredCollectionsOnACluster(t *testing.T) {
	for name, start := range map[string]func(*testing.T) (uri string){
		"FerretDB": func(t *testing.T) string {
			return mongotest.StartServer(t, mongowire.Config{Role: mongowire.Router}).URI(mongotest.Database())
		},
		"real server": func(t *testing.T) string { return mongotest.OnRealServer(t) },
	} {
		t.Run(name, func(t *testing.T) {
			s := store{t, service.StoreFlags{MongoDBURI: start(t)}}
			prepared, err := storekeeping.Prepare(t.Context(), s.options())
			s.must(err)
			if prepared.Collections[0].Placement == "" {
				t.Skipf("%s does not name a sharded cluster", mongotest.RealServer)
			}
			for i, spec := range s.specs() {
				want := "one shard"
				if spec.Sharding == docstore.ByID {
					want = "by _id"
				}
				if c := prepared.Collections[i]; c.Placement != want || c.Sharded != (spec.Sharding == docstore.ByID) {
					t.Errorf("got %+v", c)
				}
			}
			s.fill()
			s.check(integrity.Look, storekeeping.Clean)
		})
	}
}

package operations_test

import (
	"path/filepath"
	"testing"

	"github.com/waybook/waybook/e2e/launch"
	"github.com/waybook/waybook/e2e/mongotest"
	"github.com/waybook/waybook/e2e/mongowire"
	"github.com/waybook/waybook/internal/content/integrity"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/longform"
	"github.com/waybook/waybook/internal/platform/service"
	"github.com/waybook/waybook/waybookctl/storekeeping"
)

func TestPrepareCreatesAndReportsWhatIsMissingOnEachStore(t *testing.T) {
	t.Parallel()
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
		s.check(integrity.Look)
	})
}

func TestPrepareShardsTheDeclaredCollectionsOnAClusterOnEachStore(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]func(*testing.T) (uri string){
		"FerretDB": func(t *testing.T) string {
			longform.Only(t)
			return mongotest.StartServer(t, mongowire.Config{Role: mongowire.Router, Shards: 3}).URI(mongotest.Database())
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
				want := map[docstore.Sharding]string{docstore.OneShard: "one shard", docstore.ByID: "by _id", docstore.ByPlace: "by place"}[spec.Sharding]
				if c := prepared.Collections[i]; c.Placement != want || c.Sharded != (spec.Sharding != docstore.OneShard) {
					t.Errorf("got %+v", c)
				}
			}
			s.fill()
			s.check(integrity.Look)
		})
	}
}

func TestAProgramWarnsOfAMongoDBThatIsTooOldAndGoesOn(t *testing.T) {
	t.Parallel()
	uri := mongotest.StartServer(t, mongowire.Config{Plays: mongowire.Version44}).URI(mongotest.Database())
	service := launch.Begin(t, filepath.Join(binaries, "standalone"), nil,
		append(launch.FreePorts(t.TempDir()), "-admin", launch.Address(t), "-mongodb-uri", uri, "-demo=false")...)
	service.Ready()
	service.AwaitLog("this MongoDB is older than the versions that Waybook supports")
	service.AwaitLog(" mongodb=4.4.0")
}

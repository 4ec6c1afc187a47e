package mongowire_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/waybook/waybook/e2e/mongotest"
	"github.com/waybook/waybook/e2e/mongowire"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/docstore/mongo"
	places "github.com/waybook/waybook/internal/id"
	"github.com/waybook/waybook/internal/waybooktest"
)

// onRouter opens an engine on a cluster of some shards.
func onRouter(t *testing.T, shards int) (*mongowire.Server, *mongo.Engine, string) {
	t.Helper()
	server := mongotest.StartServer(t, mongowire.Config{Role: mongowire.Router, Shards: shards})
	database := mongotest.Database()
	engine, err := mongo.Open(t.Context(), server.URI(database), "")
	waybooktest.OK(t, err)
	t.Cleanup(func() { waybooktest.OK(t, engine.Close()) })
	return server, engine, database
}

func TestTheEngineShardsACollectionOnARouter(t *testing.T) {
	server, engine, database := onRouter(t, 1)
	spec := docstore.Spec{Name: "sessions", ID: docstore.String, Sharding: docstore.ByID, Indexes: []docstore.Index{
		{Name: "expiry", Fields: []docstore.Field{{Name: "expire_millis", Kind: docstore.Int64}}},
	}}
	_, err := engine.Open(t.Context(), spec)
	waybooktest.OK(t, err)
	wantPlacement := func(want mongo.Placement) {
		t.Helper()
		if got, err := engine.Placement(t.Context(), spec); err != nil || got != want {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
	}
	wantPlacement(mongo.OnOneShard)
	for range 2 { // the second time changes nothing
		got, err := engine.Shard(t.Context(), spec)
		waybooktest.OK(t, err)
		if got != mongo.ShardedByID {
			t.Errorf("got %q", got)
		}
	}
	wantPlacement(mongo.ShardedByID)
	if n := server.Count("shardCollection"); n != 1 {
		t.Errorf("the engine sharded the collection %d times", n)
	}
	inspection, err := engine.Inspect(t.Context(), spec)
	waybooktest.OK(t, err)
	if len(inspection.Missing)+len(inspection.Undeclared) > 0 {
		t.Errorf("got %+v", inspection)
	}
	server.SetShardKey(database+".sessions", bson.D{{Key: "expire_millis", Value: 1}})
	if _, err := engine.Placement(t.Context(), spec); !errors.Is(err, mongo.ErrShardKey) {
		t.Errorf("got %v", err)
	}
	server.SetShardKey(database+".sessions", nil)
	wantPlacement(mongo.OnOneShard)
}

// leaves is a collection that is sharded by place.
func leaves() docstore.Spec {
	return docstore.Spec{Name: "leaves", ID: docstore.Int64, Sharding: docstore.ByPlace, Scheme: places.Scheme{}, PlaceFields: []string{"tree"}, Indexes: []docstore.Index{
		docstore.Index2[int64, string]{Name: "request", A: "tree", B: "request_key", Unique: true}.Declare(),
	}}
}

type leaf struct {
	ID         int64  `bson:"_id"`
	Tree       int64  `bson:"tree"`
	RequestKey string `bson:"request_key"`
}

func TestAnEmptyCollectionIsSpreadEvenlyOverTheShardsAgainIfThereAreMore(t *testing.T) {
	for _, counts := range [][]int{{1, 2, 3, 5}, {2, 2, 3}, {5, 8}} {
		server, engine, database := onRouter(t, counts[0])
		table, err := docstore.Open[int64, leaf](t.Context(), engine, leaves())
		waybooktest.OK(t, err)
		for i, shards := range counts {
			for range shards - counts[max(0, i-1)] {
				server.AddShard()
			}
			got, err := engine.Shard(t.Context(), leaves())
			waybooktest.OK(t, err)
			if ranges := joined(server.Ranges(database + ".leaves")); got != mongo.ShardedByPlace || !slices.Equal(ranges, even(shards)) {
				t.Errorf("%d of %v shards: it is %s in %v", shards, counts, got, ranges)
			}
		}
		waybooktest.OK(t, table.Insert(t.Context(), leaf{ID: 7, Tree: 7}))
		server.AddShard()
		_, err = engine.Shard(t.Context(), leaves())
		waybooktest.OK(t, err)
		if ranges := joined(server.Ranges(database + ".leaves")); !slices.Equal(ranges, even(counts[len(counts)-1])) {
			t.Errorf("%v shards, with a document: it is in %v", counts, ranges)
		}
	}
}

// even returns equal ranges of the places, one on each shard.
func even(shards int) (ranges []mongowire.Range) {
	for i := range shards {
		ranges = append(ranges, mongowire.Range{
			Min: int64(i * places.Places / shards), Max: int64((i + 1) * places.Places / shards), Shard: fmt.Sprintf("shard%02d", i),
		})
	}
	ranges[0].Min, ranges[shards-1].Max = math.MinInt64, math.MaxInt64
	return ranges
}

// joined joins the neighbors on one shard, as a server may do at any time.
func joined(ranges []mongowire.Range) (wide []mongowire.Range) {
	for _, each := range ranges {
		if n := len(wide); n > 0 && wide[n-1].Shard == each.Shard {
			wide[n-1].Max = each.Max
		} else {
			wide = append(wide, each)
		}
	}
	return wide
}

func TestACollectionWithDocumentsIsLeftToTheBalancer(t *testing.T) {
	server, engine, database := onRouter(t, 3)
	table, err := docstore.Open[int64, leaf](t.Context(), engine, leaves())
	waybooktest.OK(t, err)
	waybooktest.OK(t, table.Insert(t.Context(), leaf{ID: 7, Tree: 7}))
	got, err := engine.Shard(t.Context(), leaves())
	waybooktest.OK(t, err)
	if ranges := server.Ranges(database + ".leaves"); got != mongo.ShardedByPlace || len(ranges) != 1 || ranges[0].Shard != "shard00" {
		t.Errorf("it is %s in %v", got, ranges)
	}
}

func TestARecentReadOnAClusterIsConfirmedByItsOwnCollectionOnly(t *testing.T) {
	server, engine, _ := onRouter(t, 2)
	type thing struct {
		ID int64 `bson:"_id"`
	}
	things := func(name string, sharding docstore.Sharding) *docstore.Collection[int64, thing] {
		c, err := docstore.Open[int64, thing](t.Context(), engine, docstore.Spec{Name: name, ID: docstore.Int64, Sharding: sharding})
		waybooktest.OK(t, err)
		waybooktest.OK(t, c.Insert(t.Context(), thing{1}))
		return c
	}
	users, sessions := things("users", docstore.OneShard), things("sessions", docstore.ByID)
	linearizable := func(do func() error) (reads int) {
		t.Helper()
		mark := server.Mark()
		waybooktest.OK(t, do())
		commands, _ := server.Since(mark)
		for _, command := range commands {
			if level, _ := command.Body.Lookup("readConcern", "level").StringValueOK(); level == "linearizable" {
				reads++
			}
		}
		return reads
	}
	recent := func(c *docstore.Collection[int64, thing]) func() error {
		return func() error { _, err := c.Get(t.Context(), 1, docstore.Recent(time.Hour)); return err }
	}
	waybooktest.OK(t, sessions.Delete(t.Context(), 1))
	waybooktest.OK(t, sessions.Insert(t.Context(), thing{1}))
	for i, want := range []int{1, 0} { // the first read confirms the second
		if reads := linearizable(recent(users)); reads != want {
			t.Errorf("read %d of a user, with %d linearizable reads", i+1, reads)
		}
	}
	if reads := linearizable(recent(sessions)); reads != 0 {
		t.Errorf("a session was read linearizably")
	}
}

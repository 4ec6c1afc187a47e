package mongowire_test

import (
	"testing"
	"time"

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

package mongowire_test

import (
	"errors"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/waybook/waybook/e2e/mongotest"
	"github.com/waybook/waybook/e2e/mongowire"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/docstore/mongo"
)

func TestTheEngineShardsACollectionOnARouter(t *testing.T) {
	server := mongotest.StartServer(t, mongowire.Config{Role: mongowire.Router})
	database := mongotest.Database()
	engine, err := mongo.Open(t.Context(), server.URI(database), "")
	must(t, err)
	t.Cleanup(func() { must(t, engine.Close()) })
	spec := docstore.Spec{Name: "sessions", ID: docstore.String, Sharding: docstore.ByID, Indexes: []docstore.Index{
		{Name: "expiry", Fields: []docstore.Field{{Name: "expire_millis", Kind: docstore.Int64}}},
	}}
	_, err = engine.Open(t.Context(), spec)
	must(t, err)
	wantPlacement := func(want mongo.Placement) {
		t.Helper()
		if got, err := engine.Placement(t.Context(), spec); err != nil || got != want {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
	}
	wantPlacement(mongo.OnOneShard)
	for range 2 { // the second time changes nothing
		got, err := engine.Shard(t.Context(), spec)
		must(t, err)
		if got != mongo.ShardedByID {
			t.Errorf("got %q", got)
		}
	}
	wantPlacement(mongo.ShardedByID)
	if n := server.Count("shardCollection"); n != 1 {
		t.Errorf("the engine sharded the collection %d times", n)
	}
	inspection, err := engine.Inspect(t.Context(), spec)
	must(t, err)
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

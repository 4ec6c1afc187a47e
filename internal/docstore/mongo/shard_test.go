package mongo

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/id"
)

// keyedSpec is a collection that may be sharded by _id.
func keyedSpec() docstore.Spec {
	return docstore.Spec{Name: "sessions", ID: docstore.String, Sharding: docstore.ByID, Indexes: []docstore.Index{
		{Name: "expiry", Fields: []docstore.Field{{Name: "expire_millis", Kind: docstore.Int64}}},
		{Name: "flag", Fields: []docstore.Field{{Name: "flag", Kind: docstore.String}}, Sparse: true},
	}}
}

func TestThePlacementOfACollectionIsReadFromTheClustersCatalog(t *testing.T) {
	byOwner := bson.D{{Key: "owner_id", Value: 1}}
	for name, c := range map[string]struct {
		entry shardEntry
		want  Placement
	}{
		"no entry":         {shardEntry{}, OnOneShard},
		"moved as a whole": {shardEntry{Key: bson.D{{Key: "_id", Value: 1}}, Unsplittable: true}, OnOneShard},
		"ranges of _id":    {shardEntry{Key: bson.D{{Key: "_id", Value: 1}}}, ShardedByID},
		"hashes of _id":    {shardEntry{Key: bson.D{{Key: "_id", Value: "hashed"}}}, ShardedByID},
		"ranges of places": {shardEntry{Key: bson.D{{Key: "_place", Value: int32(1)}}}, ShardedByPlace},
		"hashes of places": {shardEntry{Key: bson.D{{Key: "_place", Value: "hashed"}}}, "by _place"},
		"another field":    {shardEntry{Key: byOwner}, "by owner_id"},
		"_id and more":     {shardEntry{Key: append(bson.D{{Key: "_id", Value: 1}}, byOwner...)}, "by _id, owner_id"},
	} {
		if got := c.entry.placement(); got != c.want {
			t.Errorf("%s: got %q", name, got)
		}
	}
}

func TestAPlacementThatBreaksUniquenessIsRefused(t *testing.T) {
	for _, c := range []struct {
		spec      docstore.Spec
		placement Placement
		refused   bool
	}{
		{usersTable().spec, NoCluster, false},
		{usersTable().spec, OnOneShard, false},
		{usersTable().spec, ShardedByID, true},
		{usersTable().spec, "by email", true},
		{keyedSpec(), OnOneShard, false},
		{keyedSpec(), ShardedByID, false},
		{keyedSpec(), "by expire_millis", true},
		{keyedSpec(), ShardedByPlace, true},
		{placedSpec(), OnOneShard, false},
		{placedSpec(), ShardedByPlace, false},
		{placedSpec(), ShardedByID, true},
		{placedSpec(), "by _place", true},
	} {
		if err := c.placement.check(c.spec); errors.Is(err, ErrShardKey) != c.refused {
			t.Errorf("%s %q: got %v", c.spec.Name, c.placement, err)
		}
	}
}

// placedSpec is a collection that may be sharded by place.
func placedSpec() docstore.Spec {
	return docstore.Spec{
		Name: "albums", ID: docstore.Int64, Sharding: docstore.ByPlace, Scheme: id.Scheme{}, PlaceFields: []string{"owner_id"},
		Indexes: []docstore.Index{docstore.Index2[int64, string]{Name: "request", A: "owner_id", B: "request_key", Unique: true}.Declare()},
	}
}

func TestTheCommandsThatShardACollection(t *testing.T) {
	for name, c := range map[string]struct {
		spec docstore.Spec
		want []string
	}{
		"by id": {keyedSpec(), []string{
			`db {"createIndexes":"sessions","indexes":[{"key":{"_id":"hashed"},"name":"_id_hashed"}],"commitQuorum":"majority"}`,
			`admin {"shardCollection":"db.sessions","key":{"_id":"hashed"}}`,
		}},
		"by place": {placedSpec(), []string{
			`admin {"shardCollection":"db.albums","key":{"_place":1}}`,
		}},
	} {
		var got []string
		for _, command := range shardCommands("db", c.spec) {
			body, err := bson.MarshalExtJSON(command.body, false, false)
			must(t, err)
			got = append(got, command.database+" "+string(body))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s:\ngot  %q\nwant %q", name, got, c.want)
		}
	}
}

func TestEachMoveLiesWithinOneRangeThatIsThere(t *testing.T) {
	const first, last = math.MinInt64, math.MaxInt64
	halves := []placeRange{{first, 32_768, "a"}, {32_768, last, "b"}}
	for name, c := range map[string]struct {
		present []placeRange
		shards  []string
		want    []placeRange
	}{
		"the only shard": {[]placeRange{{first, last, "a"}}, []string{"a"}, nil},
		"all on one":     {[]placeRange{{first, last, "a"}}, []string{"a", "b", "c"}, []placeRange{{21_845, 43_690, "b"}, {43_690, last, "c"}}},
		"a third shard":  {halves, []string{"a", "b", "c"}, []placeRange{{21_845, 32_768, "b"}, {43_690, last, "c"}}},
		"a shard less":   {halves, []string{"b"}, []placeRange{{first, 32_768, "b"}}},
		"in place":       {halves, []string{"a", "b"}, nil},
		"in more parts":  {[]placeRange{{first, 7, "a"}, {7, 40_000, "a"}, {40_000, last, "a"}}, []string{"a", "b"}, []placeRange{{32_768, 40_000, "b"}, {40_000, last, "b"}}},
	} {
		if got := moves(c.present, evenRanges(c.shards, id.Places)); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}

// cluster is a cluster of two shards, and one that is being removed, for a peer, with an empty collection.
type cluster struct {
	catalog
	// key is the shard key of the collection, and isSpread says that the upper half of the places is on the second shard.
	key      bson.D
	isSpread bool
	// moves has the codes by which the next moves are refused.
	moves []int
}

func (c *cluster) answer(command string, body bson.Raw) bson.D {
	switch database, _ := body.Lookup("$db").StringValueOK(); {
	case command == "listShards":
		return append(bson.D{{Key: "shards", Value: bson.A{
			bson.D{{Key: "_id", Value: "a"}}, bson.D{{Key: "_id", Value: "b"}}, bson.D{{Key: "_id", Value: "c"}, {Key: "draining", Value: true}},
		}}}, done...)
	case command == "shardCollection":
		c.key = bson.D{{Key: docstore.PlaceField, Value: 1}}
		return done
	case command == "moveRange" && len(c.moves) > 0:
		code := c.moves[0]
		c.moves = c.moves[1:]
		return refusal(code)
	case command == "moveRange":
		c.isSpread = true
		return done
	case command == "find" && database == "config" && nameIn(body) == "collections" && c.key != nil:
		return firstBatch(bson.D{{Key: "_id", Value: "db.albums"}, {Key: "uuid", Value: bson.Binary{Subtype: 4, Data: make([]byte, 16)}}, {Key: "key", Value: c.key}})
	case command == "find" && database == "config" && nameIn(body) == "chunks":
		half, upper := bson.D{{Key: docstore.PlaceField, Value: int64(32_768)}}, "a"
		if c.isSpread {
			upper = "b"
		}
		return firstBatch(
			bson.D{{Key: "_id", Value: 0}, {Key: "min", Value: bson.D{{Key: docstore.PlaceField, Value: bson.MinKey{}}}}, {Key: "max", Value: half}, {Key: "shard", Value: "a"}},
			bson.D{{Key: "_id", Value: 1}, {Key: "min", Value: half}, {Key: "max", Value: bson.D{{Key: docstore.PlaceField, Value: bson.MaxKey{}}}}, {Key: "shard", Value: upper}},
		)
	}
	return c.catalog.answer(command, body)
}

// nameIn returns the collection of a find.
func nameIn(find bson.Raw) string { return find.Index(0).Value().StringValue() }

func TestAPreparationSpreadsACollectionThatAnInterruptedOneHasSharded(t *testing.T) {
	const unauthorized = 13
	c := &cluster{catalog: catalog{indexes: make(map[string]bson.D)}, moves: []int{unauthorized}}
	engine, peer := openWith(t, ofRouter, "", c.answer)
	if _, err := engine.Shard(t.Context(), placedSpec()); err == nil || errors.Is(err, docstore.ErrUnavailable) {
		t.Fatalf("got %v", err)
	}
	for i, want := range []int{2, 2} { // a third preparation finds it spread
		placement, err := engine.Shard(t.Context(), placedSpec())
		if err != nil || placement != ShardedByPlace || !c.isSpread {
			t.Errorf("preparation %d: it is %s, spread: %v, %v", i+2, placement, c.isSpread, err)
		}
		if n := len(peer.commands("moveRange")); n != want {
			t.Errorf("preparation %d: %d moves, want %d", i+2, n, want)
		}
	}
	if n := len(peer.commands("shardCollection")); n != 1 {
		t.Errorf("the collection was sharded %d times", n)
	}
}

func TestAMoveThatAnotherOneHoldsUpIsTriedAgain(t *testing.T) {
	for _, code := range []int{46, 117, 194, 200} { // LockBusy, ConflictingOperationInProgress, BalancerInterrupted, ChunkRangeCleanupPending
		c := &cluster{catalog: catalog{indexes: make(map[string]bson.D)}, moves: []int{code}}
		engine, peer := openWith(t, ofRouter, "", c.answer)
		placement, err := engine.Shard(t.Context(), placedSpec())
		if n := len(peer.commands("moveRange")); err != nil || placement != ShardedByPlace || n != 2 {
			t.Errorf("%d: it is %s after %d moves, %v", code, placement, n, err)
		}
	}
}

func TestAUserWhoMayNotReadTheCatalogOfAClusterLearnsTheRole(t *testing.T) {
	engine, _ := openWith(t, ofRouter, "", func(string, bson.Raw) bson.D { return refusal(13) })
	_, err := engine.Placement(t.Context(), placedSpec())
	if err == nil || !strings.Contains(err.Error(), "clusterMonitor") || errors.Is(err, docstore.ErrUnavailable) {
		t.Errorf("got %v", err)
	}
}

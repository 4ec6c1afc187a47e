package mongo

import (
	"errors"
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/waybook/waybook/internal/docstore"
)

// keyedSpec is a collection that may be sharded by _id.
func keyedSpec() docstore.Spec {
	return docstore.Spec{Name: "sessions", ID: docstore.String, Sharding: docstore.ByID, Indexes: []docstore.Index{
		{Name: "expiry", Fields: []docstore.Field{{Name: "expire_millis", Kind: docstore.Int64}}},
		{Name: "flag", Fields: []docstore.Field{{Name: "flag", Kind: docstore.String}}, Sparse: true},
	}}
}

func TestARouterIsRecognizedByItsReplyToHello(t *testing.T) {
	for name, c := range map[string]struct {
		reply bson.D
		want  bool
	}{
		"mongos":         {bson.D{{Key: "isWritablePrimary", Value: true}, {Key: "msg", Value: "isdbgrid"}}, true},
		"replica set":    {bson.D{{Key: "isWritablePrimary", Value: true}, {Key: "setName", Value: "rs0"}}, false},
		"something else": {bson.D{{Key: "msg", Value: 1}}, false},
		"nothing":        {bson.D{}, false},
	} {
		reply, err := bson.Marshal(c.reply)
		if err != nil {
			t.Fatal(err)
		}
		if got := isRouter(reply); got != c.want {
			t.Errorf("%s: got %v", name, got)
		}
	}
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
		Name: "albums", ID: docstore.Int64, Sharding: docstore.ByPlace, PlaceFields: []string{"owner_id"},
		Indexes: []docstore.Index{docstore.Index2[int64, string]{Name: "request", A: "owner_id", B: "request_key", Unique: true}.Declare()},
	}
}

func TestTheCommandsThatShardACollection(t *testing.T) {
	for name, c := range map[string]struct {
		spec    docstore.Spec
		shards  []string
		isEmpty bool
		want    []string
	}{
		"by id": {keyedSpec(), []string{"a", "b"}, false, []string{
			`db {"createIndexes":"sessions","indexes":[{"key":{"_id":"hashed"},"name":"_id_hashed"}],"commitQuorum":"majority"}`,
			`admin {"shardCollection":"db.sessions","key":{"_id":"hashed"}}`,
		}},
		"by place, with documents": {placedSpec(), []string{"a", "b"}, false, []string{
			`admin {"shardCollection":"db.albums","key":{"_place":1}}`,
		}},
		"by place, empty": {placedSpec(), []string{"a", "b", "c"}, true, []string{
			`admin {"shardCollection":"db.albums","key":{"_place":1}}`,
			`admin {"moveRange":"db.albums","min":{"_place":{"$minKey":1}},"max":{"_place":21845},"toShard":"a"}`,
			`admin {"moveRange":"db.albums","min":{"_place":21845},"max":{"_place":43690},"toShard":"b"}`,
			`admin {"moveRange":"db.albums","min":{"_place":43690},"max":{"_place":{"$maxKey":1}},"toShard":"c"}`,
		}},
		"by place, empty, on the only shard": {placedSpec(), []string{"a"}, true, []string{
			`admin {"shardCollection":"db.albums","key":{"_place":1}}`,
		}},
	} {
		var got []string
		for _, command := range shardCommands("db", c.spec, c.shards, c.isEmpty) {
			body, err := bson.MarshalExtJSON(command.body, false, false)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, command.database+" "+string(body))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s:\ngot  %q\nwant %q", name, got, c.want)
		}
	}
}

package mongo

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/pause"
)

// ErrShardKey reports that a collection has a shard key under which _id, or another unique
// index, is not unique over all shards.
var ErrShardKey = errors.New("the shard key of the collection does not keep ids and unique indexes unique " +
	"over all shards")

// unauthorized is the error code of a command that the user of the URI may not run.
const unauthorized = 13

// Placement is the placement of a collection on the server.
type Placement string

// The placements of a collection.
const (
	// NoCluster: the server is not a sharded cluster.
	NoCluster Placement = ""
	// OnOneShard: the collection is not sharded.
	OnOneShard Placement = "one shard"
	// ShardedByID: the collection is spread over the shards by _id.
	ShardedByID Placement = "by _id"
	// ShardedByPlace: the collection is spread over the shards by the places of its documents.
	ShardedByPlace Placement = "by place"
)

// Placement returns the placement of a collection and changes nothing. Errors: ErrShardKey.
func (e *Engine) Placement(ctx context.Context, spec docstore.Spec) (Placement, error) {
	placement, _, err := e.entryOf(ctx, spec)
	return placement, err
}

// entryOf returns the placement of a collection and its entry in the catalog of the cluster.
func (e *Engine) entryOf(ctx context.Context, spec docstore.Spec) (placement Placement, entry shardEntry, err error) {
	err = e.call(ctx, func() error {
		if !e.isRouter {
			return nil
		}
		name := bson.D{{Key: "_id", Value: e.database.Name() + "." + spec.Name}}
		err := e.client.Database("config").Collection("collections").FindOne(ctx, name).Decode(&entry)
		switch {
		case hasCode(err, unauthorized):
			return fmt.Errorf("read config.collections, for which the user needs the role clusterMonitor: %w", err)
		case err != nil && !errors.Is(err, mongo.ErrNoDocuments):
			return fmt.Errorf("read config.collections: %w", err)
		}
		placement = entry.placement()
		return nil
	})
	if err != nil {
		return NoCluster, entry, err
	}
	return placement, entry, placement.check(spec)
}

// Shard shards a collection as declared, if the server is a sharded cluster and the collection is
// not sharded yet. An empty collection that is sharded by place is spread evenly over all shards
// at once, also if an earlier call was interrupted or shards were added since; the balancer of the
// cluster spreads another one. It returns the resulting placement. Errors: ErrShardKey.
func (e *Engine) Shard(ctx context.Context, spec docstore.Spec) (Placement, error) {
	if err := e.call(ctx, func() error { return e.claim(ctx) }); err != nil {
		return NoCluster, err
	}
	return e.shard(ctx, spec)
}

func (e *Engine) shard(ctx context.Context, spec docstore.Spec) (Placement, error) {
	placement, entry, err := e.entryOf(ctx, spec)
	if err != nil || placement == NoCluster || placement == ShardedByID || spec.Sharding == docstore.OneShard {
		return placement, err
	}
	if placement == OnOneShard {
		for _, command := range shardCommands(e.database.Name(), spec) {
			if err := e.runInCluster(ctx, command); err != nil {
				return placement, fmt.Errorf("shard collection %s: %w", spec.Name, err)
			}
		}
		if placement, entry, err = e.entryOf(ctx, spec); err != nil {
			return placement, err
		}
	}
	if placement == ShardedByPlace {
		err = e.spread(ctx, spec, entry)
	}
	return placement, err
}

// spread gives each shard an equal range of the places, if the collection is empty.
func (e *Engine) spread(ctx context.Context, spec docstore.Spec, entry shardEntry) error {
	shards, isEmpty, err := e.shardsFor(ctx, spec)
	if err != nil || !isEmpty {
		return err
	}
	present, err := e.rangesOf(ctx, entry)
	if err != nil {
		return err
	}
	for _, move := range moves(present, evenRanges(shards, spec.Scheme.Places())) {
		if err := e.runInCluster(ctx, move.command(e.database.Name()+"."+spec.Name)); err != nil {
			return fmt.Errorf("spread collection %s: %w", spec.Name, err)
		}
	}
	return nil
}

// shardTries bounds how often a command that shards is tried, with awaitPause in between. A move
// of a range waits for others in this way: the balancer's, or one that was interrupted.
const shardTries = 20

// runInCluster runs a command until no other operation is in its way.
func (e *Engine) runInCluster(ctx context.Context, command command) error {
	for try := 1; ; try++ {
		err := e.call(ctx, func() error {
			return e.client.Database(command.database).RunCommand(ctx, command.body).Err()
		})
		if !errors.Is(err, docstore.ErrUnavailable) || try == shardTries {
			return err
		}
		if err := pause.For(ctx, awaitPause); err != nil {
			return err
		}
	}
}

// rangesOf returns the ranges of a collection that is sharded by place.
func (e *Engine) rangesOf(ctx context.Context, entry shardEntry) (ranges []placeRange, err error) {
	err = e.call(ctx, func() error {
		ofCollection := bson.D{{Key: "uuid", Value: entry.UUID}}
		cursor, err := e.client.Database("config").Collection("chunks").Find(ctx, ofCollection)
		if err != nil {
			return fmt.Errorf("read config.chunks: %w", err)
		}
		var chunks []struct {
			Min   bson.Raw `bson:"min"`
			Max   bson.Raw `bson:"max"`
			Shard string   `bson:"shard"`
		}
		if err := cursor.All(ctx, &chunks); err != nil {
			return fmt.Errorf("read config.chunks: %w", err)
		}
		for _, chunk := range chunks {
			ranges = append(ranges, placeRange{placeAt(chunk.Min, math.MinInt64), placeAt(chunk.Max, math.MaxInt64),
				chunk.Shard})
		}
		return nil
	})
	return ranges, err
}

// placeAt returns the place in a bound of a range, or end if the bound is none.
func placeAt(bound bson.Raw, end int64) int64 {
	if place, isNumber := bound.Lookup(docstore.PlaceField).AsInt64OK(); isNumber {
		return place
	}
	return end
}

// shardsFor returns the names of the shards that stay in the cluster, and whether a collection is
// empty.
func (e *Engine) shardsFor(ctx context.Context, spec docstore.Spec) (names []string, isEmpty bool, err error) {
	err = e.call(ctx, func() error {
		reply, err := e.client.Database("admin").RunCommand(ctx, bson.D{{Key: "listShards", Value: 1}}).Raw()
		if err != nil {
			return fmt.Errorf("list shards: %w", err)
		}
		var list struct {
			Shards []struct {
				Name     string `bson:"_id"`
				Draining bool   `bson:"draining"`
			} `bson:"shards"`
		}
		if err := bson.Unmarshal(reply, &list); err != nil {
			return fmt.Errorf("reply to listShards: %w", err)
		}
		for _, shard := range list.Shards {
			if !shard.Draining {
				names = append(names, shard.Name)
			}
		}
		slices.Sort(names)
		first, _, err := newTable(e, spec).find(ctx, query{filter: bson.D{}, limit: 1, comment: everywhere})
		isEmpty = len(first) == 0
		return err
	})
	return names, isEmpty, err
}

// asksRouter asks the server whether it is a router. A server that is alone has neither
// linearizable reads nor a cluster time.
func (e *Engine) asksRouter(ctx context.Context) (bool, error) {
	reply, err := e.client.Database("admin").RunCommand(ctx, bson.D{{Key: "hello", Value: 1}}).Raw()
	if err != nil || isRouter(reply) {
		return err == nil, err
	}
	if _, err := reply.LookupErr("setName"); err != nil {
		return false, fmt.Errorf("%w: it is neither a member of a replica set nor a mongos; start mongod with "+
			"--replSet and run rs.initiate()", errUnfit)
	}
	return false, nil
}

// isRouter reports whether a reply to hello is from a mongos, the router of a sharded
// cluster.
func isRouter(hello bson.Raw) bool {
	message, isText := hello.Lookup("msg").StringValueOK()
	return isText && message == "isdbgrid"
}

// shardEntry is the entry of a collection in the cluster's catalog. Since MongoDB 8 the
// catalog also has collections that were moved to one shard; they are unsplittable.
type shardEntry struct {
	Key          bson.D      `bson:"key"`
	Unsplittable bool        `bson:"unsplittable"`
	UUID         bson.Binary `bson:"uuid"`
}

// placement returns the placement of the collection. For a shard key other than _id it
// is "by" and the names of the fields, which no declaration allows.
func (s shardEntry) placement() Placement {
	switch {
	case len(s.Key) == 0 || s.Unsplittable:
		return OnOneShard
	case len(s.Key) == 1 && s.Key[0].Key == docstore.IDIndex:
		// By ranges or by hash, documents with the same _id are on the same shard.
		return ShardedByID
	case len(s.Key) == 1 && s.Key[0].Key == docstore.PlaceField && fmt.Sprint(s.Key[0].Value) == "1":
		return ShardedByPlace
	}
	fields := make([]string, len(s.Key))
	for i, field := range s.Key {
		fields[i] = field.Key
	}
	return Placement("by " + strings.Join(fields, ", "))
}

// check returns ErrShardKey if the placement breaks the uniqueness of an index. One shard is
// always safe. So is sharding by _id if the collection has no other unique index, and sharding by
// place if it is declared. A place that is hashed is not safe: the server would not promise that
// an index that begins with the place itself is unique.
func (p Placement) check(spec docstore.Spec) error {
	hasUnique := slices.ContainsFunc(spec.Indexes, func(index docstore.Index) bool { return index.Unique })
	switch {
	case p == NoCluster, p == OnOneShard, p == ShardedByID && !hasUnique, p == ShardedByPlace &&
		spec.Sharding == docstore.ByPlace:
		return nil
	}
	return fmt.Errorf("collection %s is placed %s: %w", spec.Name, p, ErrShardKey)
}

// hashedIndex is the server's default name for a hashed index of _id.
const hashedIndex = "_id_hashed"

// command is a command to run in a database.
type command struct {
	database string
	body     bson.D
}

// shardCommands returns the commands that shard a collection as declared. Since MongoDB 6,
// sharding needs no earlier command for the database.
//
// A hashed key spreads an empty collection at once; a collection with documents needs the index
// first. A collection sharded by place has the index of its declaration.
func shardCommands(database string, spec docstore.Spec) []command {
	namespace := database + "." + spec.Name
	if spec.Sharding == docstore.ByID {
		key := bson.D{{Key: docstore.IDIndex, Value: "hashed"}}
		return []command{
			{database, bson.D{
				{Key: "createIndexes", Value: spec.Name},
				{Key: "indexes", Value: bson.A{bson.D{{Key: "key", Value: key}, {Key: "name", Value: hashedIndex}}}},
				{Key: "commitQuorum", Value: "majority"},
			}},
			{"admin", bson.D{{Key: "shardCollection", Value: namespace}, {Key: "key", Value: key}}},
		}
	}
	return []command{{"admin", bson.D{
		{Key: "shardCollection", Value: namespace}, {Key: "key", Value: bson.D{{Key: docstore.PlaceField, Value: 1}}},
	}}}
}

// placeRange is a range of places on a shard: those from min on and below max. math.MinInt64 and
// math.MaxInt64 stand for its ends.
type placeRange struct {
	min, max int64
	shard    string
}

// evenRanges returns an equal range of the places for each shard.
func evenRanges(shards []string, places int64) []placeRange {
	ranges := make([]placeRange, len(shards))
	from := int64(math.MinInt64)
	for i, shard := range shards {
		to := int64(i+1) * places / int64(len(shards))
		if i == len(shards)-1 {
			to = math.MaxInt64
		}
		ranges[i] = placeRange{from, to, shard}
		from = to
	}
	return ranges
}

// moves returns the ranges that have to move from where they are to the shards that want them.
// Each lies within one range that is there, because a server moves no other, and splits that at
// its bounds.
func moves(present, wanted []placeRange) (moves []placeRange) {
	for _, from := range present {
		for _, to := range wanted {
			both := placeRange{max(from.min, to.min), min(from.max, to.max), to.shard}
			if from.shard != to.shard && both.min < both.max {
				moves = append(moves, both)
			}
		}
	}
	return moves
}

// command returns the command that moves the range to its shard.
func (r placeRange) command(namespace string) command {
	bound := func(place, end int64, ofEnd any) bson.D {
		if place == end {
			return bson.D{{Key: docstore.PlaceField, Value: ofEnd}}
		}
		return bson.D{{Key: docstore.PlaceField, Value: place}}
	}
	return command{"admin", bson.D{
		{Key: "moveRange", Value: namespace}, {Key: "min", Value: bound(r.min, math.MinInt64, bson.MinKey{})},
		{Key: "max", Value: bound(r.max, math.MaxInt64, bson.MaxKey{})}, {Key: "toShard", Value: r.shard},
	}}
}

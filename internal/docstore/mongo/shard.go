package mongo

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/waybook/waybook/internal/docstore"
)

// ErrShardKey says that a collection is sharded by a key under which its unique indexes,
// that of _id among them, do not hold over all shards.
var ErrShardKey = errors.New("the collection is sharded by a key that can't keep its ids and unique indexes unique")

// Placement is where a collection lies.
type Placement string

// The placements of a collection.
const (
	// NoCluster: the server is not a sharded cluster.
	NoCluster Placement = ""
	// OnOneShard: the collection is not sharded.
	OnOneShard Placement = "one shard"
	// ShardedByID: the collection is spread over the shards by _id.
	ShardedByID Placement = "by _id"
)

// Placement tells where a collection lies, and changes nothing. Errors: ErrShardKey.
func (e *Engine) Placement(ctx context.Context, spec docstore.Spec) (Placement, error) {
	placement := NoCluster
	err := e.call(ctx, func() error {
		isCluster, err := e.isCluster(ctx)
		if err != nil || !isCluster {
			return err
		}
		var entry shardEntry
		name := bson.D{{Key: "_id", Value: e.database.Name() + "." + spec.Name}}
		err = e.client.Database("config").Collection("collections").FindOne(ctx, name).Decode(&entry)
		if err != nil && !errors.Is(err, mongo.ErrNoDocuments) {
			return fmt.Errorf("read config.collections: %w", err)
		}
		placement = entry.placement()
		return nil
	})
	if err != nil {
		return NoCluster, err
	}
	return placement, placement.check(spec)
}

// Shard shards a collection as it is declared, if the server is a sharded cluster and
// the collection is not sharded yet. Errors: ErrShardKey.
func (e *Engine) Shard(ctx context.Context, spec docstore.Spec) (Placement, error) {
	placement, err := e.Placement(ctx, spec)
	if err != nil {
		return placement, err
	}
	commands := shardCommands(e.database.Name(), spec, placement)
	for _, command := range commands {
		err := e.call(ctx, func() error { return e.client.Database(command.database).RunCommand(ctx, command.body).Err() })
		if err != nil {
			return placement, fmt.Errorf("shard collection %s: %w", spec.Name, err)
		}
	}
	if len(commands) > 0 {
		placement = ShardedByID
	}
	return placement, nil
}

func (e *Engine) isCluster(ctx context.Context) (bool, error) {
	reply, err := e.client.Database("admin").RunCommand(ctx, bson.D{{Key: "hello", Value: 1}}).Raw()
	return err == nil && isRouter(reply), err
}

// isRouter tells by its reply to hello whether a server is a mongos, through which one
// talks to a sharded cluster.
func isRouter(hello bson.Raw) bool {
	message, isText := hello.Lookup("msg").StringValueOK()
	return isText && message == "isdbgrid"
}

// shardEntry is what the cluster's catalog says of a collection. Since MongoDB 8 it also
// has collections that were moved to a shard as a whole: they are unsplittable.
type shardEntry struct {
	Key          bson.D `bson:"key"`
	Unsplittable bool   `bson:"unsplittable"`
}

// placement is where the collection lies, by a key that nobody declares if need be.
func (s shardEntry) placement() Placement {
	switch {
	case len(s.Key) == 0 || s.Unsplittable:
		return OnOneShard
	case len(s.Key) == 1 && s.Key[0].Key == docstore.IDIndex:
		// In ranges or by hash: documents of one _id are on one shard either way.
		return ShardedByID
	}
	fields := make([]string, len(s.Key))
	for i, field := range s.Key {
		fields[i] = field.Key
	}
	return Placement("by " + strings.Join(fields, ", "))
}

// check refuses what breaks a promise. On one shard everything holds, by _id only what
// needs no other unique index.
func (p Placement) check(spec docstore.Spec) error {
	hasUnique := false
	for _, index := range spec.Indexes {
		hasUnique = hasUnique || index.Unique
	}
	if p == NoCluster || p == OnOneShard || p == ShardedByID && !hasUnique {
		return nil
	}
	return fmt.Errorf("collection %s lies %s: %w", spec.Name, p, ErrShardKey)
}

// hashedIndex is the server's own name for the index by which a collection is sharded.
const hashedIndex = "_id_hashed"

// command is a command to run in a database.
type command struct {
	database string
	body     bson.D
}

// shardCommands are the commands that bring a collection to where it is declared to be,
// none when it is there. By the hash an empty collection is spread at once, and one with
// documents needs the index first. MongoDB 6 needs no other command before: it lets
// every database have sharded collections.
func shardCommands(database string, spec docstore.Spec, placement Placement) []command {
	if spec.Sharding != docstore.ByID || placement != OnOneShard {
		return nil
	}
	key := bson.D{{Key: docstore.IDIndex, Value: "hashed"}}
	return []command{
		{database, bson.D{
			{Key: "createIndexes", Value: spec.Name},
			{Key: "indexes", Value: bson.A{bson.D{{Key: "key", Value: key}, {Key: "name", Value: hashedIndex}}}},
		}},
		{"admin", bson.D{{Key: "shardCollection", Value: database + "." + spec.Name}, {Key: "key", Value: key}}},
	}
}

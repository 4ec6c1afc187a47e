package mongowire

import (
	"slices"
	"strings"
	"sync"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// shards is the catalog of a sharded cluster: the shard keys of collections, and the hashed
// indexes, which FerretDB does not have. All data is on one shard.
type shards struct {
	mu     sync.Mutex
	keys   map[string]bson.Raw   // by database and collection
	hashed map[string][]bson.Raw // definitions of indexes
}

func newShards() shards {
	return shards{keys: map[string]bson.Raw{}, hashed: map[string][]bson.Raw{}}
}

// SetShardKey shards a collection, as an administrator may have done, or moves it to one
// shard if key is nil.
func (s *Server) SetShardKey(namespace string, key bson.D) {
	s.shards.mu.Lock()
	defer s.shards.mu.Unlock()
	if key == nil {
		delete(s.shards.keys, namespace)
		return
	}
	s.shards.keys[namespace] = document(key)
}

// change answers a command that changes the catalog. It returns nil for any other.
func (s *shards) change(command Command) bson.Raw {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch command.Name {
	case "shardCollection":
		key, _ := command.Body.Lookup("key").DocumentOK()
		s.keys[command.Collection] = key
	case "createIndexes":
		definitions := documentsOf(command.Body, "indexes")
		if len(definitions) == 0 || !slices.ContainsFunc(definitions, isHashed) {
			return nil
		}
		s.hashed[command.namespace()] = definitions
	case "drop":
		delete(s.keys, command.namespace())
		delete(s.hashed, command.namespace())
		return nil
	default:
		return nil
	}
	return document(bson.D{{Key: "ok", Value: 1.0}})
}

func isHashed(index bson.Raw) bool {
	key, _ := index.Lookup("key").DocumentOK()
	return strings.Contains(key.String(), `"hashed"`)
}

// query answers a find in config.collections by _id, and returns nil for any other command.
func (s *shards) query(command Command) bson.Raw {
	if command.Name != "find" || command.namespace() != "config.collections" {
		return nil
	}
	id, _ := command.Body.Lookup("filter", "_id").StringValueOK()
	s.mu.Lock()
	defer s.mu.Unlock()
	batch := []bson.Raw{}
	if key := s.keys[id]; key != nil {
		batch = append(batch, document(bson.D{{Key: "_id", Value: id}, {Key: "key", Value: key}}))
	}
	return batchReply(command, "firstBatch", batch, 0)
}

// listed adds the hashed indexes to a list of indexes.
func (s *shards) listed(command Command, reply bson.Raw) bson.Raw {
	s.mu.Lock()
	defer s.mu.Unlock()
	hashed := s.hashed[command.namespace()]
	if len(hashed) == 0 || !isSuccess(reply) {
		return reply
	}
	return batchReply(command, "firstBatch", append(documentsOf(reply, "cursor", "firstBatch"), hashed...), 0)
}

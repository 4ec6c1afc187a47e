package mongowire

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// staleConfig is the code of a command that a shard cannot do with the ranges that it has.
const staleConfig = 13388

// shards is the catalog of a sharded cluster: the shard keys of collections, the ranges of their
// values on each shard. All data is in one place.
type shards struct {
	// host is the address of the server of each shard, which is the face.
	host string

	mu sync.Mutex
	// enabled are the databases whose collections may be sharded.
	enabled map[string]bool
	names   []string
	keys    map[string]bson.Raw // by database and collection
	ranges  map[string][]Range  // in the order of their values
}

// Range is a range of values of a shard key that lies on one shard. Min is in it and Max is not.
// MinKey is math.MinInt64, and MaxKey is math.MaxInt64.
type Range struct {
	Min, Max int64
	Shard    string
}

func newShards(count int, host string) shards {
	names := make([]string, count)
	for i := range names {
		names[i] = fmt.Sprintf("shard%02d", i)
	}
	return shards{names: names, host: host, enabled: map[string]bool{}, keys: map[string]bson.Raw{}, ranges: map[string][]Range{}}
}

// SetShardKey shards a collection, as an administrator may have done, or moves it to one
// shard if key is nil. Without ranges all documents are on the first shard.
func (s *Server) SetShardKey(namespace string, key bson.D, ranges ...Range) {
	s.shards.mu.Lock()
	defer s.shards.mu.Unlock()
	if key == nil {
		s.shards.forget(namespace)
		return
	}
	s.shards.shard(namespace, document(key))
	if len(ranges) > 0 {
		s.shards.ranges[namespace] = ranges
	}
}

// Ranges returns the ranges of a collection that is sharded by ranges of one field, in the order
// of their values.
func (s *Server) Ranges(namespace string) []Range {
	s.shards.mu.Lock()
	defer s.shards.mu.Unlock()
	return slices.Clone(s.shards.ranges[namespace])
}

// shard notes the shard key of a collection, whose documents are all on the first shard. The
// caller holds the mutex.
func (s *shards) shard(namespace string, key bson.Raw) {
	s.keys[namespace] = key
	s.ranges[namespace] = []Range{{math.MinInt64, math.MaxInt64, s.names[0]}}
}

// forget needs the mutex.
func (s *shards) forget(namespace string) {
	delete(s.keys, namespace)
	delete(s.ranges, namespace)
}

// route answers a write that only a router answers, or that a router refuses. It returns nil for
// any other.
func (s *Server) route(command Command) (bson.Raw, error) {
	if key := s.shards.key(command); key != nil && command.Name == "findAndModify" && len(valuesOf(command.filters()[0], firstField(key))) != 1 {
		return refuse(shardKeyNotFound, "Query for sharded findAndModify must contain the shard key").reply(), nil
	}
	if reply := s.shards.notUnique(command); reply != nil {
		return reply, nil
	}
	if command.Name == "shardCollection" {
		return s.shardCollection(command)
	}
	return s.shards.change(command), nil
}

// shardCollection shards a collection that is not sharded, or is by the same key, and has an index
// that begins with the key and no unique index that does not. A server makes that index in an
// empty collection itself. See
// https://www.mongodb.com/docs/manual/reference/command/shardCollection/.
func (s *Server) shardCollection(command Command) (bson.Raw, error) {
	namespace, key := command.Collection, field(command.Body, "key")
	s.shards.mu.Lock()
	before := s.shards.keys[namespace]
	s.shards.mu.Unlock()
	done := document(bson.D{{Key: "collectionsharded", Value: namespace}, {Key: "ok", Value: 1.0}})
	if before != nil {
		if len(before) == len(key) && beginsWith(before, key) {
			return done, nil
		}
		return refusal(alreadyInitialized, "AlreadyInitialized", "sharding already enabled for collection "+namespace), nil
	}
	of := Command{}
	of.Database, of.Collection, _ = strings.Cut(namespace, ".")
	if s.plays == Version44 && !s.shards.isEnabled(of.Database) { // since 6.0 every database is
		return refuse(unknownNamespace, "database %s not found", of.Database).reply(), nil
	}
	known := s.indexesOf(of)
	hasKey := false
	for _, index := range known {
		begins := beginsWith(field(index, "key"), key)
		hasKey = hasKey || begins
		isUnique, _ := index.Lookup("unique").BooleanOK()
		if name, _ := index.Lookup("name").StringValueOK(); isUnique && !begins && name != "_id_" {
			return refusal(invalidOptions, "InvalidOptions", "can't shard collection '"+namespace+"' with unique index on "+field(index, "key").String()+
				" and proposed shard key "+key.String()+". Uniqueness can't be maintained unless shard key is a prefix"), nil
		}
	}
	if len(known) == 0 {
		index := bson.D{{Key: "key", Value: key}, {Key: "name", Value: "by_key"}}
		of.Name, of.Body = "createIndexes", document(bson.D{
			{Key: "createIndexes", Value: of.Collection}, {Key: "indexes", Value: bson.A{index}}, {Key: "$db", Value: of.Database},
		})
		if reply, err := s.createIndexes(of); err != nil || !isSuccess(reply) {
			return reply, err
		}
	} else if !hasKey {
		return refusal(invalidOptions, "InvalidOptions",
			"Please create an index that starts with the proposed shard key before sharding the collection. "), nil
	}
	s.shards.mu.Lock()
	defer s.shards.mu.Unlock()
	s.shards.shard(namespace, key)
	return done, nil
}

// change answers a command that changes the catalog. It returns nil for any other.
func (s *shards) change(command Command) bson.Raw {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch command.Name {
	case "moveRange":
		return s.moveRange(command)
	case "enableSharding":
		database, _ := command.Body.Lookup(command.Name).StringValueOK()
		s.enabled[database] = true
		return document(bson.D{{Key: "ok", Value: 1.0}})
	case "drop":
		s.forget(command.namespace())
	}
	return nil
}

// moveRange moves a part of one range to a shard, and splits the range at its bounds, unless it is there. See
// https://www.mongodb.com/docs/manual/reference/command/moveRange/. A part of several ranges is refused by
// checkRangeWithinChunk in MongoDB's src/mongo/db/s/chunk_operation_precondition_checks.cpp, and a part that is there
// is left alone by shardsvr_move_range_command.cpp beside it. The caller holds the mutex.
func (s *shards) moveRange(command Command) bson.Raw {
	to, _ := command.Body.Lookup("toShard").StringValueOK()
	if !slices.Contains(s.names, to) {
		return refusal(shardNotFound, "ShardNotFound", "Shard "+to+" not found")
	}
	first := firstField(s.keys[command.Collection])
	minimum, hasMin := bound(command.Body.Lookup("min", first))
	maximum, hasMax := bound(command.Body.Lookup("max", first))
	ranges := s.ranges[command.Collection]
	i := slices.IndexFunc(ranges, func(r Range) bool { return r.Min <= minimum && minimum < r.Max })
	switch {
	case !hasMin || !hasMax || minimum >= maximum || i < 0:
		return refusal(invalidOptions, "InvalidOptions", "no range of "+command.Collection+" has these bounds")
	case ranges[i].Shard == to:
		return document(bson.D{{Key: "ok", Value: 1.0}})
	case ranges[i].Max < maximum:
		return refusal(staleConfig, "StaleConfig", fmt.Sprintf("Range with bounds [%v, %v) is not contained within a chunk owned by this shard.",
			command.Body.Lookup("min"), command.Body.Lookup("max")))
	}
	parts := []Range{{minimum, maximum, to}}
	if whole := ranges[i]; whole.Min < minimum {
		parts = append([]Range{{whole.Min, minimum, whole.Shard}}, parts...)
	}
	if whole := ranges[i]; maximum < whole.Max {
		parts = append(parts, Range{maximum, whole.Max, whole.Shard})
	}
	s.ranges[command.Collection] = slices.Replace(ranges, i, i+1, parts...)
	return document(bson.D{{Key: "ok", Value: 1.0}})
}

// bound returns a bound of a range.
func bound(value bson.RawValue) (int64, bool) {
	switch value.Type {
	case bson.TypeMinKey:
		return math.MinInt64, true
	case bson.TypeMaxKey:
		return math.MaxInt64, true
	}
	return value.AsInt64OK()
}

// atBound returns a bound of a range as a value of the shard key.
func atBound(key bson.Raw, at int64) bson.D {
	value := any(at)
	switch at {
	case math.MinInt64:
		value = bson.MinKey{}
	case math.MaxInt64:
		value = bson.MaxKey{}
	}
	return bson.D{{Key: firstField(key), Value: value}}
}

func isHashed(index bson.Raw) bool {
	key, _ := index.Lookup("key").DocumentOK()
	return strings.Contains(key.String(), `"hashed"`)
}

func (s *shards) isEnabled(database string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.enabled[database]
}

// query answers listShards, a find in config.collections by _id and one in config.chunks by the collection's
// uuid, which ignores a limit. It returns nil for any other command.
func (s *shards) query(command Command) bson.Raw {
	s.mu.Lock()
	defer s.mu.Unlock()
	if command.Name == "listShards" {
		list := bson.A{}
		for _, name := range s.names {
			list = append(list, bson.D{{Key: "_id", Value: name}, {Key: "host", Value: name + "/" + s.host}, {Key: "state", Value: int32(1)}})
		}
		return document(bson.D{{Key: "shards", Value: list}, {Key: "ok", Value: 1.0}})
	}
	batch := []bson.Raw{}
	switch {
	case command.Name == "find" && command.namespace() == "config.collections":
		id, _ := command.Body.Lookup("filter", "_id").StringValueOK()
		if key := s.keys[id]; key != nil {
			batch = append(batch, document(bson.D{{Key: "_id", Value: id}, {Key: "uuid", Value: uuidOf(id)}, {Key: "key", Value: key}}))
		}
	case command.Name == "find" && command.namespace() == "config.chunks":
		_, uuid, _ := command.Body.Lookup("filter", "uuid").BinaryOK()
		for namespace, ranges := range s.ranges {
			if of := uuidOf(namespace); bytes.Equal(of.Data, uuid) {
				for i, each := range ranges {
					batch = append(batch, document(bson.D{
						{Key: "_id", Value: int32(i)}, {Key: "uuid", Value: of}, {Key: "min", Value: atBound(s.keys[namespace], each.Min)},
						{Key: "max", Value: atBound(s.keys[namespace], each.Max)}, {Key: "shard", Value: each.Shard},
					}))
				}
			}
		}
	default:
		return nil
	}
	return batchReply(command, "firstBatch", batch, 0)
}

// uuidOf returns the unique identifier of a collection.
func uuidOf(namespace string) bson.Binary {
	hash := fnv.New128a()
	hash.Write([]byte(namespace))
	return bson.Binary{Subtype: bson.TypeBinaryUUID, Data: hash.Sum(nil)}
}

// Options returns the names of a command's options, each once and in order, without their values. Where
// the value is a choice, the name has it, as in writeConcern.w:majority. The options of a statement, or of
// an index to create, are behind the name of their list, as in updates.hint. What every command of this name has
// is left out.
func (c Command) Options() []string {
	options := map[string]bool{}
	add := func(within string, element bson.RawElement) {
		name := within + element.Key()
		if choice, isText := element.Value().StringValueOK(); isText && isChoice(element.Key()) {
			name += ":" + choice
		}
		options[name] = true
	}
	addAll := func(within string, document bson.Raw, without ...string) {
		elements, _ := document.Elements()
		for _, element := range elements {
			if !slices.Contains(without, element.Key()) {
				add(within, element)
			}
		}
	}
	elements, _ := c.Body.Elements()
	for _, element := range elements[1:] {
		switch name := element.Key(); name {
		case "$db", "lsid", "$clusterTime", "filter", "query", "update", "pipeline", "cursor", "collection", "cursors":
		case "readConcern", "writeConcern", "$readPreference", "index":
			if inner, isDocument := element.Value().DocumentOK(); isDocument {
				addAll(name+".", inner)
			} else {
				add("", element)
			}
		case "indexes":
			for _, index := range documentsOf(c.Body, name) {
				addAll(name+".", index, "key", "name")
			}
		default:
			add("", element)
		}
	}
	if c.Name != "insert" {
		for _, statement := range c.Statements {
			addAll(statementsField(c.Name)+".", statement, "q", "u", "limit")
			if limit, _ := statement.Lookup("limit").AsInt64OK(); c.Name == "delete" && limit == 0 {
				options["deletes.multi"] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(options))
}

// isChoice reports whether the value of an option is one of a few words.
func isChoice(option string) bool {
	return slices.Contains([]string{"level", "w", "mode", "commitQuorum", "validationLevel", "validationAction"}, option)
}

// Operators returns the operators in a command, each once and in order.
func (c Command) Operators() []string {
	operators := map[string]bool{}
	var walk func(document bson.Raw)
	walk = func(document bson.Raw) {
		elements, _ := document.Elements()
		for _, element := range elements {
			if strings.HasPrefix(element.Key(), "$") && !slices.Contains([]string{"$db", "$readPreference", "$clusterTime"}, element.Key()) {
				operators[element.Key()] = true
			}
			switch value := element.Value(); value.Type {
			case bson.TypeEmbeddedDocument, bson.TypeArray:
				walk(value.Value)
			}
		}
	}
	walk(c.Body)
	if c.Name != "insert" {
		for _, statement := range c.Statements {
			walk(statement)
		}
	}
	return slices.Sorted(maps.Keys(operators))
}

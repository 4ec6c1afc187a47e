package mongowire

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// What a router does is in the manual's page on query routing,
// https://www.mongodb.com/docs/manual/core/sharded-cluster-query-router/: it sends a command to
// the shards of the shard key's values that the command names, and to all shards otherwise.

// Codes of a router's refusals.
const (
	alreadyInitialized = 23
	shardKeyNotFound   = 61
	cannotCreateIndex  = 67
	shardNotFound      = 70
)

// ShardKeys returns the values of a field that each statement of the command names: by equality
// or $in in its filter, or in the document to insert. isTargeted is false if a statement names
// none. If the field is the shard key, a router sends such a command to all shards. isData is
// false for a command that neither reads nor writes documents of a collection.
func (c Command) ShardKeys(field string) (values []string, isTargeted, isData bool) {
	if c.Collection == "" || c.isAboutCollection() {
		return nil, false, false
	}
	for _, filter := range c.filters() {
		named := valuesOf(filter, field)
		if len(named) == 0 {
			return nil, false, true
		}
		values = append(values, named...)
	}
	slices.Sort(values)
	return slices.Compact(values), len(values) > 0, true
}

// isAboutCollection reports whether the command is about a collection as a whole, or goes on with
// a cursor that another command opened.
func (c Command) isAboutCollection() bool {
	return slices.Contains([]string{
		"create", "collMod", "drop", "createIndexes", "dropIndexes", "listIndexes", "collStats",
		"getMore", "killCursors", "shardCollection", "moveRange",
	}, c.Name)
}

// filters returns the filters of a command, or the documents of an insert. The filter of a
// command that is not known is empty.
func (c Command) filters() (filters []bson.Raw) {
	switch c.Name {
	case "insert":
		return c.Statements
	case "update", "delete":
		for _, statement := range c.Statements {
			filters = append(filters, field(statement, "q"))
		}
		return filters
	case "find":
		return []bson.Raw{field(c.Body, "filter")}
	case "count", "distinct", "findAndModify":
		return []bson.Raw{field(c.Body, "query")}
	case "aggregate":
		stages := documentsOf(c.Body, "pipeline")
		if len(stages) > 0 {
			return []bson.Raw{field(stages[0], "$match")}
		}
	}
	return []bson.Raw{nil}
}

func field(document bson.Raw, name string) bson.Raw {
	value, _ := document.Lookup(name).DocumentOK()
	return value
}

// valuesOf returns the values of a field that a filter names by equality or $in.
func valuesOf(filter bson.Raw, name string) []string {
	if len(filter) == 0 {
		return nil
	}
	value, err := filter.LookupErr(name)
	if err != nil {
		return nil
	}
	operators, isDocument := value.DocumentOK()
	if !isDocument {
		return []string{value.String()}
	}
	if equal, err := operators.LookupErr("$eq"); err == nil {
		return []string{equal.String()}
	}
	list, _ := operators.Lookup("$in").ArrayOK()
	if len(list) == 0 {
		return nil
	}
	members, err := list.Values()
	if err != nil {
		return nil
	}
	var values []string
	for _, member := range members {
		values = append(values, member.String())
	}
	return values
}

// key returns the shard key of the collection of a command, or nil.
func (s *shards) key(c Command) bson.Raw {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.keys[c.namespace()]
}

// misdirected returns a router's refusal of a write of one document that does not name its
// shard, or nil. A router before MongoDB 7 also takes an exact _id in place of the shard key, which
// it sends to all shards; an upsert needs the shard key. See Sharded Collections in
// https://www.mongodb.com/docs/manual/reference/command/update/ and
// https://www.mongodb.com/docs/manual/reference/command/delete/.
func (s *Server) misdirected(c Command, statement bson.Raw) *verdict {
	key := s.shards.key(c)
	if key == nil || s.role == Primary {
		return nil
	}
	filter := field(statement, "q")
	limit, _ := statement.Lookup("limit").AsFloat64OK()
	isMulti := isNonzero(statement.Lookup("multi")) || c.Name == "delete" && limit == 0
	isUpsert := isNonzero(statement.Lookup("upsert"))
	isTargeted := len(valuesOf(filter, firstField(key))) == 1
	switch {
	case isTargeted || !isUpsert && (isMulti || len(valuesOf(filter, "_id")) == 1):
		return nil
	case isUpsert:
		return refuse(shardKeyNotFound, "Failed to target upsert by query :: could not extract exact shard key")
	case c.Name == "update":
		return refuse(invalidOptions, "A {multi:false} update on a sharded collection must either contain an exact match on _id or "+
			"must target a single shard")
	}
	return refuse(shardKeyNotFound, "A single %s on a sharded collection must contain an exact match on _id or contain the shard key", c.Name)
}

// notUnique returns a router's refusal of a unique index that does not begin with the shard key
// of its collection, or nil. See Unique Indexes in
// https://www.mongodb.com/docs/manual/core/sharding-shard-key/.
func (s *shards) notUnique(command Command) bson.Raw {
	s.mu.Lock()
	key := s.keys[command.namespace()]
	s.mu.Unlock()
	if key == nil || command.Name != "createIndexes" {
		return nil
	}
	for _, index := range documentsOf(command.Body, "indexes") {
		if isUnique, _ := index.Lookup("unique").BooleanOK(); isUnique && !beginsWith(field(index, "key"), key) {
			return refusal(cannotCreateIndex, "CannotCreateIndex",
				"cannot create unique index over "+field(index, "key").String()+" with shard key pattern "+key.String())
		}
	}
	return nil
}

// beginsWith reports whether the keys of an index begin with a shard key, in its order and
// directions.
func beginsWith(index, key bson.Raw) bool {
	of, err := index.Elements()
	wanted, keyErr := key.Elements()
	if err != nil || keyErr != nil || len(of) < len(wanted) {
		return false
	}
	for i, element := range wanted {
		if of[i].Key() != element.Key() || direction(of[i].Value()) != direction(element.Value()) {
			return false
		}
	}
	return true
}

// direction returns the direction of a field in an index, whose number has any type.
func direction(value bson.RawValue) string {
	if number, ok := value.AsFloat64OK(); ok {
		if number > 0 {
			return "up"
		}
		return "down"
	}
	return strings.Trim(value.String(), `"`)
}

// firstField returns the name of the first field of a document, or "".
func firstField(document bson.Raw) string {
	elements, err := document.Elements()
	if err != nil || len(elements) == 0 {
		return ""
	}
	return elements[0].Key()
}

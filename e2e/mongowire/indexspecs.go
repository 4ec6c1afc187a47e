package mongowire

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"sync"

	"go.mongodb.org/mongo-driver/v2/bson"
)

const (
	cannotCreate     = 67
	invalidSpec      = 197
	maxIndexes       = 64
	unknownNamespace = 26
)

// indexOptions are what the definition of an index may have. See
// https://www.mongodb.com/docs/manual/reference/command/createIndexes/.
var indexOptions = strings.Fields("key name ns v unique sparse background hidden expireAfterSeconds partialFilterExpression collation " +
	"storageEngine weights default_language language_override textIndexVersion 2dsphereIndexVersion bits min max bucketSize " +
	"wildcardProjection dropDups clustered")

// idIndexOptions are what that of the index of _id may have.
var idIndexOptions = strings.Fields("key name ns v collation")

// plugins are the kinds of an index besides those of values in order.
var plugins = strings.Fields("hashed text 2d 2dsphere geoHaystack wildcard")

// forwardedIndexOptions are those that FerretDB knows.
var forwardedIndexOptions = strings.Fields("name unique sparse")

// indexes are the indexes of collections as they were listed last, because commands with a hint and those that may
// break a unique index need them. A command that may change one forgets all. defined are the definitions of those that
// were created, of which FerretDB keeps less, and of hashed ones, of which it keeps nothing.
type indexes struct {
	mu      sync.Mutex
	known   map[string][]bson.Raw
	defined map[string]map[string]bson.Raw
	// arrays are the collections of which a unique index had an array.
	arrays map[string]bool
}

func (i *indexes) hasArrays(c Command) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.arrays[c.namespace()]
}

func newIndexes() indexes {
	return indexes{known: map[string][]bson.Raw{}, defined: map[string]map[string]bson.Raw{}, arrays: map[string]bool{}}
}

func (i *indexes) forget() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.known = map[string][]bson.Raw{}
}

// indexesOf returns the indexes of the collection of a command, and none if there is no such collection.
func (s *Server) indexesOf(c Command) []bson.Raw {
	s.indexes.mu.Lock()
	defer s.indexes.mu.Unlock()
	if known, isKnown := s.indexes.known[c.namespace()]; isKnown {
		return known
	}
	reply, err := s.backend.run(message{body: document(bson.D{{Key: "listIndexes", Value: c.Collection}, {Key: "$db", Value: c.Database}})})
	if err != nil || !isSuccess(reply) && len(s.indexes.defined[c.namespace()]) == 0 {
		return nil
	}
	known := documentsOf(reply, "cursor", "firstBatch")
	defined := s.indexes.defined[c.namespace()]
	for i, index := range known {
		name, _ := index.Lookup("name").StringValueOK()
		if definition := defined[name]; definition != nil {
			known[i] = definition
		}
	}
	for _, name := range slices.Sorted(maps.Keys(defined)) {
		if isHashed(defined[name]) {
			known = append(known, defined[name])
		}
	}
	s.indexes.known[c.namespace()] = known
	return known
}

// define keeps the definition of an index.
func (i *indexes) define(c Command, spec bson.Raw) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.defined[c.namespace()] == nil {
		i.defined[c.namespace()] = map[string]bson.Raw{}
	}
	name, _ := spec.Lookup("name").StringValueOK()
	definition := with(document(bson.D{{Key: "v", Value: int32(2)}}), elementsOf(spec))
	for _, option := range []string{"unique", "sparse", "hidden"} {
		if definition = without(definition, option); isNonzero(spec.Lookup(option)) {
			definition = with(definition, bson.D{{Key: option, Value: true}})
		}
	}
	i.defined[c.namespace()][name] = definition
}

// drop forgets the definitions of what a command drops. It reports whether that was an index of which FerretDB knows
// nothing.
func (i *indexes) drop(c Command) (isUnknown bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	name, _ := c.Body.Lookup("index").StringValueOK()
	switch c.Name {
	case "drop":
		delete(i.defined, c.namespace())
	case "dropDatabase":
		maps.DeleteFunc(i.defined, func(namespace string, _ map[string]bson.Raw) bool {
			return strings.HasPrefix(namespace, c.Database+".")
		})
	case "dropIndexes":
		isUnknown = isHashed(i.defined[c.namespace()][name])
		delete(i.defined[c.namespace()], name)
		if name == "*" {
			delete(i.defined, c.namespace())
		}
	}
	return isUnknown
}

// hide hides an index from queries, or shows it, by collMod.
func (s *Server) hide(c Command) bson.Raw {
	known := s.indexesOf(c)
	if len(known) == 0 {
		return refuse(unknownNamespace, "ns does not exist").reply()
	}
	wanted := field(c.Body, "index")
	if wanted == nil {
		return nil
	}
	name, _ := wanted.Lookup("name").StringValueOK()
	for _, index := range known {
		if is, _ := index.Lookup("name").StringValueOK(); is == name {
			s.indexes.define(c, with(index, bson.D{{Key: "hidden", Value: isNonzero(wanted.Lookup("hidden"))}}))
			return document(bson.D{
				{Key: "hidden_old", Value: isNonzero(index.Lookup("hidden"))}, {Key: "hidden_new", Value: isNonzero(wanted.Lookup("hidden"))},
				{Key: "ok", Value: 1.0},
			})
		}
	}
	return refuse(27, "cannot find index %s for ns %s", name, c.namespace()).reply()
}

// judgeIndexes looks at the indexes to create.
func (s *Server) judgeIndexes(c Command) *verdict {
	if c.Name != "createIndexes" {
		return nil
	}
	if _, err := c.Body.LookupErr("indexes"); err != nil {
		return refuse(failedToParse, "The 'indexes' field is a required argument of the createIndexes command")
	}
	specs := documentsOf(c.Body, "indexes")
	if len(specs) == 0 {
		return refuse(badValue, "Must specify at least one index to create")
	}
	quorum := c.Body.Lookup("commitQuorum")
	number, _ := quorum.AsInt64OK()
	if word, isText := quorum.StringValueOK(); number > members || isText && word != "majority" && word != "votingMembers" {
		return refuse(278, "Commit quorum cannot be satisfied with the current replica set configuration")
	}
	known := s.indexesOf(c)
	for i, spec := range specs {
		for _, other := range specs[:i] {
			if bytes.Equal(spec, other) {
				return refuse(96, "Cannot build two identical indexes. Try again without duplicate indexes.")
			}
			if v := s.conflict(spec, other); v != nil {
				return v
			}
		}
		if v := judgeSpec(spec); v != nil {
			return v
		}
		for _, other := range known {
			if v := s.conflict(spec, other); v != nil {
				return v
			}
		}
	}
	if max(1, len(known))+len(specs) > maxIndexes {
		return refuse(cannotCreate, "add index fails, too many indexes for %s", c.namespace())
	}
	return nil
}

func judgeSpec(spec bson.Raw) *verdict {
	in := func(code int32, text string) *verdict {
		return refuse(code, "Error in specification %s :: caused by :: %s", spec, text)
	}
	keys, isDocument := spec.Lookup("key").DocumentOK()
	name, nameErr := spec.LookupErr("name")
	text, isText := name.StringValueOK()
	switch {
	case !isDocument:
		return in(failedToParse, "The 'key' field is a required property of an index specification")
	case nameErr != nil:
		return in(failedToParse, "The 'name' field is a required property of an index specification")
	case !isText:
		return in(typeMismatch, "The field 'name' must be a string")
	case text == "*":
		return in(badValue, "The index name '*' is not valid.")
	}
	if v := judgeKeys(keys, in); v != nil {
		return v
	}
	isOfID, allowed := firstField(keys) == "_id" && len(keys) == len(document(bson.D{{Key: "_id", Value: int32(1)}})), indexOptions
	if isOfID {
		allowed = idIndexOptions
		if direction(keys.Index(0).Value()) != "up" {
			return in(badValue, "The field 'key' for an _id index must be {_id: 1}")
		}
	} else if text == "" {
		return in(cannotCreate, "index name cannot be empty")
	}
	options, _ := spec.Elements()
	for _, option := range options {
		value := option.Value()
		number, isNumber := value.AsFloat64OK()
		switch key := option.Key(); {
		case !slices.Contains(allowed, key):
			return in(invalidSpec, "The field '"+key+"' is not valid for an index specification")
		case key == "v" && number != 1 && number != 2:
			return in(cannotCreate, "Invalid index specification: cannot create an index with that v")
		case key == "expireAfterSeconds" && (!isNumber || number < 0):
			return in(cannotCreate, "TTL index 'expireAfterSeconds' option must be a number that is not less than 0")
		}
	}
	fields, _ := keys.Elements()
	isSparse, isUnique := isNonzero(spec.Lookup("sparse")), isNonzero(spec.Lookup("unique"))
	_, isPartial := spec.Lookup("partialFilterExpression").DocumentOK()
	_, expires := spec.Lookup("expireAfterSeconds").AsFloat64OK()
	switch {
	case isSparse && isPartial:
		return in(cannotCreate, "cannot mix \"partialFilterExpression\" and \"sparse\" options")
	case expires && len(fields) > 1:
		return in(cannotCreate, "TTL indexes are single-field indexes, compound indexes do not support TTL")
	case isUnique && isHashed(spec):
		return in(16764, "Currently hashed indexes cannot guarantee uniqueness. Use a regular index.")
	}
	return nil
}

func judgeKeys(keys bson.Raw, in func(int32, string) *verdict) *verdict {
	fields, _ := keys.Elements()
	if len(fields) == 0 {
		return in(cannotCreate, "Index keys cannot be empty.")
	}
	seen := map[string]bool{}
	for _, key := range fields {
		path, value := key.Key(), key.Value()
		number, isNumber := value.AsFloat64OK()
		plugin, isText := value.StringValueOK()
		switch parts := strings.Split(path, "."); {
		case seen[path]:
			return in(badValue, "The field '"+path+"' appears multiple times in the index key pattern")
		case slices.Contains(parts, ""):
			return in(cannotCreate, "Index keys cannot contain an empty field.")
		case strings.HasPrefix(path, "$") && path != "$**":
			return in(cannotCreate, "Index key contains an illegal field name: field name starts with '$'.")
		case isText && !slices.Contains(plugins, plugin):
			return in(cannotCreate, "Unknown index plugin '"+plugin+"'")
		case !isText && !isNumber:
			return in(cannotCreate, "Values in v:2 index key pattern cannot be of that type")
		case isNumber && number == 0:
			return in(cannotCreate, "Values in the index key pattern cannot be 0.")
		}
		seen[path] = true
	}
	return nil
}

// conflict returns why an index cannot be created beside another, or nil if it can, or is that one.
func (s *Server) conflict(spec, other bson.Raw) *verdict {
	name, _ := spec.Lookup("name").StringValueOK()
	known, _ := other.Lookup("name").StringValueOK()
	keys, otherKeys := field(spec, "key"), field(other, "key")
	isSame := beginsWith(keys, otherKeys) && beginsWith(otherKeys, keys)
	if isSame && known == "_id_" {
		return nil
	}
	alike := true
	for _, option := range []string{"unique", "sparse"} {
		alike = alike && isNonzero(spec.Lookup(option)) == isNonzero(other.Lookup(option))
	}
	_, isPartial := spec.Lookup("partialFilterExpression").DocumentOK()
	alike = alike && !isPartial
	switch {
	case name == known && !isSame:
		return refuse(86, "An existing index has the same name as the requested index: %s", name)
	case name == known && !alike, isSame && name != known && (alike || s.plays == Version44):
		return refuse(85, "Index with name: %s already exists with different options", known)
	}
	return nil
}

// createIndexes forwards what FerretDB knows of the indexes. It refuses a unique index that documents break as a
// server does.
func (s *Server) createIndexes(c Command) (bson.Raw, error) {
	specs := documentsOf(c.Body, "indexes")
	forwarded := bson.A{}
	for _, spec := range specs {
		if isHashed(spec) {
			s.indexes.define(c, spec)
			continue
		}
		kept := bson.D{}
		elements, _ := spec.Elements()
		for _, element := range elements {
			switch value := any(element.Value()); {
			case element.Key() == "key":
				keys := elementsOf(field(spec, "key"))
				for i := range keys {
					if keys[i].Value = int32(1); direction(field(spec, "key").Index(uint(i)).Value()) == "down" { // #nosec G115
						keys[i].Value = int32(-1)
					}
				}
				kept = append(kept, bson.E{Key: "key", Value: keys})
			case element.Key() == "unique" || element.Key() == "sparse":
				value = isNonzero(element.Value())
				fallthrough
			case slices.Contains(forwardedIndexOptions, element.Key()):
				kept = append(kept, bson.E{Key: element.Key(), Value: value})
			}
		}
		forwarded = append(forwarded, kept)
	}
	if len(forwarded) == 0 {
		return document(bson.D{{Key: "ok", Value: 1.0}}), nil
	}
	c.Body = with(c.Body, bson.D{{Key: "indexes", Value: forwarded}})
	reply, err := s.backend.run(c.forwarded(nil))
	if err != nil || !isUniqueFailure(reply) {
		for _, spec := range specs {
			if err == nil && isSuccess(reply) {
				s.indexes.define(c, spec)
			}
		}
		return reply, err
	}
	for _, spec := range specs {
		if isNonzero(spec.Lookup("unique")) {
			found := duplicate{pattern: field(spec, "key")}
			found.index, _ = spec.Lookup("name").StringValueOK()
			return refusal(duplicateKey, "DuplicateKey", "Index build failed :: caused by :: "+found.text(c), s.shown(&found)...), nil
		}
	}
	return reply, nil
}

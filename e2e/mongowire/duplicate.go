package mongowire

import (
	"fmt"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// duplicateKey is the code of a write that violates a unique index.
const duplicateKey = 11000

// duplicate is a unique index that refused a document, and the key that was taken.
type duplicate struct {
	index   string
	pattern bson.Raw
	key     bson.D
}

// fields returns the fields of a refusal by which a program learns the index.
func (d *duplicate) fields() bson.D {
	return bson.D{{Key: "keyPattern", Value: d.pattern}, {Key: "keyValue", Value: d.key}}
}

// text returns the message of a server. It does not escape the user's text in it.
func (d *duplicate) text(command Command) string {
	values := make([]string, len(d.key))
	for i, field := range d.key {
		value := fmt.Sprint(field.Value)
		if text, isText := field.Value.(string); isText {
			value = `"` + text + `"`
		}
		values[i] = field.Key + ": " + value
	}
	return fmt.Sprintf("E11000 duplicate key error collection: %s index: %s dup key: { %s }",
		command.namespace(), d.index, strings.Join(values, ", "))
}

func (c Command) namespace() string { return c.Database + "." + c.Collection }

// findDuplicate returns the index that refuses a document, or nil. A server asks the index
// of _id first and then the others in the order of their creation. The documents with the
// ids in without do not count. The caller holds exclusive, so nothing has changed since
// the refusal.
func (s *Server) findDuplicate(command Command, refused bson.Raw, without bson.A) (*duplicate, error) {
	var fields bson.D
	if err := bson.Unmarshal(refused, &fields); err != nil {
		return nil, err
	}
	for _, index := range s.indexesOf(command) {
		name, _ := index.Lookup("name").StringValueOK()
		if unique, _ := index.Lookup("unique").BooleanOK(); !unique && name != "_id_" {
			continue
		}
		pattern, _ := index.Lookup("key").DocumentOK()
		elements, err := pattern.Elements()
		if err != nil {
			return nil, err
		}
		var key bson.D
		for _, element := range elements {
			key = append(key, bson.E{Key: element.Key(), Value: valueOf(fields, element.Key())})
		}
		all := bson.A{key}
		if isNonzero(index.Lookup("sparse")) { // it has no document that lacks the fields
			var either bson.A
			for _, field := range key {
				either = append(either, bson.D{{Key: field.Key, Value: bson.D{{Key: "$exists", Value: true}}}})
			}
			all = append(all, bson.D{{Key: "$or", Value: either}})
		}
		filter := bson.D{{Key: "$and", Value: append(all, bson.D{{Key: "_id", Value: bson.D{{Key: "$nin", Value: append(bson.A{}, without...)}}}})}}
		taken, err := s.find(command, filter, 1, nil)
		if err != nil {
			return nil, err
		}
		if len(taken) > 0 {
			return &duplicate{name, pattern, key}, nil
		}
	}
	return nil, nil
}

// findUpdated returns the index that refuses an update, or nil. It knows the operators
// $set, $setOnInsert, $unset and $inc, on fields of the document itself.
func (s *Server) findUpdated(command Command, query, update bson.RawValue, sort bson.D, many bool) (*duplicate, error) {
	limit := 1
	if many {
		limit = 0
	}
	matched, err := s.find(command, query, limit, sort)
	if err != nil {
		return nil, err
	}
	if len(matched) == 0 { // it inserts
		var equal bson.D
		if err := query.Unmarshal(&equal); err != nil {
			return nil, err
		}
		candidate, err := updated(equal, update, true)
		if err != nil {
			return nil, err
		}
		return s.findDuplicate(command, document(candidate), nil)
	}
	for _, each := range matched {
		var stored bson.D
		if err := bson.Unmarshal(each, &stored); err != nil {
			return nil, err
		}
		candidate, err := updated(stored, update, false)
		if err != nil {
			return nil, err
		}
		found, err := s.findDuplicate(command, document(candidate), bson.A{each.Lookup("_id")})
		if err != nil || found != nil {
			return found, err
		}
	}
	return nil, nil
}

// updated returns a document after an update.
func updated(stored bson.D, update bson.RawValue, inserts bool) (bson.D, error) {
	var changes bson.D
	if err := update.Unmarshal(&changes); err != nil {
		return nil, err
	}
	if len(changes) == 0 || !strings.HasPrefix(changes[0].Key, "$") {
		return put(changes, "_id", valueOf(stored, "_id")), nil
	}
	for _, change := range changes {
		fields, _ := change.Value.(bson.D)
		for _, field := range fields {
			switch {
			case change.Key == "$set", change.Key == "$setOnInsert" && inserts:
				stored = put(stored, field.Key, field.Value)
			case change.Key == "$unset":
				stored = put(stored, field.Key, nil)
			case change.Key == "$inc":
				stored = put(stored, field.Key, sum(valueOf(stored, field.Key), field.Value))
			}
		}
	}
	return stored, nil
}

// sum adds two integers, of which the first may be missing.
func sum(a, b any) int64 {
	var total int64
	for _, each := range []any{a, b} {
		switch n := each.(type) {
		case int32:
			total += int64(n)
		case int64:
			total += n
		}
	}
	return total
}

func valueOf(fields bson.D, name string) any {
	for _, field := range fields {
		if field.Key == name {
			return field.Value
		}
	}
	return nil
}

func put(fields bson.D, name string, value any) bson.D {
	for i := range fields {
		if fields[i].Key == name {
			fields[i].Value = value
			return fields
		}
	}
	return append(fields, bson.E{Key: name, Value: value})
}

// find returns documents of the command's collection, all of them if limit is 0.
func (s *Server) find(command Command, filter any, limit int, more bson.D) ([]bson.Raw, error) {
	reply, err := s.ask(command.Database, append(bson.D{
		{Key: "find", Value: command.Collection}, {Key: "filter", Value: filter}, {Key: "limit", Value: int64(limit)},
		{Key: "batchSize", Value: int64(maxStatements)}, {Key: "singleBatch", Value: true},
	}, more...))
	return documentsOf(reply, "cursor", "firstBatch"), err
}

// ask runs a command of the face itself.
func (s *Server) ask(database string, command bson.D) (bson.Raw, error) {
	reply, err := s.backend.run(message{body: document(append(command, bson.E{Key: "$db", Value: database}))})
	if err == nil && !isSuccess(reply) {
		return nil, fmt.Errorf("the backend refuses %s: %s", command[0].Key, reply)
	}
	return reply, err
}

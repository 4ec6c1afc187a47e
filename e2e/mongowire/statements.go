package mongowire

import (
	"slices"
	"strings"
	"sync"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// ferretBatch is how many documents FerretDB inserts at a time. It notices the end of an
// ordered insert only within such a batch.
const ferretBatch = 100

// outcome is the sum of the replies to the parts of a write command.
type outcome struct {
	n, modified int64
	upserted    bson.A
	errors      []bson.D
}

// take adds the reply to the part that starts at a statement.
func (o *outcome) take(reply bson.Raw, first int) {
	n, _ := reply.Lookup("n").AsInt64OK()
	modified, _ := reply.Lookup("nModified").AsInt64OK()
	o.n, o.modified = o.n+n, o.modified+modified
	for _, each := range documentsOf(reply, "upserted") {
		o.upserted = append(o.upserted, bson.D{{Key: "index", Value: int32(first)}, {Key: "_id", Value: each.Lookup("_id")}})
	}
}

func (o *outcome) reply(isUpdate bool) bson.Raw {
	reply := bson.D{{Key: "n", Value: int32(o.n)}}
	if isUpdate {
		reply = append(reply, bson.E{Key: "nModified", Value: int32(o.modified)})
	}
	if len(o.upserted) > 0 {
		reply = append(reply, bson.E{Key: "upserted", Value: o.upserted})
	}
	if len(o.errors) > 0 {
		reply = append(reply, bson.E{Key: "writeErrors", Value: o.errors})
	}
	return document(append(reply, bson.E{Key: "ok", Value: 1.0}))
}

// insert sends an ordered insert in parts, and an unordered one as a whole. It says which
// index refused a document, which FerretDB does not.
func (s *Server) insert(command Command) (bson.Raw, error) {
	size := max(1, len(command.Statements))
	if command.isOrdered() {
		size = ferretBatch
	}
	var sum outcome
	first := 0
	for part := range slices.Chunk(command.Statements, size) {
		reply, err := s.backend.run(command.forwarded(part))
		if err != nil {
			return nil, err
		}
		if !isSuccess(reply) {
			return reply, nil
		}
		sum.take(reply, first)
		failures, failed := documentsOf(reply, "writeErrors"), map[int]bool{}
		for _, failure := range failures {
			failed[indexOf(failure)] = true
		}
		for _, failure := range failures {
			at := indexOf(failure)
			described, err := s.describe(command, failure, first+at, func() (*duplicate, error) {
				// The documents behind this one were stored after it was refused.
				var behind bson.A
				for i := at + 1; i < len(part) && !command.isOrdered(); i++ {
					if !failed[i] {
						behind = append(behind, part[i].Lookup("_id"))
					}
				}
				return s.findDuplicate(command, part[at], behind)
			})
			if err != nil {
				return nil, err
			}
			sum.errors = append(sum.errors, described)
		}
		if command.isOrdered() && len(sum.errors) > 0 {
			break
		}
		first += len(part)
	}
	return sum.reply(false), nil
}

// update sends each statement by itself. FerretDB fails as a whole when one update fails,
// and has executed those before it.
func (s *Server) update(command Command) (bson.Raw, error) {
	var sum outcome
	for i, statement := range command.Statements {
		reply, err := s.backend.run(command.forwarded([]bson.Raw{statement}))
		if err != nil {
			return nil, err
		}
		failures := documentsOf(reply, "writeErrors")
		switch {
		case isUniqueFailure(reply):
			failures = []bson.Raw{document(bson.D{{Key: "code", Value: int32(duplicateKey)}})}
		case !isSuccess(reply):
			return reply, nil
		default:
			sum.take(reply, i)
		}
		for _, failure := range failures {
			described, err := s.describe(command, failure, i, func() (*duplicate, error) {
				many, _ := statement.Lookup("multi").BooleanOK()
				return s.findUpdated(command, statement.Lookup("q"), statement.Lookup("u"), bson.D{}, many)
			})
			if err != nil {
				return nil, err
			}
			sum.errors = append(sum.errors, described)
		}
		if command.isOrdered() && len(sum.errors) > 0 {
			break
		}
	}
	return sum.reply(true), nil
}

// findAndModify turns FerretDB's refusal of a duplicate into that of a server. It selects the fields of the
// reply itself, which FerretDB does not.
func (s *Server) findAndModify(command Command) (bson.Raw, error) {
	fields, hasFields := command.Body.Lookup("fields").DocumentOK()
	command.Body = without(command.Body, "fields")
	reply, err := s.backend.run(command.forwarded(nil))
	if err != nil {
		return nil, err
	}
	code, _ := reply.Lookup("code").AsInt64OK()
	if code != duplicateKey && !isUniqueFailure(reply) {
		if found, isFound := reply.Lookup("value").DocumentOK(); isFound && hasFields {
			return with(without(reply, "value"), bson.D{{Key: "value", Value: included(found, fields)}}), nil
		}
		return reply, nil
	}
	sort := bson.D{}
	if order, ok := command.Body.Lookup("sort").DocumentOK(); ok {
		sort = bson.D{{Key: "sort", Value: order}}
	}
	found, err := s.findUpdated(command, command.Body.Lookup("query"), command.Body.Lookup("update"), sort, false)
	if err != nil || found == nil {
		return reply, err
	}
	text := "Plan executor error during findAndModify :: caused by :: " + found.text(command)
	return refusal(duplicateKey, "DuplicateKey", text, found.fields()...), nil
}

// included returns the _id of a document and the fields that a projection includes.
func included(document, projection bson.Raw) bson.D {
	shown := bson.D{{Key: "_id", Value: document.Lookup("_id")}}
	wanted, _ := projection.Elements()
	for _, each := range wanted {
		if value, err := document.LookupErr(each.Key()); err == nil {
			shown = append(shown, bson.E{Key: each.Key(), Value: value})
		}
	}
	return shown
}

// describe returns a write error with its index in the command. If it is a duplicate, it
// says what find found.
func (s *Server) describe(command Command, failure bson.Raw, index int, find func() (*duplicate, error)) (bson.D, error) {
	code, _ := failure.Lookup("code").AsInt64OK()
	described := bson.D{{Key: "index", Value: int32(index)}, {Key: "code", Value: int32(code)}}
	if code != duplicateKey {
		return append(described, bson.E{Key: "errmsg", Value: failure.Lookup("errmsg")}), nil
	}
	found, err := find()
	if err != nil {
		return nil, err
	}
	if found == nil {
		return append(described, bson.E{Key: "errmsg", Value: "E11000 duplicate key error collection: " + command.namespace()}), nil
	}
	described = append(described, bson.E{Key: "errmsg", Value: found.text(command)})
	return append(described, found.fields()...), nil
}

// isUniqueFailure reports whether a reply is FerretDB's to an update that SQLite or PostgreSQL refused as
// a duplicate. It has no code of its own, only their text.
func isUniqueFailure(reply bson.Raw) bool {
	code, _ := reply.Lookup("code").AsInt64OK()
	text, _ := reply.Lookup("errmsg").StringValueOK()
	isRefused := strings.Contains(text, "UNIQUE constraint failed: index '") || strings.HasSuffix(text, "(SQLSTATE 23505)")
	return !isSuccess(reply) && code == 1 && isRefused
}

func indexOf(failure bson.Raw) int {
	index, _ := failure.Lookup("index").AsInt64OK()
	return int(index)
}

// documentsOf returns the documents in an array of a reply, and none if there is no array.
func documentsOf(reply bson.Raw, field ...string) (documents []bson.Raw) {
	array, ok := reply.Lookup(field...).ArrayOK()
	if !ok {
		return nil
	}
	values, err := array.Values()
	if err != nil {
		return nil
	}
	for _, value := range values {
		if each, ok := value.DocumentOK(); ok {
			documents = append(documents, each)
		}
	}
	return documents
}

// maxSessions is how many sessions the server remembers. A driver that has more gets no
// stored reply for the oldest.
const maxSessions = 10_000

// sessions has the reply to the last retryable write of each session. MongoDB too keeps
// only the last one, because a driver retries a write before it sends the next of the same
// session. MongoDB keeps the outcome of each statement and executes failed ones again; this
// server keeps the whole reply.
type sessions struct {
	mu    sync.Mutex
	last  map[string]lastWrite
	order []string
}

type lastWrite struct {
	number int64
	reply  bson.Raw
}

func newSessions() sessions {
	return sessions{last: map[string]lastWrite{}}
}

// repeated returns the reply to a write that the server has executed, or nil.
func (s *sessions) repeated(command Command) bson.Raw {
	id, number, retryable := command.session()
	if !retryable {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	last, known := s.last[id]
	switch {
	case !known || number > last.number:
		return nil
	case number < last.number:
		return refusal(225, "TransactionTooOld", "a later retryable write of this session has started")
	}
	return last.reply
}

// keep stores the reply to a write, for its repeat.
func (s *sessions) keep(command Command, reply bson.Raw) {
	id, number, retryable := command.session()
	if !retryable {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, known := s.last[id]; !known {
		s.order = append(s.order, id)
		if len(s.order) > maxSessions {
			delete(s.last, s.order[0])
			s.order = s.order[1:]
		}
	}
	s.last[id] = lastWrite{number, reply}
}

// end forgets sessions, at the command endSessions. Their places in the order stay until
// they are the oldest.
func (s *sessions) end(command Command) {
	ids, _ := command.Body.Lookup("endSessions").ArrayOK()
	values, err := ids.Values()
	if err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, value := range values {
		if id, ok := value.DocumentOK(); ok {
			delete(s.last, string(id))
		}
	}
}

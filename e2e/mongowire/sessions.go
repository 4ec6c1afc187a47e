package mongowire

import (
	"maps"
	"sync"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// maxSessions is how many sessions the server remembers. A driver that has more has its writes
// executed again in the oldest.
const maxSessions = 10_000

// sessions has what the last retryable write of each session did, by its statements. MongoDB too keeps only the
// last one, because a driver retries a write before it sends the next of the same session. What failed or changed
// nothing is executed again.
type sessions struct {
	mu    sync.Mutex
	last  map[string]lastWrite
	order []string
}

type lastWrite struct {
	number int64
	// done are the statements that were executed, by their numbers.
	done map[int64]deed
}

// deed is what a statement did. upserted is the _id of a document that it stored. reply is that of a findAndModify.
type deed struct {
	n, modified int64
	upserted    bson.RawValue
	reply       bson.Raw
}

// deedOf returns what the reply to one statement says that it did.
func deedOf(reply bson.Raw) (did deed) {
	did.n, _ = reply.Lookup("n").AsInt64OK()
	did.modified, _ = reply.Lookup("nModified").AsInt64OK()
	for _, each := range documentsOf(reply, "upserted") {
		did.upserted = each.Lookup("_id")
	}
	return did
}

func newSessions() sessions {
	return sessions{last: map[string]lastWrite{}}
}

// begin begins a write. It returns a refusal if the session has begun a later one.
func (s *sessions) begin(c Command) (tooOld *verdict) {
	id, number, retryable := c.session()
	if !retryable {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	last, isKnown := s.last[id]
	if isKnown && number < last.number {
		return refuse(225, "Retryable write with txnNumber %d is prohibited: a later one of this session, %d, has started", number, last.number)
	}
	if !isKnown {
		s.order = append(s.order, id)
		if len(s.order) > maxSessions {
			delete(s.last, s.order[0])
			s.order = s.order[1:]
		}
	}
	if !isKnown || number > last.number {
		s.last[id] = lastWrite{number: number, done: map[int64]deed{}}
	}
	return nil
}

// done returns what a statement of a write did before, and whether it was executed.
func (s *sessions) done(c Command, statement int) (did deed, isDone bool) {
	id, _, retryable := c.session()
	if !retryable {
		return deed{}, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	did, isDone = s.last[id].done[c.statementID(statement)]
	return did, isDone
}

// keep remembers what a statement did, if it changed something.
func (s *sessions) keep(c Command, statement int, did deed) {
	id, number, retryable := c.session()
	hasChanged := did.modified > 0 || !did.upserted.IsZero() || c.Name == "delete" && did.n > 0
	if !retryable || !hasChanged {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if last, isKnown := s.last[id]; isKnown && last.number == number {
		last.done[c.statementID(statement)] = did
	}
}

// statementID returns the number of a statement within its retryable write.
func (c Command) statementID(statement int) int64 {
	if ids, isList := c.Body.Lookup("stmtIds").ArrayOK(); isList {
		if values, err := ids.Values(); err == nil && statement < len(values) {
			id, _ := values[statement].AsInt64OK()
			return id
		}
	}
	first, _ := c.Body.Lookup("stmtId").AsInt64OK()
	return first + int64(statement)
}

// end forgets sessions, at the command endSessions. Their places in the order stay until
// they are the oldest.
func (s *sessions) end(command Command) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range documentsOf(command.Body, "endSessions") {
		delete(s.last, string(id))
	}
}

// all returns the last writes of all sessions.
func (s *sessions) all() map[string]lastWrite {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := maps.Clone(s.last)
	for id, last := range all {
		last.done = maps.Clone(last.done)
		all[id] = last
	}
	return all
}

func (s *sessions) replace(last map[string]lastWrite) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = last
}

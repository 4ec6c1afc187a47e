package mongowire

import (
	"sync"

	"go.mongodb.org/mongo-driver/v2/bson"
)

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

package mongowire

import (
	"math/rand/v2"
	"sync"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// maxCursors is how many cursors the face keeps documents for. It forgets the others, and a
// getMore on them is refused as CursorNotFound.
const maxCursors = 1000

// cursors has the documents of open cursors that FerretDB sent and that did not fit into a
// batch of a server.
//
// A server since 5.0 leaves a cursor open if it has filled the batch exactly, even if the
// batch ends at the limit of the find or at the last document: it does not look ahead. The
// next batch is empty then and closes the cursor. See "Find, getMore and killCursors
// commands" in the specifications of MongoDB's drivers (DRIVERS-1781), and SERVER-68554.
// FerretDB does the same, so the face only limits the bytes. A find with singleBatch leaves
// no cursor.
type cursors struct {
	// maxBatch is how many bytes of documents are in one batch, unless it is one larger
	// document.
	maxBatch int

	mu   sync.Mutex
	rest map[int64]remainder
	// opened are the cursors that this server opened and that are not at their end. Another router does not
	// know them; see https://www.mongodb.com/docs/manual/core/sharded-cluster-query-router/.
	opened map[int64]opening
}

// opening is what opened a cursor: a command of a session, or of none, on a collection, by an index or by any.
// ended is why the server has ended it since.
type opening struct {
	session, namespace, index string
	ended                     *verdict
}

// opens notes the cursor that the reply to a command opens.
func (c *cursors) opens(command Command, reply bson.Raw) {
	session, _, _ := command.session()
	index, _ := command.Body.Lookup("hint").StringValueOK()
	c.mu.Lock()
	defer c.mu.Unlock()
	if open, _ := reply.Lookup("cursor", "id").AsInt64OK(); open != 0 {
		c.opened[open] = opening{session: session, namespace: command.namespace(), index: index}
	}
}

// interrupt ends the cursors that read what a command drops.
func (c *cursors) interrupt(command Command) {
	c.mu.Lock()
	defer c.mu.Unlock()
	dropped, isNamed := command.Body.Lookup("index").StringValueOK()
	for id, opened := range c.opened {
		switch isOfCollection := opened.namespace == command.namespace(); {
		case command.Name == "drop" && isOfCollection:
			opened.ended = refuse(175, "collection dropped")
		case command.Name == "dropIndexes" && isOfCollection && isNamed && dropped == opened.index:
			opened.ended = refuse(175, "query plan killed :: index '%s' dropped", dropped)
		}
		c.opened[id] = opened
	}
}

// closes forgets a cursor, and reports whether this server had opened it.
func (c *cursors) closes(id int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer delete(c.opened, id)
	_, isOpen := c.opened[id]
	return isOpen
}

// isOf reports whether a cursor is on a collection.
func (c *cursors) isOf(id int64, namespace string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.opened[id].namespace == namespace
}

// refusesMore returns why a getMore gets nothing from a cursor, or nil.
func (s *Server) refusesMore(command Command, id int64) *verdict {
	s.cursors.mu.Lock()
	defer s.cursors.mu.Unlock()
	opened, isOpen := s.cursors.opened[id]
	session, _, _ := command.session()
	first := map[Role]int32{Primary: 50736, Router: 50799}[s.role]
	switch isOther := opened.namespace != command.namespace(); {
	case !isOpen || isOther && s.role == Router:
		return refuse(43, "cursor id %d not found", id)
	case isOther:
		return refuse(unauthorized, "Requested getMore on namespace '%s', but cursor belongs to a different namespace %s", command.namespace(), opened.namespace)
	case opened.session == "" && session != "":
		return refuse(first, "Cannot run getMore on cursor %d, which was not created in a session, in a session", id)
	case opened.session != "" && session == "":
		return refuse(first+1, "Cannot run getMore on cursor %d, which was created in a session, without an lsid", id)
	case opened.session != session:
		return refuse(first+2, "Cannot run getMore on cursor %d, which was created in another session", id)
	}
	if opened.ended != nil {
		delete(s.cursors.opened, id)
	}
	return opened.ended
}

// remainder are the documents that come next. backend is the id of FerretDB's cursor that
// has the documents after them, or 0.
type remainder struct {
	documents []bson.Raw
	backend   int64
}

func newCursors(maxBatch int) cursors {
	return cursors{maxBatch: maxBatch, rest: map[int64]remainder{}, opened: map[int64]opening{}}
}

// cut returns the reply to a find or an aggregate with a batch that a server would send, and
// keeps the rest.
func (c *cursors) cut(command Command, reply bson.Raw) bson.Raw {
	batch := documentsOf(reply, "cursor", "firstBatch")
	fitting := c.fit(batch)
	if len(fitting) == len(batch) {
		return reply
	}
	id, _ := reply.Lookup("cursor", "id").AsInt64OK()
	if single, _ := command.Body.Lookup("singleBatch").BooleanOK(); single {
		return batchReply(command, "firstBatch", fitting, 0)
	}
	return batchReply(command, "firstBatch", fitting, c.keep(id, remainder{batch[len(fitting):], id}))
}

// fit returns the first documents that fit into a batch, at least one.
func (c *cursors) fit(batch []bson.Raw) []bson.Raw {
	size := 0
	for i, each := range batch {
		if size += len(each); size > c.maxBatch && i > 0 {
			return batch[:i]
		}
	}
	return batch
}

// keep stores what comes next at a cursor, and returns the id. If the id is 0, it makes one.
func (c *cursors) keep(id int64, rest remainder) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if id == 0 {
		id = rand.Int64() // #nosec G404 -- the id of a cursor in a test
	}
	for other := range c.rest {
		if len(c.rest) < maxCursors {
			break
		}
		delete(c.rest, other)
	}
	c.rest[id] = rest
	return id
}

func (c *cursors) take(id int64) (rest remainder, found bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	rest, found = c.rest[id]
	delete(c.rest, id)
	return rest, found
}

// getMore sends the documents that the face has, and fills the batch with FerretDB's.
func (s *Server) getMore(command Command) (bson.Raw, error) {
	id, _ := command.Body.Lookup("getMore").AsInt64OK()
	size, _ := command.Body.Lookup("batchSize").AsInt64OK()
	wanted := int(size)
	if v := s.refusesMore(command, id); v != nil {
		return v.reply(), nil
	}
	rest, found := s.cursors.take(id)
	if !found {
		rest.backend = id
	}
	if rest.backend != 0 && (wanted == 0 || len(rest.documents) < wanted) {
		more := command.forwarded(nil)
		if wanted > 0 {
			more.body = with(more.body, bson.D{{Key: "batchSize", Value: int32(wanted - len(rest.documents))}})
		}
		reply, err := s.backend.run(more)
		if err != nil || !isSuccess(reply) {
			return reply, err
		}
		rest.documents = append(rest.documents, documentsOf(reply, "cursor", "nextBatch")...)
		rest.backend, _ = reply.Lookup("cursor", "id").AsInt64OK()
	}
	batch := rest.documents
	if wanted > 0 && wanted < len(batch) {
		batch = batch[:wanted]
	}
	batch = s.cursors.fit(batch)
	rest.documents = rest.documents[len(batch):]
	isFilled := wanted > 0 && len(batch) == wanted
	next := id
	switch {
	case rest.backend == 0 && len(rest.documents) == 0 && !isFilled:
		next = 0
	case rest.backend == 0 || len(rest.documents) > 0:
		s.cursors.keep(id, rest)
	}
	if next == 0 {
		s.cursors.closes(id)
	}
	return batchReply(command, "nextBatch", batch, next), nil
}

// killCursors forgets the cursors that this server has opened. The reply names the others. See
// https://www.mongodb.com/docs/manual/reference/command/killCursors/.
func (s *Server) killCursors(command Command) (bson.Raw, error) {
	list, _ := command.Body.Lookup("cursors").ArrayOK()
	ids, err := list.Values()
	if err != nil {
		return nil, err
	}
	killed, notFound := bson.A{}, bson.A{}
	for _, each := range ids {
		id, _ := each.AsInt64OK()
		if s.role == Router && !s.cursors.isOf(id, command.namespace()) || !s.cursors.closes(id) {
			notFound = append(notFound, id)
			continue
		}
		s.cursors.take(id)
		killed = append(killed, id)
	}
	if len(killed) > 0 { // FerretDB does not find those that only the face has
		forwarded := command.forwarded(nil)
		forwarded.body = with(forwarded.body, bson.D{{Key: "cursors", Value: killed}})
		if reply, err := s.backend.run(forwarded); err != nil || !isSuccess(reply) {
			return reply, err
		}
	}
	return document(bson.D{
		{Key: "cursorsKilled", Value: killed}, {Key: "cursorsNotFound", Value: notFound},
		{Key: "cursorsAlive", Value: bson.A{}}, {Key: "cursorsUnknown", Value: bson.A{}}, {Key: "ok", Value: 1.0},
	}), nil
}

func batchReply(command Command, field string, batch []bson.Raw, id int64) bson.Raw {
	return document(bson.D{
		{Key: "cursor", Value: bson.D{
			{Key: field, Value: append([]bson.Raw{}, batch...)}, {Key: "id", Value: id}, {Key: "ns", Value: command.namespace()},
		}},
		{Key: "ok", Value: 1.0},
	})
}

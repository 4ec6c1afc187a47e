package mongowire

import (
	"slices"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Command is a command as a driver sent it.
type Command struct {
	// Name is the name of the command, such as find.
	Name string
	// Database is the database of the command.
	Database string
	// Collection is the collection of the command, or "" if it has none.
	Collection string
	// Body is the command without its statements.
	Body bson.Raw
	// Statements are the documents of an insert, the updates of an update, or the deletes of a
	// delete.
	Statements []bson.Raw
	// malformed is why a server cannot read the statements, or nil.
	malformed *verdict
	// whole is the command with its statements, as far as they are in its body. The record does not have it.
	whole bson.Raw
	// Size is the number of bytes of the command on the wire.
	Size int
	// At is when the command arrived.
	At time.Time
}

// statementsField returns the field of a command that has its statements.
func statementsField(command string) string {
	switch command {
	case "insert":
		return "documents"
	case "update":
		return "updates"
	case "delete":
		return "deletes"
	}
	return ""
}

// unforwarded are the fields that the face handles itself. FerretDB refuses some of them in
// some commands.
func unforwarded() []string {
	return []string{
		"lsid", "txnNumber", "$clusterTime", "readConcern", "writeConcern", "$readPreference", "stmtId", "stmtIds",
		"apiVersion", "apiStrict", "apiDeprecationErrors", "commitQuorum", "hint", "comment", "noCursorTimeout", "allowPartialResults",
		"returnKey", "showRecordId", "let", "bypassEmptyTsReplacement", "collation",
	}
}

// commandOf returns the command of a message.
func commandOf(m message, at time.Time) (Command, error) {
	elements, err := m.body.Elements()
	if err != nil || len(elements) == 0 {
		return Command{}, errMalformed
	}
	c := Command{Name: elements[0].Key(), Body: m.body, whole: m.body, Statements: m.documents, Size: m.size, At: at}
	if c.Name == "findandmodify" { // the older spelling
		c.Name = "findAndModify"
		c.Body = with(document(bson.D{{Key: c.Name, Value: elements[0].Value()}}), elementsOf(without(c.Body, elements[0].Key())))
		c.whole = c.Body
	}
	c.Database, _ = m.body.Lookup("$db").StringValueOK()
	c.Collection, _ = elements[0].Value().StringValueOK()
	if c.Name == "getMore" {
		c.Collection, _ = m.body.Lookup("collection").StringValueOK()
	}
	field := statementsField(c.Name)
	if m.sequence != "" && m.sequence != field {
		return Command{}, errMalformed
	}
	if list, ok := m.body.Lookup(field).ArrayOK(); field != "" && ok {
		values, err := list.Values()
		if err != nil {
			return Command{}, errMalformed
		}
		for i, value := range values {
			statement, isDocument := value.DocumentOK()
			if !isDocument {
				c.malformed = refuse(typeMismatch, "BSON field '%s.%s.%d' is the wrong type '%s', expected type 'object'", c.Name, field, i, value.Type)
				return c, nil
			}
			c.Statements = append(c.Statements, statement)
		}
		c.Body = without(c.Body, field)
	} else if m.sequence != "" {
		c.whole = with(c.Body, bson.D{{Key: field, Value: bson.A{}}})
	}
	for _, statement := range c.Statements {
		if statement.Validate() != nil {
			return Command{}, errMalformed
		}
	}
	return c, nil
}

// forwarded returns the message for the backend, with the given statements.
func (c Command) forwarded(statements []bson.Raw) message {
	fields := unforwarded()
	if c.Name != "getMore" {
		// A server refuses maxTimeMS in a getMore, and so does FerretDB. Elsewhere, the face
		// limits the waiting, which it does itself.
		fields = append(fields, "maxTimeMS")
	}
	m := message{body: without(c.Body, fields...)}
	if sort := field(c.Body, "sort"); firstField(sort) == "$natural" {
		m.body = without(m.body, "sort")
	} else if len(sort) > 5 { // a field that is there twice counts once
		once := bson.D{}
		for _, key := range elementsOf(sort) {
			if valueOf(once, key.Key) == nil {
				once = append(once, key)
			}
		}
		m.body = with(m.body, bson.D{{Key: "sort", Value: once}})
	}
	if limit, _ := c.Body.Lookup("limit").AsInt64OK(); c.Name == "count" && limit < 0 {
		m.body = with(m.body, bson.D{{Key: "limit", Value: -limit}})
	}
	if field := statementsField(c.Name); field != "" {
		m.sequence, m.documents = field, statements
	}
	return m
}

// isOrdered reports whether the first failure of a statement ends the command.
func (c Command) isOrdered() bool {
	ordered, given := c.Body.Lookup("ordered").BooleanOK()
	return ordered || !given
}

// session returns the id of the session and the number of the retryable write. A command
// that is no retryable write has no number.
func (c Command) session() (id string, number int64, retryable bool) {
	lsid := field(c.Body, "lsid")
	number, retryable = c.Body.Lookup("txnNumber").AsInt64OK()
	return string(lsid), number, retryable && len(lsid) > 0
}

// millis returns a field as a duration, or 0.
func millis(body bson.Raw, field ...string) time.Duration {
	n, _ := body.Lookup(field...).AsInt64OK()
	return time.Duration(n) * time.Millisecond
}

// class is what a command does to data. It decides which latency the command has, and
// whether it may run beside others.
type class int

const (
	write class = iota
	read
	// administration are commands about sessions and about the server itself. They take no time.
	administration
)

func (c Command) class() class {
	switch {
	case slices.Contains([]string{
		"find", "getMore", "killCursors", "aggregate", "count", "distinct", "listIndexes", "listCollections",
		"listDatabases", "listShards", "ping", "buildInfo", "serverStatus", "dbStats", "collStats", "explain",
	}, c.Name):
		return read
	case slices.Contains([]string{"endSessions", "refreshSessions", "killSessions", "startSession", "replSetStepDown", "connPoolStats", "getDefaultRWConcern"}, c.Name):
		return administration
	}
	return write
}

// readConcern returns the read concern of a read, and the cluster time that it has reached; zero for any. A snapshot of the
// past shows the present.
func (c Command) readConcern() (level string, at bson.Timestamp) {
	level, _ = c.Body.Lookup("readConcern", "level").StringValueOK()
	for _, field := range []string{"afterClusterTime", "atClusterTime"} {
		if t, i, isTimestamp := c.Body.Lookup("readConcern", field).TimestampOK(); isTimestamp {
			at = bson.Timestamp{T: t, I: i}
		}
	}
	return level, at
}

// needsMajority reports whether the reply to a write waits for a majority. Since MongoDB 5,
// a majority is the default.
func (c Command) needsMajority(plays Version) bool {
	if c.class() != write {
		return false
	}
	w := c.Body.Lookup("writeConcern", "w")
	n, isNumber := w.AsInt64OK()
	return !isNumber && (plays != Version44 || !w.IsZero()) || n > 1 || c.Name == "createIndexes" // its commit quorum
}

// maxRecorded and maxRecordedBytes bound the recorded commands. The oldest are forgotten first.
const (
	maxRecorded      = 20_000
	maxRecordedBytes = 64 << 20
)

// Mark is a position in the record of commands.
type Mark int

// record has the commands in the order of their arrival.
type record struct {
	mu sync.Mutex
	// first is the position of the oldest command in commands.
	first    Mark
	commands []Command
	bytes    int
}

func (r *record) add(c Command) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c.whole = nil
	r.commands = append(r.commands, c)
	r.bytes += c.Size
	forgotten := 0
	for len(r.commands)-forgotten > maxRecorded || r.bytes > maxRecordedBytes {
		r.bytes -= r.commands[forgotten].Size
		forgotten++
	}
	r.commands = r.commands[forgotten:]
	r.first += Mark(forgotten)
}

// Mark returns the position behind the commands that have arrived.
func (s *Server) Mark() Mark {
	s.record.mu.Lock()
	defer s.record.mu.Unlock()
	return s.record.first + Mark(len(s.record.commands))
}

// Since returns the commands that have arrived since a mark, without hello. complete is
// false if the face has forgotten the first of them.
func (s *Server) Since(mark Mark) (commands []Command, complete bool) {
	s.record.mu.Lock()
	defer s.record.mu.Unlock()
	from := max(0, min(int(mark-s.record.first), len(s.record.commands)))
	return slices.Clone(s.record.commands[from:]), mark >= s.record.first
}

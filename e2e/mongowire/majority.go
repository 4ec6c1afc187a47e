package mongowire

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Hold says how a server without a majority answers.
type Hold int

// The ways to hold the acknowledgement of a majority.
const (
	// Waiting waits for the majority: for the wtimeout of the command, for its maxTimeMS, or
	// until the driver hangs up.
	Waiting Hold = iota
	// Failing answers at once as if that time had passed.
	Failing
)

// majority is whether a majority of the replica set acknowledges writes.
type majority struct {
	mu   sync.Mutex
	how  Hold
	held chan struct{} // nil, or closed at the release
}

// HoldMajority holds the acknowledgement of all writes, also of those that change nothing,
// until release is called. The writes are executed and other clients read them, but not with read concern
// majority. A read with read concern linearizable waits too. Only one hold exists at a time.
func (s *Server) HoldMajority(how Hold) (release func()) {
	s.beginLag()
	m := &s.majority
	m.mu.Lock()
	defer m.mu.Unlock()
	held := make(chan struct{})
	m.how, m.held = how, held
	return sync.OnceFunc(func() {
		if m.isHeldBy(held) {
			_ = s.endLag(false) // undoes nothing
			m.release()
		}
	})
}

func (m *majority) isHeldBy(hold chan struct{}) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.held == hold
}

// release ends the hold, if there is one.
func (m *majority) release() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.held != nil {
		close(m.held)
		m.held = nil
	}
}

// acknowledge waits until a majority acknowledges the write, or confirms to a read that waits for it that this is
// the primary. It returns the reply that the driver gets. The codes are
// those of a server: a write that waited for its wtimeout has a write concern error with
// code 64, one that waited for maxTimeMS has code 50, and a read fails with code 50. If the server steps down
// meanwhile, both have code 11602.
func (m *majority) acknowledge(ctx context.Context, command Command, needsMajority, isWaitingRead bool, reply bson.Raw, steppedDown <-chan struct{}) (bson.Raw, error) {
	if !isSuccess(reply) || !needsMajority && !isWaitingRead {
		return reply, nil
	}
	if number, isNumber := command.Body.Lookup("writeConcern", "w").AsInt64OK(); isNumber && number > members {
		return withWriteConcernError(reply, 100, "UnsatisfiableWriteConcern", "Not enough data-bearing nodes"), nil
	}
	if mode, isMode := command.Body.Lookup("writeConcern", "w").StringValueOK(); isMode && mode != "majority" {
		return withWriteConcernError(reply, 79, "UnknownReplWriteConcern", "No write concern mode named '"+mode+"' found in replica set configuration"), nil
	}
	limit, wtimeout := millis(command.Body, "maxTimeMS"), time.Duration(0)
	if needsMajority {
		wtimeout = millis(command.Body, "writeConcern", "wtimeout")
	}
	isWtimeout := wtimeout > 0 && (limit == 0 || wtimeout <= limit)
	if isWtimeout {
		limit = wtimeout
	}
	acknowledged, err := m.wait(ctx, limit, steppedDown)
	switch {
	case errors.Is(err, errSteppedDown) && isWaitingRead:
		return refusal(11602, "InterruptedDueToReplStateChange", "operation was interrupted"), nil
	case errors.Is(err, errSteppedDown):
		if _, _, isRetryable := command.session(); isRetryable {
			reply = with(reply, bson.D{{Key: "errorLabels", Value: bson.A{"RetryableWriteError"}}})
		}
		return withWriteConcernError(reply, 11602, "InterruptedDueToReplStateChange", "operation was interrupted"), nil
	case err != nil:
		return nil, err
	case !acknowledged && command.Name == "createIndexes" && !isWtimeout && limit > 0: // its commit quorum
		return refusal(50, "MaxTimeMSExpired", "operation exceeded time limit"), nil
	case acknowledged:
		return reply, nil
	case isWaitingRead:
		return refusal(50, "MaxTimeMSExpired", "operation exceeded time limit"), nil
	case limit > 0 && !isWtimeout:
		return withWriteConcernError(reply, 50, "MaxTimeMSExpired", "operation exceeded time limit"), nil
	}
	return withWriteConcernError(reply, 64, "WriteConcernFailed", "waiting for replication timed out"), nil
}

// errSteppedDown means that the server is the primary no more.
var errSteppedDown = errors.New("stepped down")

// wait reports whether the majority is there before the limit, if there is one.
func (m *majority) wait(ctx context.Context, limit time.Duration, steppedDown <-chan struct{}) (acknowledged bool, err error) {
	m.mu.Lock()
	how, held := m.how, m.held
	m.mu.Unlock()
	if held == nil {
		return true, nil
	}
	if how == Failing {
		return false, nil
	}
	var expired <-chan time.Time
	if limit > 0 {
		timer := time.NewTimer(limit)
		defer timer.Stop()
		expired = timer.C
	}
	select {
	case <-held:
		return true, nil
	case <-expired:
		return false, nil
	case <-steppedDown:
		return false, errSteppedDown
	case <-ctx.Done():
		return false, ctx.Err()
	}
}

func withWriteConcernError(reply bson.Raw, code int32, name, text string) bson.Raw {
	return with(reply, bson.D{{Key: "writeConcernError", Value: bson.D{
		{Key: "code", Value: code}, {Key: "codeName", Value: name}, {Key: "errmsg", Value: text},
		{Key: "errInfo", Value: bson.D{{Key: "wtimeout", Value: code == 64}}},
	}}})
}

// clusterTime is the cluster time of a server. It is not before the clock and grows with each stamp,
// whatever the clock does. A server stamps a document with it in place of an empty timestamp at its top
// level, in an insert, and by $currentDate with the type timestamp. See
// https://www.mongodb.com/docs/manual/reference/bson-types/#timestamps.
type clusterTime struct {
	mu    sync.Mutex
	clock func() time.Time
	last  bson.Timestamp
}

// SetClock replaces the clock of the server.
func (s *Server) SetClock(clock func() time.Time) {
	s.time.mu.Lock()
	defer s.time.mu.Unlock()
	s.time.clock = clock
}

// newClusterTime returns that of a server which begins now.
func newClusterTime() *clusterTime {
	c := &clusterTime{clock: time.Now}
	c.tick()
	return c
}

func (c *clusterTime) tick() bson.Timestamp {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := uint32(c.clock().Unix()); now > c.last.T { // #nosec G115 -- until 2106
		c.last = bson.Timestamp{T: now}
	}
	c.last.I++
	return c.last
}

// present returns the time of the last stamp.
func (c *clusterTime) present() bson.Timestamp {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last
}

// in returns a reply with the time of the last stamp, as each reply of a server has it. See
// https://www.mongodb.com/docs/manual/reference/command/#response. Nothing signs it, as without access control.
func (c *clusterTime) in(reply bson.Raw) bson.Raw {
	at := c.present()
	unsigned := bson.D{{Key: "hash", Value: bson.Binary{Data: make([]byte, 20)}}, {Key: "keyId", Value: int64(0)}}
	return with(reply, bson.D{
		{Key: "operationTime", Value: at},
		{Key: "$clusterTime", Value: bson.D{{Key: "clusterTime", Value: at}, {Key: "signature", Value: unsigned}}},
	})
}

// stamp replaces what stands for the cluster time in the documents to insert, and in the updates.
func (c *clusterTime) stamp(command Command) Command {
	command.Statements = slices.Clone(command.Statements)
	switch command.Name {
	case "insert":
		for i, statement := range command.Statements {
			command.Statements[i] = c.stampDocument(statement)
		}
	case "update":
		for i, statement := range command.Statements {
			command.Statements[i] = c.stampUpdate(statement, "u")
		}
	case "findAndModify":
		command.Body = c.stampUpdate(command.Body, "update")
	}
	return command
}

func (c *clusterTime) stampDocument(inserted bson.Raw) bson.Raw {
	elements, _ := inserted.Elements()
	stamped := bson.D{}
	isEmpty := false
	for _, element := range elements {
		value := any(element.Value())
		if t, i, ok := element.Value().TimestampOK(); ok && t == 0 && i == 0 && element.Key() != "_id" {
			value, isEmpty = c.tick(), true
		}
		stamped = append(stamped, bson.E{Key: element.Key(), Value: value})
	}
	if !isEmpty {
		return inserted
	}
	return document(stamped)
}

// stampUpdate turns $currentDate in a field of a statement, which holds operators, into $set.
func (c *clusterTime) stampUpdate(statement bson.Raw, in string) bson.Raw {
	operators := field(statement, in)
	current := field(operators, "$currentDate")
	elements, _ := current.Elements()
	if len(elements) == 0 {
		return statement
	}
	set := bson.D{}
	others, _ := field(operators, "$set").Elements()
	for _, each := range others {
		set = append(set, bson.E{Key: each.Key(), Value: each.Value()})
	}
	dates := bson.D{}
	for _, element := range elements {
		kind, _ := element.Value().DocumentOK()
		if name, _ := kind.Lookup("$type").StringValueOK(); name == "timestamp" {
			set = append(set, bson.E{Key: element.Key(), Value: c.tick()})
		} else {
			dates = append(dates, bson.E{Key: element.Key(), Value: element.Value()})
		}
	}
	stamped := without(operators, "$currentDate")
	if len(set) > 0 {
		stamped = with(stamped, bson.D{{Key: "$set", Value: set}})
	}
	if len(dates) > 0 {
		stamped = with(stamped, bson.D{{Key: "$currentDate", Value: dates}})
	}
	return with(statement, bson.D{{Key: in, Value: stamped}})
}

package mongowire

import (
	"slices"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

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
	stamped := with(without(operators, "$currentDate"), bson.D{{Key: "$set", Value: set}})
	if len(dates) > 0 {
		stamped = with(stamped, bson.D{{Key: "$currentDate", Value: dates}})
	}
	return with(statement, bson.D{{Key: in, Value: stamped}})
}

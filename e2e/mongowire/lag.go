package mongowire

import (
	"context"
	"slices"
	"sync"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// lag is what no majority has while the acknowledgement of writes is held. A read with read concern majority or snapshot
// sees none of it, and a failover undoes it; see https://www.mongodb.com/docs/manual/reference/read-concern-majority/
// and https://www.mongodb.com/docs/manual/core/replica-set-rollbacks/. Of an upsert that is held, the filter has to
// name the _id. Indexes and whole collections are not undone. The mutex of Server.exclusive guards it.
type lag struct {
	isHeld bool
	// at is the cluster time of what a majority has.
	at bson.Timestamp
	// before are the documents that were written since, as they were.
	before []state
	// sessions are the last writes of all sessions as they were.
	sessions map[string]lastWrite
}

// state is a document at some time. It is nil if there was none.
type state struct {
	database, collection string
	id                   bson.RawValue
	document             bson.Raw
}

func (s state) isOf(other state) bool {
	return s.database == other.database && s.collection == other.collection && s.id.Equal(other.id)
}

// beginLag begins to note what writes change. endLag lets a majority have it, or undoes it.
func (s *Server) beginLag() {
	s.exclusive.Lock()
	defer s.exclusive.Unlock()
	s.lag = lag{isHeld: true, at: s.time.present(), sessions: s.sessions.all()}
}

func (s *Server) endLag(undo bool) error {
	s.exclusive.Lock()
	defer s.exclusive.Unlock()
	was := s.lag
	s.lag = lag{}
	if !undo || !was.isHeld {
		return nil
	}
	s.sessions.replace(was.sessions)
	_, err := s.restore(was.before)
	return err
}

// FailOver elects another primary, which has nothing that no majority has. Drivers lose their connections. It
// ends a hold of the majority.
func (s *Server) FailOver() error {
	elect := s.StepDown()
	defer elect()
	err := s.endLag(true)
	s.CutConnections()
	s.majority.release()
	return err
}

// note notes the documents that a write may change.
func (s *Server) note(command Command) error {
	if !s.lag.isHeld && !s.left.isHeld || !slices.Contains([]string{"insert", "update", "delete", "findAndModify"}, command.Name) {
		return nil
	}
	for _, filter := range command.filters() {
		id, err := filter.LookupErr("_id")
		if command.Name == "insert" {
			filter = document(bson.D{{Key: "_id", Value: id}})
		}
		found, findErr := s.documents(command.Database, command.Collection, filter)
		if findErr != nil {
			return findErr
		}
		for _, each := range found {
			s.keep(state{command.Database, command.Collection, each.Lookup("_id"), each})
		}
		if _, isCondition := id.DocumentOK(); err == nil && !isCondition {
			s.keep(state{command.Database, command.Collection, id, nil})
		}
	}
	return nil
}

// keep keeps a state for those who do not see what follows.
func (c *cluster) keep(is state) {
	for _, l := range []*lag{&c.lag, &c.left} {
		if l.isHeld && !slices.ContainsFunc(l.before, is.isOf) {
			l.before = append(l.before, is)
		}
	}
}

// serves reports whether a read is one of what a majority has at present.
func (l *lag) serves(command Command) bool {
	level, at := command.readConcern()
	return (level == "majority" || level == "snapshot") && !at.After(l.at)
}

// snapshotTime returns the time of the snapshot that a find reads: the one that it names, or the latest that a majority has.
// It is zero for any other command. On an idle server, time goes on by the no-op writes of the primary
// (periodicNoopIntervalSecs); here there is one before each snapshot.
func (s *Server) snapshotTime(command Command) bson.Timestamp {
	level, at := command.readConcern()
	s.exclusive.RLock()
	defer s.exclusive.RUnlock()
	switch {
	case command.Name != "find" || level != "snapshot":
		return bson.Timestamp{}
	case !at.IsZero():
		return at
	case s.isLeft.Load():
		return s.left.at
	case s.lag.isHeld:
		return s.lag.at
	}
	return s.time.tick()
}

// inSnapshot adds the time of a snapshot to a reply. See "atClusterTime" in
// https://www.mongodb.com/docs/manual/reference/read-concern-snapshot/. The reply to a find that finds nothing has none
// (SERVER-83472).
func inSnapshot(reply bson.Raw, at bson.Timestamp) bson.Raw {
	cursor, isCursor := reply.Lookup("cursor").DocumentOK()
	if found, _ := cursor.Lookup("firstBatch").ArrayOK(); at.IsZero() || !isCursor || firstField(bson.Raw(found)) == "" {
		return reply
	}
	elements, _ := reply.Elements()
	with := bson.D{}
	for _, element := range elements {
		if element.Key() == "cursor" {
			fields, _ := cursor.Elements()
			all := bson.D{}
			for _, field := range fields {
				all = append(all, bson.E{Key: field.Key(), Value: field.Value()})
			}
			with = append(with, bson.E{Key: "cursor", Value: append(all, bson.E{Key: "atClusterTime", Value: at})})
			continue
		}
		with = append(with, bson.E{Key: element.Key(), Value: element.Value()})
	}
	return document(with)
}

// waitsForMajority reports whether a read needs a majority to go on: it is linearizable, or is at a time that no
// majority has reached.
func (s *Server) waitsForMajority(command Command) bool {
	switch level, at := command.readConcern(); level {
	case "linearizable":
		return true
	case "majority", "snapshot":
		s.exclusive.RLock()
		defer s.exclusive.RUnlock()
		return s.lag.isHeld && at.After(s.lag.at) || s.isLeft.Load() && at.After(s.left.at)
	}
	return false
}

// Isolate leaves the server behind: it goes on as the primary that it believes to be, and the servers beside it are
// the new one. Its reads show what there was, and what needs a majority, so every write and each linearizable read,
// gets no answer from it. See "read concern local" in https://www.mongodb.com/docs/manual/core/read-isolation-consistency-recency/.
// What it would undo when it joins again, it does not do. rejoin makes it the same primary as those beside it; its
// drivers lose their connections. One server of a cluster is left behind at a time.
func (s *Server) Isolate() (rejoin func()) {
	s.exclusive.Lock()
	defer s.exclusive.Unlock()
	s.left = lag{isHeld: true, at: s.time.present()}
	s.isLeft.Store(true)
	return sync.OnceFunc(func() {
		elect := s.StepDown()
		defer elect()
		s.exclusive.Lock()
		s.left = lag{}
		s.isLeft.Store(false)
		s.exclusive.Unlock()
		s.CutConnections()
	})
}

// readOf reads the documents as they were before what followed.
func (s *Server) readOf(l *lag, command Command) (bson.Raw, error) {
	s.exclusive.Lock()
	defer s.exclusive.Unlock()
	newest, err := s.restore(l.before)
	if err != nil {
		return nil, err
	}
	reply, err := s.read(command)
	if _, restoreErr := s.restore(newest); restoreErr != nil {
		return nil, restoreErr
	}
	return reply, err
}

// restore stores documents as they were at some time, and returns them as they are.
func (s *Server) restore(to []state) (from []state, err error) {
	for _, each := range to {
		byID := document(bson.D{{Key: "_id", Value: each.id}})
		found, err := s.documents(each.database, each.collection, byID)
		if err != nil {
			return nil, err
		}
		from = append(from, state{each.database, each.collection, each.id, nil})
		if len(found) == 0 {
			continue
		}
		from[len(from)-1].document = found[0]
		one := bson.A{bson.D{{Key: "q", Value: byID}, {Key: "limit", Value: int32(1)}}}
		if _, err := s.run(bson.D{{Key: "delete", Value: each.collection}, {Key: "deletes", Value: one}, {Key: "$db", Value: each.database}}); err != nil {
			return nil, err
		}
	}
	for _, each := range to {
		if each.document == nil {
			continue
		}
		stored := bson.D{{Key: "insert", Value: each.collection}, {Key: "documents", Value: bson.A{each.document}}, {Key: "$db", Value: each.database}}
		if _, err := s.run(stored); err != nil {
			return nil, err
		}
	}
	return from, nil
}

// documents returns the documents that the backend has.
func (s *Server) documents(database, collection string, filter bson.Raw) ([]bson.Raw, error) {
	reply, err := s.run(bson.D{
		{Key: "find", Value: collection}, {Key: "filter", Value: filter}, {Key: "batchSize", Value: int32(maxStatements)},
		{Key: "singleBatch", Value: true}, {Key: "$db", Value: database},
	})
	return documentsOf(reply, "cursor", "firstBatch"), err
}

func (s *Server) run(command bson.D) (bson.Raw, error) {
	return s.backend.run(message{body: document(command)})
}

// FaultKind is what happens to a command.
type FaultKind int

// The faults of a command.
const (
	// Pass lets the command pass.
	Pass FaultKind = iota
	// CutBefore closes the connection instead of executing the command.
	CutBefore
	// CutAfter executes the command and closes the connection instead of replying.
	CutAfter
	// Refuse refuses the command with the code and the name of the fault.
	Refuse
)

// Fault is a fault of one command.
type Fault struct {
	Kind FaultKind
	// Code and Name are those of MongoDB's error_codes.yml.
	Code int32
	Name string
	// Hold, unless nil, holds the command back until it is closed. Then the fault happens.
	// Other commands pass.
	Hold <-chan struct{}
}

// await waits until the command may go on, or ctx ends.
func (f Fault) await(ctx context.Context) {
	if f.Hold == nil {
		return
	}
	select {
	case <-f.Hold:
	case <-ctx.Done():
	}
}

// faults decides the fault of each command.
type faults struct {
	mu     sync.Mutex
	choice func(Command) Fault
}

// SetFaults sets the function that decides the fault of each command that follows, in the
// order in which they arrive. The function is called once at a time. nil means no faults.
func (s *Server) SetFaults(choose func(Command) Fault) {
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	s.faults.choice = choose
}

func (f *faults) choose(command Command) Fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.choice == nil {
		return Fault{}
	}
	return f.choice(command)
}

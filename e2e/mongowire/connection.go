package mongowire

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/wiremessage"
)

// errCut means that a connection ends without a reply.
var errCut = errors.New("the connection is cut")

// serve answers the commands of one connection, one after the other.
func (s *Server) serve(connection net.Conn) {
	ctx, cancel := context.WithCancel(s.ctx)
	defer s.unregister(connection)
	defer connection.Close()
	defer cancel()
	messages := make(chan message)
	// A second goroutine reads, so that a waiting command ends when its driver hangs up.
	s.running.Go(func() {
		defer cancel()
		buffered := bufio.NewReader(connection)
		for {
			m, err := readMessage(buffered, maxMessage)
			if err != nil {
				return
			}
			select {
			case messages <- m:
			case <-ctx.Done():
				return
			}
		}
	})
	for {
		select {
		case m := <-messages:
			reply, err := s.answer(ctx, m)
			if err != nil {
				return
			}
			if m.flags&wiremessage.MoreToCome != 0 {
				continue // the driver wants no reply
			}
			answer := message{requestID: s.requests.Add(1), legacy: m.legacy, body: s.time.in(reply)}
			if _, err := connection.Write(answer.encode(m.requestID)); err != nil {
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

// answer returns the reply to a message, or an error if there is none.
func (s *Server) answer(ctx context.Context, m message) (bson.Raw, error) {
	command, err := commandOf(m, time.Now())
	if err != nil {
		return nil, err
	}
	switch command.Name {
	case "hello", "isMaster", "ismaster":
		return s.hello(ctx, command)
	}
	s.record.add(command)
	s.monitor.see(command)
	if command.Name == "insert" { // a server stamps it before it queues, and an update after that
		command = s.time.stamp(command)
	}
	fault := s.faults.choose(command)
	fault.await(ctx)
	switch fault.Kind {
	case CutBefore:
		return nil, errCut
	case Refuse:
		return refusal(fault.Code, fault.Name, "refused by the test"), nil
	}
	if v := s.judge(command); v != nil {
		return v.reply(), nil
	}
	if !s.standing.isPrimary() && !command.isServedBySecondaries() {
		return s.standing.refusal(command), nil
	}
	if s.isLeft.Load() && (command.class() == write || s.waitsForMajority(command)) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	steppedDown := s.standing.steppedDown()
	reply, err := s.perform(command)
	if err != nil {
		return nil, err
	}
	if fault.Kind == CutAfter {
		return nil, errCut
	}
	return s.majority.acknowledge(ctx, command, command.needsMajority(s.plays), s.waitsForMajority(command), reply, steppedDown)
}

// perform does what a command wants. An error means that the outcome is unknown.
func (s *Server) perform(command Command) (bson.Raw, error) {
	switch command.class() {
	case administration:
		switch command.Name {
		case "endSessions":
			s.sessions.end(command)
		case "replSetStepDown":
			s.stepDownFor(command)
		case "startSession":
			id := bson.D{{Key: "id", Value: bson.Binary{Subtype: bson.TypeBinaryUUID, Data: []byte(rand.Text()[:16])}}}
			return document(bson.D{{Key: "id", Value: id}, {Key: "timeoutMinutes", Value: int32(sessionTimeoutMinutes)}, {Key: "ok", Value: 1.0}}), nil
		}
		return document(bson.D{{Key: "ok", Value: 1.0}}), nil
	case read:
		at := s.snapshotTime(command)
		reply, err := s.readAsOf(command)
		return inSnapshot(reply, at), err
	}
	if s.isConcurrent {
		s.exclusive.RLock()
		defer s.exclusive.RUnlock()
	} else {
		s.exclusive.Lock()
		defer s.exclusive.Unlock()
	}
	if _, isStatements := shapes[command.Name].fields[statementsField(command.Name)]; !isStatements && command.Name != "findAndModify" {
		defer s.indexes.forget()
		defer s.cursors.interrupt(command)
	}
	switch tooOld := s.sessions.begin(command); {
	case tooOld != nil && s.role == Router && statementsField(command.Name) != "":
		var sum outcome
		sum.fail(0, tooOld) // of the shard
		return sum.reply(command.Name == "update"), nil
	case tooOld != nil:
		return tooOld.reply(), nil
	}
	return s.write(command)
}

// readAsOf reads what a majority has, or this server knows, if the command wants that.
func (s *Server) readAsOf(command Command) (bson.Raw, error) {
	s.exclusive.RLock()
	switch {
	case s.isLeft.Load() && len(s.left.before) > 0:
		s.exclusive.RUnlock()
		return s.readOf(&s.left, command)
	case len(s.lag.before) > 0 && s.lag.serves(command):
		s.exclusive.RUnlock()
		return s.readOf(&s.lag, command)
	}
	defer s.exclusive.RUnlock()
	return s.read(command)
}

func (s *Server) write(command Command) (bson.Raw, error) {
	if s.role == Router {
		if reply, err := s.route(command); reply != nil || err != nil {
			return reply, err
		}
	}
	command = s.time.stamp(command)
	if err := s.note(command); err != nil {
		return nil, err
	}
	switch command.Name {
	case "insert", "update", "delete":
		return s.execute(command)
	case "findAndModify":
		return s.findAndModify(command)
	case "createIndexes":
		return s.createIndexes(command)
	case "collMod":
		if reply := s.hide(command); reply != nil {
			return reply, nil
		}
	case "drop", "dropDatabase", "dropIndexes":
		if s.indexes.drop(command) {
			return document(bson.D{{Key: "ok", Value: 1.0}}), nil
		}
	}
	if command.Name == "drop" && s.role == Primary && s.plays == Version44 && len(s.indexesOf(command)) == 0 {
		return refuse(unknownNamespace, "ns not found").reply(), nil
	}
	reply, err := s.backend.run(command.forwarded(nil))
	if err == nil && s.role == Router && isDone(command, reply) {
		return document(bson.D{{Key: "ok", Value: 1.0}}), nil
	}
	return reply, err
}

// isDone reports whether a router answers that what was to be done is done already.
func isDone(command Command, refusal bson.Raw) bool {
	code, _ := refusal.Lookup("code").AsInt64OK()
	_, err := command.Body.LookupErr("capped")
	return command.Name == "create" && code == 48 && err != nil || command.Name == "drop" && code == unknownNamespace
}

func (s *Server) read(command Command) (bson.Raw, error) {
	if s.role == Router {
		if reply := s.shards.query(command); reply != nil {
			return reply, nil
		}
	}
	switch command.Name {
	case "getMore":
		return s.getMore(command)
	case "killCursors":
		return s.killCursors(command)
	}
	reply, err := s.backend.run(command.forwarded(nil))
	if err != nil {
		return nil, err
	}
	if strings.EqualFold(command.Name, "buildInfo") {
		reply = s.plays.inBuildInfo(reply)
	}
	if command.Name == "listIndexes" {
		if known := s.indexesOf(command); len(known) > 0 {
			reply = batchReply(command, "firstBatch", known, 0)
		}
	}
	reply = s.cursors.cut(command, reply)
	s.cursors.opens(command, reply)
	return reply, nil
}

// isSuccess reports whether the server did the command, at least in parts.
func isSuccess(reply bson.Raw) bool {
	ok, _ := reply.Lookup("ok").AsFloat64OK()
	return ok == 1
}

// refusal returns the reply to a command that failed.
func refusal(code int32, name, text string, more ...bson.E) bson.Raw {
	return document(append(bson.D{
		{Key: "ok", Value: 0.0}, {Key: "errmsg", Value: text}, {Key: "code", Value: code}, {Key: "codeName", Value: name},
	}, more...))
}

// backendTimeout bounds one command of the backend. FerretDB itself waits up to 10 s for a
// lock of SQLite.
const backendTimeout = time.Minute

// backend is the server behind the face. Each command takes an idle connection, or opens
// one. The connections stay open, because FerretDB closes a cursor together with the
// connection that opened it.
type backend struct {
	address string

	mu     sync.Mutex
	closed bool
	idle   []*backendConnection
	all    map[*backendConnection]bool
}

type backendConnection struct {
	net.Conn
	buffered *bufio.Reader
}

func newBackend(address string) *backend {
	return &backend{address: address, all: map[*backendConnection]bool{}}
}

// run sends a command and returns the reply. An error means that the outcome is unknown.
func (b *backend) run(m message) (bson.Raw, error) {
	connection, err := b.take()
	if err != nil {
		return nil, err
	}
	reply, err := connection.run(m)
	if err != nil {
		b.drop(connection)
		return nil, fmt.Errorf("backend: %w", err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.idle = append(b.idle, connection)
	return reply, nil
}

func (c *backendConnection) run(m message) (bson.Raw, error) {
	if err := c.SetDeadline(time.Now().Add(backendTimeout)); err != nil {
		return nil, err
	}
	if _, err := c.Write(m.encode(0)); err != nil {
		return nil, err
	}
	reply, err := readMessage(c.buffered, maxBackendReply)
	return reply.body, err
}

func (b *backend) take() (*backendConnection, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil, errors.New("the face is closed")
	}
	if n := len(b.idle); n > 0 {
		connection := b.idle[n-1]
		b.idle = b.idle[:n-1]
		return connection, nil
	}
	dialed, err := net.DialTimeout("tcp", b.address, backendTimeout)
	if err != nil {
		return nil, err
	}
	connection := &backendConnection{dialed, bufio.NewReader(dialed)}
	b.all[connection] = true
	return connection, nil
}

// drop closes a connection that failed, and the idle ones: if the backend was killed, they
// are gone too.
func (b *backend) drop(connection *backendConnection) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.all, connection)
	connection.Close()
}

// close ends the commands in flight.
func (b *backend) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	for connection := range b.all {
		connection.Close()
	}
}

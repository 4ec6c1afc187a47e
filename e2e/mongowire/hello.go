package mongowire

import (
	"context"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

const (
	// minWireVersion and maxWireVersion are those of MongoDB 7.0. The driver refuses a server
	// that is too old.
	minWireVersion, maxWireVersion = 0, 21
	// sessionTimeoutMinutes is how long a server keeps an unused session.
	sessionTimeoutMinutes = 30
	// maxAwait is how long a hello waits at most for a new version. A driver wants 10 s. The
	// driver of Go can miss the first description of a server (it reads the description before
	// it subscribes to changes), and then waits for the next hello.
	maxAwait      = 500 * time.Millisecond
	maxDocument   = 16 << 20
	maxStatements = 100_000
)

// standing is what the server is in its replica set, and the version of that. Each change
// has a new version, and the hello of a driver's monitor waits for it.
type standing struct {
	process bson.ObjectID

	mu        sync.Mutex
	secondary bool
	version   int64
	changed   chan struct{}
}

func newStanding() standing {
	return standing{process: bson.NewObjectID(), version: 1, changed: make(chan struct{})}
}

// StepDown makes the server a secondary until elect is called. It refuses all commands as
// NotWritablePrimary.
func (s *Server) StepDown() (elect func()) {
	s.standing.become(true)
	return sync.OnceFunc(func() { s.standing.become(false) })
}

// stepDownFor executes replSetStepDown: the server is elected again after the seconds of the command, because
// there is no other. See https://www.mongodb.com/docs/manual/reference/command/replSetStepDown/.
func (s *Server) stepDownFor(command Command) {
	seconds, _ := command.Body.Lookup(command.Name).AsInt64OK()
	elect := s.StepDown()
	s.running.Go(func() {
		pause(s.ctx, time.Duration(seconds)*time.Second)
		elect()
	})
}

func (s *standing) become(secondary bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.secondary = secondary
	s.change()
}

// change makes a new version. The caller holds the mutex.
func (s *standing) change() {
	s.version++
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *standing) isPrimary() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.secondary
}

// refusal returns the reply of a server that is not the primary. If briefly, the server
// steps down and is elected again, so that there are two new versions. A driver would take
// a refusal in the version that it knows for a late one, and would wait for a version after
// that of the refusal.
func (s *standing) refusal(command Command, briefly bool) bson.Raw {
	s.mu.Lock()
	defer s.mu.Unlock()
	if briefly {
		s.change()
	}
	more := bson.D{{Key: "topologyVersion", Value: s.topologyVersion()}}
	if briefly {
		s.change()
	}
	if _, _, retryable := command.session(); retryable {
		more = append(more, bson.E{Key: "errorLabels", Value: bson.A{"RetryableWriteError"}})
	}
	return refusal(10107, "NotWritablePrimary", "not primary", more...)
}

// topologyVersion needs the mutex.
func (s *standing) topologyVersion() bson.D {
	return bson.D{{Key: "processId", Value: s.process}, {Key: "counter", Value: s.version}}
}

// await waits until the version is another one than the driver knows, or for a time.
func (s *standing) await(ctx context.Context, command Command) {
	known, isAwaiting := command.Body.Lookup("topologyVersion", "counter").AsInt64OK()
	if !isAwaiting {
		return
	}
	s.mu.Lock()
	version, changed := s.version, s.changed
	s.mu.Unlock()
	if version != known {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, min(millis(command.Body, "maxAwaitTimeMS"), maxAwait))
	defer cancel()
	select {
	case <-changed:
	case <-ctx.Done():
	}
}

// hello answers the command by which a driver learns what a server is. A driver's first
// one is the legacy isMaster.
func (s *Server) hello(ctx context.Context, command Command) (bson.Raw, error) {
	s.standing.await(ctx, command)
	s.standing.mu.Lock()
	defer s.standing.mu.Unlock()
	isPrimary := !s.standing.secondary
	reply := bson.D{
		{Key: "helloOk", Value: true}, {Key: "ismaster", Value: isPrimary}, {Key: "isWritablePrimary", Value: isPrimary},
		{Key: "topologyVersion", Value: s.standing.topologyVersion()},
	}
	if s.role == Router {
		reply = append(reply, bson.E{Key: "msg", Value: "isdbgrid"})
	} else {
		reply = append(reply,
			bson.E{Key: "hosts", Value: bson.A{s.advertise}}, bson.E{Key: "me", Value: s.advertise},
			bson.E{Key: "setName", Value: setName}, bson.E{Key: "setVersion", Value: int32(1)},
			bson.E{Key: "secondary", Value: !isPrimary})
		if isPrimary {
			reply = append(reply, bson.E{Key: "primary", Value: s.advertise})
		}
	}
	return document(append(reply,
		bson.E{Key: "maxBsonObjectSize", Value: int32(maxDocument)},
		bson.E{Key: "maxMessageSizeBytes", Value: int32(maxMessage)},
		bson.E{Key: "maxWriteBatchSize", Value: int32(maxStatements)},
		bson.E{Key: "localTime", Value: bson.NewDateTimeFromTime(time.Now())},
		bson.E{Key: "logicalSessionTimeoutMinutes", Value: int32(sessionTimeoutMinutes)},
		bson.E{Key: "minWireVersion", Value: int32(minWireVersion)},
		bson.E{Key: "maxWireVersion", Value: int32(maxWireVersion)},
		bson.E{Key: "readOnly", Value: false}, bson.E{Key: "ok", Value: 1.0})), nil
}

package mongowire

import (
	"context"
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
// code 64, one that waited for maxTimeMS has code 50, and a read fails with code 50.
func (m *majority) acknowledge(ctx context.Context, command Command, isWaitingRead bool, reply bson.Raw) (bson.Raw, error) {
	if !isSuccess(reply) || !command.needsMajority() && !isWaitingRead {
		return reply, nil
	}
	if members, isNumber := command.Body.Lookup("writeConcern", "w").AsInt64OK(); isNumber && members > 1 {
		return withWriteConcernError(reply, 100, "UnsatisfiableWriteConcern", "there is one member"), nil
	}
	limit, wtimeout := millis(command.Body, "maxTimeMS"), time.Duration(0)
	if command.needsMajority() {
		wtimeout = millis(command.Body, "writeConcern", "wtimeout")
	}
	isWtimeout := wtimeout > 0 && (limit == 0 || wtimeout <= limit)
	if isWtimeout {
		limit = wtimeout
	}
	acknowledged, err := m.wait(ctx, limit)
	switch {
	case err != nil:
		return nil, err
	case acknowledged:
		return reply, nil
	case isWaitingRead:
		return refusal(50, "MaxTimeMSExpired", "operation exceeded time limit"), nil
	case limit > 0 && !isWtimeout:
		return withWriteConcernError(reply, 50, "MaxTimeMSExpired", "operation exceeded time limit"), nil
	}
	return withWriteConcernError(reply, 64, "WriteConcernFailed", "waiting for replication timed out"), nil
}

// wait reports whether the majority is there before the limit, if there is one.
func (m *majority) wait(ctx context.Context, limit time.Duration) (acknowledged bool, err error) {
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

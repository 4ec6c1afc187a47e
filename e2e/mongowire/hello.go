package mongowire

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

const (
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
	// stepped is closed when the server steps down.
	stepped chan struct{}
}

func newStanding() standing {
	return standing{process: bson.NewObjectID(), version: 1, changed: make(chan struct{}), stepped: make(chan struct{})}
}

// StepDown makes the server a secondary until elect is called. It refuses writes as NotWritablePrimary, and reads
// that want the primary as NotPrimaryNoSecondaryOk. What waits for a majority ends: the write is done and says that it
// was interrupted.
func (s *Server) StepDown() (elect func()) {
	s.standing.become(true)
	return sync.OnceFunc(func() { s.standing.become(false) })
}

// Elect makes the server the primary again.
func (s *Server) Elect() { s.standing.become(false) }

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
	if secondary && !s.secondary {
		close(s.stepped)
		s.stepped = make(chan struct{})
	}
	s.secondary = secondary
	s.change()
}

// steppedDown returns a channel that is closed when the server steps down.
func (s *standing) steppedDown() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stepped
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

// refusal returns the reply of a server that is not the primary.
func (s *standing) refusal(command Command) bson.Raw {
	s.mu.Lock()
	defer s.mu.Unlock()
	more := bson.D{{Key: "topologyVersion", Value: s.topologyVersion()}}
	if _, _, retryable := command.session(); retryable {
		more = append(more, bson.E{Key: "errorLabels", Value: bson.A{"RetryableWriteError"}})
	}
	if level, _ := command.readConcern(); command.class() == read && (level != "linearizable" || command.prefersPrimary()) {
		return refusal(13435, "NotPrimaryNoSecondaryOk", "not primary and secondaryOk=false", more...)
	}
	return refusal(10107, "NotWritablePrimary", "not primary", more...)
}

// prefersPrimary reports whether a read wants the primary and no other.
func (c Command) prefersPrimary() bool {
	mode, _ := c.Body.Lookup("$readPreference", "mode").StringValueOK()
	return mode == "" || mode == "primary"
}

// isServedBySecondaries reports whether a server that is not the primary executes a command.
func (c Command) isServedBySecondaries() bool {
	level, _ := c.readConcern()
	switch c.Name {
	case "ping", "buildInfo", "serverStatus", "getMore", "killCursors":
		return true
	}
	return c.class() == administration || c.class() == read && !c.prefersPrimary() && level != "linearizable"
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
	_, timeErr := command.Body.LookupErr("maxAwaitTimeMS")
	if _, err := command.Body.LookupErr("topologyVersion"); timeErr == nil && err != nil {
		code := map[Role]int32{Primary: 31368, Router: 51760}[s.role]
		return refuse(code, "A request with 'maxAwaitTimeMS' must include a 'topologyVersion'").reply(), nil
	}
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
		bson.E{Key: "minWireVersion", Value: int32(0)},
		bson.E{Key: "maxWireVersion", Value: s.plays.wire()},
		bson.E{Key: "readOnly", Value: false}, bson.E{Key: "ok", Value: 1.0})), nil
}

// everywhere is the comment with which a command says that it asks all shards on purpose.
const everywhere = "everywhere"

// maxShown bounds how many bytes of a command the monitor keeps.
const maxShown = 2000

// monitor looks for commands on sharded collections that a router would send to all shards,
// though they do not say so. A collection counts as sharded by its place if any index begins with
// _place, whether the server is a router or not, and sharded by _id if its shard key or an index
// is a hash of _id. It may become known after its first commands.
//
// The monitor is here and not in the driver, because the server sees the commands of all
// processes and of operators too, and learns what is sharded from the same commands.
type monitor struct {
	mu     sync.Mutex
	fields map[string]string // the shard key by database and collection
	// strays has the first such command of each collection, for each field that could be its
	// shard key.
	strays map[stray]string
}

type stray struct{ namespace, field string }

// shardFields are the fields that can be shard keys.
func shardFields() []string { return []string{"_place", "_id"} }

func newMonitor() monitor {
	return monitor{fields: map[string]string{}, strays: map[stray]string{}}
}

// see judges a command.
func (m *monitor) see(command Command) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch command.Name {
	case "createIndexes":
		for _, index := range documentsOf(command.Body, "indexes") {
			if first := firstField(field(index, "key")); first == "_place" || isHashed(index) {
				m.fields[command.namespace()] = first
			}
		}
	case "shardCollection":
		m.fields[command.Collection] = firstField(field(command.Body, "key"))
	}
	if comment, _ := command.Body.Lookup("comment").StringValueOK(); comment == everywhere {
		return
	}
	for _, field := range shardFields() {
		if _, isTargeted, isData := command.ShardKeys(field); !isData || isTargeted {
			continue
		}
		at := stray{command.namespace(), field}
		if m.strays[at] == "" {
			m.strays[at] = shown(command)
		}
	}
}

// shown returns the beginning of a command as text.
func shown(command Command) string {
	text := fmt.Sprint(without(command.Body, "lsid", "$clusterTime"))
	for _, statement := range command.Statements {
		if text += " " + fmt.Sprint(statement); len(text) > maxShown {
			return text[:maxShown] + " ..."
		}
	}
	return text
}

// Strays returns the first command on each sharded collection that a router would send to all
// shards and that does not say so with the comment "everywhere".
func (s *Server) Strays() (strays []string) {
	s.monitor.mu.Lock()
	defer s.monitor.mu.Unlock()
	for _, namespace := range slices.Sorted(maps.Keys(s.monitor.fields)) {
		field := s.monitor.fields[namespace]
		if text := s.monitor.strays[stray{namespace, field}]; text != "" {
			strays = append(strays, fmt.Sprintf("a command on %s, which is sharded by %s, asks all shards and does not say so: %s", namespace, field, text))
		}
	}
	return strays
}

// ShardKey returns the first field of the shard key of a collection, or "" if it is not sharded.
func (s *Server) ShardKey(namespace string) string {
	s.monitor.mu.Lock()
	defer s.monitor.mu.Unlock()
	return s.monitor.fields[namespace]
}

// Package mongowire is the face of a MongoDB server for tests: a proxy in front of FerretDB v1
// that behaves to a driver like the primary of a replica set, or like a mongos. It judges each command as a server does
// before FerretDB sees it: its fields and their types, sessions, projections, updates, documents, indexes and hints.
// It has what FerretDB lacks and a real server has: sessions with retryable writes, MongoDB's errors for
// duplicates, batches of at most 16 MiB, commands of many connections that are atomic. A mongos has shards in its
// catalog; all data is in one place.
//
// A test can record commands, refuse them, cut connections, hold back the acknowledgement of a majority, and let a failover undo what no
// majority has. The face has no transactions, no secondaries and no snapshots.
package mongowire

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// maxConnections is how many connections of drivers the face serves. It closes any other.
const maxConnections = 1000

// setName is the name of the replica set.
const setName = "rs0"

// Role is what the server is to a driver.
type Role int

// The roles of a server.
const (
	// Primary is the primary of a replica set with one member.
	Primary Role = iota
	// Router is a mongos, the router of a sharded cluster.
	Router
)

// Version is the version of MongoDB whose answers a server gives, where they differ.
type Version int

// The versions that a server plays.
const (
	// Version70 is MongoDB 7.0.
	Version70 Version = iota
	// Version44 is MongoDB 4.4, whose answers are recorded.
	Version44
)

// wire returns the version of the protocol, by which a driver refuses a server that is too old.
func (v Version) wire() int32 {
	if v == Version44 {
		return 9
	}
	return 21
}

// inBuildInfo returns the version in the reply to buildInfo.
func (v Version) inBuildInfo(reply bson.Raw) bson.Raw {
	text, numbers := "7.0.0", bson.A{int32(7), int32(0), int32(0), int32(0)}
	if v == Version44 {
		text, numbers = "4.4.0", bson.A{int32(4), int32(4), int32(0), int32(0)}
	}
	return with(reply, bson.D{{Key: "version", Value: text}, {Key: "versionArray", Value: numbers}})
}

// Config says what a server listens on and stands for.
type Config struct {
	// Backend is the address of FerretDB. It has to hold nothing that another client changes.
	Backend string
	// Listen is the address to listen on. The default is a free port on loopback.
	Listen string
	// Advertise is the address at which drivers reach the server, if a proxy is between. The
	// default is the address that it listens on.
	Advertise string
	Role      Role
	Plays     Version
	// Shards is how many shards a Router has. The default is one.
	Shards int
	// Beside, if not nil, is another Router of the same cluster. Backend and Shards are its own. The routers have
	// cursors of their own, and what a cluster keeps on its shards in common, such as the last write of a session.
	Beside *Server
	// IsConcurrent executes writes at the same time, as a server does. On FerretDB they are not atomic then. The
	// majority cannot be held.
	IsConcurrent bool
	// MaxBatch is how many bytes of documents the server sends at a time. The default is
	// that of a server, 16 MiB.
	MaxBatch int
}

// Server is the face. Its methods may be called concurrently.
type Server struct {
	*cluster
	role      Role
	plays     Version
	advertise string
	listener  net.Listener
	cursors   cursors
	record    record
	faults    faults
	standing  standing
	requests  atomic.Int32
	isLeft    atomic.Bool

	ctx     context.Context
	stop    context.CancelFunc
	running sync.WaitGroup

	mu          sync.Mutex
	connections map[net.Conn]bool
}

// cluster is what the routers of a cluster have in common. A primary has it alone.
type cluster struct {
	backend *backend
	// exclusive is held by the one write in progress, and shared by reads. FerretDB's writes
	// are not atomic beside other commands. Writes share it, too, if isConcurrent.
	exclusive    sync.RWMutex
	isConcurrent bool
	sessions     sessions
	indexes      indexes
	shards       shards
	monitor      monitor
	majority     majority
	lag          lag
	// left is what a primary that was left behind does not have.
	left lag
	time *clusterTime
	// servers counts those that are not closed.
	servers atomic.Int32
}

// Listen starts a server. It does not connect to the backend before the first command.
func Listen(config Config) (*Server, error) {
	listener, err := net.Listen("tcp", cmp.Or(config.Listen, "127.0.0.1:0"))
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	advertise := cmp.Or(config.Advertise, listener.Addr().String())
	s := &Server{
		role:        config.Role,
		plays:       config.Plays,
		advertise:   advertise,
		listener:    listener,
		cursors:     newCursors(cmp.Or(config.MaxBatch, maxDocument)),
		standing:    newStanding(),
		connections: map[net.Conn]bool{},
	}
	if config.Beside != nil {
		s.cluster = config.Beside.cluster
	} else {
		s.cluster = &cluster{
			backend: newBackend(config.Backend), isConcurrent: config.IsConcurrent,
			sessions: newSessions(),
			indexes:  newIndexes(),
			shards:   newShards(max(1, config.Shards), advertise),
			monitor:  newMonitor(),
			time:     newClusterTime(),
		}
	}
	s.servers.Add(1)
	s.ctx, s.stop = context.WithCancel(context.Background())
	s.running.Go(s.accept)
	return s, nil
}

// Address returns the address that the server listens on.
func (s *Server) Address() string { return s.listener.Addr().String() }

// URI returns the URI of a database, with the address that drivers use.
func (s *Server) URI(database string) string {
	uri := "mongodb://" + s.advertise + "/" + database
	if s.role == Primary {
		uri += "?replicaSet=" + setName
	}
	return uri
}

// Close cuts all connections and waits until nothing runs. It does not close the backend.
func (s *Server) Close() error {
	s.stop()
	err := s.listener.Close()
	s.CutConnections()
	if s.servers.Add(-1) == 0 {
		s.backend.close()
	}
	s.running.Wait()
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// CutConnections closes the connections of all drivers.
func (s *Server) CutConnections() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for connection := range s.connections {
		connection.Close()
	}
}

func (s *Server) accept() {
	for {
		connection, err := s.listener.Accept()
		if err != nil {
			return
		}
		if !s.register(connection) {
			connection.Close()
			continue
		}
		s.running.Go(func() { s.serve(connection) })
	}
}

// register reports whether the server takes a connection.
func (s *Server) register(connection net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx.Err() != nil || len(s.connections) >= maxConnections {
		return false
	}
	s.connections[connection] = true
	return true
}

func (s *Server) unregister(connection net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.connections, connection)
}

// pause waits for a time, or until ctx ends.
func pause(ctx context.Context, duration time.Duration) {
	if duration <= 0 {
		return
	}
	timer := time.NewTimer(duration)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

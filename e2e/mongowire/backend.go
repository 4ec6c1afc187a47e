package mongowire

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

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

// query runs a command that changes nothing, once more if the connection fails: an idle one is
// closed if the backend was restarted.
func (b *backend) query(m message) (bson.Raw, error) {
	reply, err := b.run(m)
	if err != nil {
		return b.run(m)
	}
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
	for _, each := range append(b.idle, connection) {
		delete(b.all, each)
		each.Close()
	}
	b.idle = nil
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

package mongo

import (
	"encoding/binary"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// peer is a server on loopback that answers each command with a given document, so that a
// test can have the words of a server that it cannot run. It keeps no documents.
type peer struct {
	t      *testing.T
	answer func(command string, body bson.Raw) bson.D
	// role is what a reply to hello says of the server's role.
	role bson.D
	// build is the reply to buildInfo.
	build bson.D

	mu   sync.Mutex
	seen []bson.Raw
}

var done = bson.D{{Key: "ok", Value: 1}}

// The roles of a peer.
var (
	ofReplicaSet = bson.D{{Key: "setName", Value: "rs"}}
	ofRouter     = bson.D{{Key: "msg", Value: "isdbgrid"}}
)

// openOn returns an engine on a peer of a replica set.
func openOn(t *testing.T, answer func(command string, body bson.Raw) bson.D) (*Engine, *peer) {
	t.Helper()
	return openWith(t, ofReplicaSet, "", answer)
}

// openWith returns an engine on a peer, with more options in the URI.
func openWith(t *testing.T, role bson.D, options string, answer func(command string, body bson.Raw) bson.D) (*Engine, *peer) {
	t.Helper()
	p := &peer{t: t, answer: answer, role: role}
	engine, err := Open(t.Context(), "mongodb://"+p.listen()+"/?directConnection=true"+options, "db")
	must(t, err)
	closeAtEnd(t, engine)
	return engine, p
}

func closeAtEnd(t *testing.T, engine *Engine) {
	t.Cleanup(func() {
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
	})
}

// listen serves until the test ends, and returns the address.
func (p *peer) listen() (address string) {
	p.t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		p.t.Fatal(err)
	}
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			serving.Go(func() { p.serve(conn) })
		}
	})
	p.t.Cleanup(func() {
		if err := listener.Close(); err != nil {
			p.t.Error(err)
		}
		serving.Wait()
	})
	return listener.Addr().String()
}

// commands returns the commands with this name that the peer has received.
func (p *peer) commands(name string) []bson.Raw {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(p.seen), func(body bson.Raw) bool { return nameOf(body) != name })
}

func nameOf(body bson.Raw) string {
	first, err := body.IndexErr(0)
	if err != nil {
		return ""
	}
	return first.Key()
}

// The opcodes that a driver uses. It greets with the old one.
const (
	opReply, opQuery, opMsg = 1, 2004, 2013
)

func (p *peer) serve(conn net.Conn) {
	defer conn.Close()
	for {
		head := make([]byte, 16)
		if _, err := io.ReadFull(conn, head); err != nil {
			return
		}
		message := make([]byte, binary.LittleEndian.Uint32(head)-16)
		if _, err := io.ReadFull(conn, message); err != nil {
			return
		}
		opcode := binary.LittleEndian.Uint32(head[12:])
		reply, err := p.reply(opcode, message)
		if err != nil {
			p.t.Error(err)
			return
		}
		out := binary.LittleEndian.AppendUint32(nil, uint32(16+len(reply)))
		out = binary.LittleEndian.AppendUint32(out, 0)
		out = append(out, head[4:8]...)
		if opcode == opQuery {
			out = binary.LittleEndian.AppendUint32(out, opReply)
		} else {
			out = binary.LittleEndian.AppendUint32(out, opMsg)
		}
		if _, err := conn.Write(append(out, reply...)); err != nil {
			return
		}
	}
}

func (p *peer) reply(opcode uint32, message []byte) ([]byte, error) {
	if opcode == opQuery {
		greeting, err := bson.Marshal(p.greeting())
		return append(append(make([]byte, 16), 1, 0, 0, 0), greeting...), err
	}
	body, err := bodyOf(message)
	if err != nil {
		return nil, err
	}
	answer := done
	switch name := nameOf(body); name {
	case "hello", "isMaster":
		answer = p.greeting()
	case "ping", "endSessions":
	case "buildInfo":
		answer = append(p.build, done...)
	default:
		p.mu.Lock()
		p.seen = append(p.seen, body)
		p.mu.Unlock()
		answer = p.answer(name, body)
	}
	document, err := bson.Marshal(answer)
	return append(make([]byte, 5), document...), err
}

// bodyOf returns the command of an OP_MSG. It appends the documents of a document sequence
// as an array.
func bodyOf(message []byte) (bson.Raw, error) {
	var body bson.D
	rest := message[4:]
	for len(rest) > 0 {
		kind, section := rest[0], rest[1:]
		size := binary.LittleEndian.Uint32(section)
		switch kind {
		case 0:
			if err := bson.Unmarshal(section[:size], &body); err != nil {
				return nil, err
			}
		case 1:
			key, documents, _ := strings.Cut(string(section[4:size]), "\x00")
			var list bson.A
			for documents != "" {
				n := binary.LittleEndian.Uint32([]byte(documents))
				list, documents = append(list, bson.Raw(documents[:n])), documents[n:]
			}
			body = append(body, bson.E{Key: key, Value: list})
		}
		rest = section[size:]
	}
	return bson.Marshal(body)
}

func (p *peer) greeting() bson.D {
	return append(append(bson.D{
		{Key: "isWritablePrimary", Value: true}, {Key: "minWireVersion", Value: 0}, {Key: "maxWireVersion", Value: 21},
		{Key: "maxBsonObjectSize", Value: 16 << 20}, {Key: "maxMessageSizeBytes", Value: 48 << 20}, {Key: "maxWriteBatchSize", Value: 100000},
		{Key: "logicalSessionTimeoutMinutes", Value: 30},
	}, p.role...), done...)
}

// firstBatch is the answer to a find or a list.
func firstBatch(documents ...bson.D) bson.D {
	list := bson.A{}
	for _, document := range documents {
		list = append(list, document)
	}
	return append(bson.D{{Key: "cursor", Value: bson.D{
		{Key: "id", Value: int64(0)}, {Key: "ns", Value: "db.users"}, {Key: "firstBatch", Value: list},
	}}}, done...)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

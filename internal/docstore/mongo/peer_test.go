package mongo

import (
	"encoding/binary"
	"errors"
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

	mu   sync.Mutex
	seen []bson.Raw
}

var done = bson.D{{Key: "ok", Value: 1}}

// openOn returns an engine on a peer.
func openOn(t *testing.T, answer func(command string, body bson.Raw) bson.D) (*Engine, *peer) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &peer{t: t, answer: answer}
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
	engine, err := Open(t.Context(), "mongodb://"+listener.Addr().String()+"/?directConnection=true", "db")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(engine.Close(), listener.Close()); err != nil {
			t.Error(err)
		}
		serving.Wait()
	})
	return engine, p
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
		greeting, err := bson.Marshal(greeting())
		return append(append(make([]byte, 16), 1, 0, 0, 0), greeting...), err
	}
	body, err := bodyOf(message)
	if err != nil {
		return nil, err
	}
	answer := done
	switch name := nameOf(body); name {
	case "hello", "isMaster":
		answer = greeting()
	case "ping", "endSessions":
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

func greeting() bson.D {
	return append(bson.D{
		{Key: "isWritablePrimary", Value: true}, {Key: "minWireVersion", Value: 0}, {Key: "maxWireVersion", Value: 21},
		{Key: "maxBsonObjectSize", Value: 16 << 20}, {Key: "maxMessageSizeBytes", Value: 48 << 20}, {Key: "maxWriteBatchSize", Value: 100000},
		{Key: "setName", Value: "rs"}, {Key: "logicalSessionTimeoutMinutes", Value: 30},
	}, done...)
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

package mongowire

//lint:file-ignore SA1019 a driver still begins a connection with an OP_QUERY, so the face reads it

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/wiremessage"
)

const (
	headerSize = 16
	// maxMessage is the size of the largest message that a server takes, in bytes. It is the
	// maxMessageSizeBytes of hello.
	maxMessage = 48_000_000
	// maxBackendReply bounds a reply of the backend, in bytes. FerretDB does not end a batch
	// at 16 MiB.
	maxBackendReply = 256 << 20
)

var errMalformed = errors.New("malformed message")

// message is one OP_MSG, or the OP_QUERY of a driver's first handshake.
type message struct {
	requestID int32
	flags     wiremessage.MsgFlag
	// legacy is true for OP_QUERY. Its reply is an OP_REPLY.
	legacy bool
	body   bson.Raw
	// sequence names the documents outside the body, if there are any.
	sequence  string
	documents []bson.Raw
	// size is the number of bytes on the wire.
	size int
}

// readMessage reads a message of at most limit bytes.
func readMessage(from io.Reader, limit int) (message, error) {
	header := make([]byte, headerSize)
	if _, err := io.ReadFull(from, header); err != nil {
		return message{}, err
	}
	length, requestID, _, code, _, ok := wiremessage.ReadHeader(header)
	if !ok || length < headerSize || int(length) > limit {
		return message{}, fmt.Errorf("%w: %d bytes", errMalformed, length)
	}
	content := make([]byte, length-headerSize)
	if _, err := io.ReadFull(from, content); err != nil {
		return message{}, err
	}
	m := message{requestID: requestID, size: int(length)}
	switch code {
	case wiremessage.OpMsg:
		ok = m.parseMsg(content)
	case wiremessage.OpQuery:
		ok = m.parseQuery(content)
	default:
		ok = false
	}
	if !ok || m.body == nil || m.body.Validate() != nil {
		return message{}, fmt.Errorf("%w: operation %d", errMalformed, code)
	}
	return m, nil
}

// parseMsg reads the sections of an OP_MSG: one body, and at most one sequence of documents.
func (m *message) parseMsg(content []byte) bool {
	flags, rest, ok := wiremessage.ReadMsgFlags(content)
	if ok && flags&wiremessage.ChecksumPresent != 0 && len(rest) >= 4 {
		rest = rest[:len(rest)-4]
	}
	m.flags = flags
	for ok && len(rest) > 0 {
		var kind wiremessage.SectionType
		if kind, rest, ok = wiremessage.ReadMsgSectionType(rest); !ok {
			return false
		}
		switch kind {
		case wiremessage.SingleDocument:
			var body bsoncore.Document
			body, rest, ok = wiremessage.ReadMsgSectionSingleDocument(rest)
			m.body = bson.Raw(body)
		case wiremessage.DocumentSequence:
			var documents []bsoncore.Document
			m.sequence, documents, rest, ok = wiremessage.ReadMsgSectionDocumentSequence(rest)
			for _, document := range documents {
				m.documents = append(m.documents, bson.Raw(document))
			}
		default:
			return false
		}
	}
	return ok
}

// parseQuery reads an OP_QUERY. Only a command is allowed, which is a query on the
// collection $cmd. The database goes into the body, as in an OP_MSG.
func (m *message) parseQuery(content []byte) bool {
	m.legacy = true
	_, rest, ok := wiremessage.ReadQueryFlags(content)
	if !ok {
		return false
	}
	collection, rest, ok := wiremessage.ReadQueryFullCollectionName(rest)
	database, isCommand := strings.CutSuffix(collection, ".$cmd")
	if !ok || !isCommand || len(rest) < 8 {
		return false
	}
	query, _, ok := wiremessage.ReadQueryQuery(rest[8:]) // behind the numbers to skip and to return
	if !ok || query.Validate() != nil {
		return false
	}
	m.body = with(bson.Raw(query), bson.D{{Key: "$db", Value: database}})
	return true
}

// encode returns the bytes of an OP_MSG, or of an OP_REPLY if the message is legacy.
func (m *message) encode(responseTo int32) []byte {
	var wire []byte
	var start int32
	if m.legacy {
		start, wire = wiremessage.AppendHeaderStart(nil, m.requestID, responseTo, wiremessage.OpReply)
		wire = wiremessage.AppendReplyFlags(wire, 0)
		wire = wiremessage.AppendReplyCursorID(wire, 0)
		wire = wiremessage.AppendReplyStartingFrom(wire, 0)
		wire = wiremessage.AppendReplyNumberReturned(wire, 1)
		wire = append(wire, m.body...)
	} else {
		start, wire = wiremessage.AppendHeaderStart(nil, m.requestID, responseTo, wiremessage.OpMsg)
		wire = wiremessage.AppendMsgFlags(wire, 0)
		wire = wiremessage.AppendMsgSectionType(wire, wiremessage.SingleDocument)
		wire = append(wire, m.body...)
		if m.sequence != "" {
			wire = wiremessage.AppendMsgSectionType(wire, wiremessage.DocumentSequence)
			at := len(wire)
			wire = append(wire, 0, 0, 0, 0)
			wire = append(append(wire, m.sequence...), 0)
			for _, document := range m.documents {
				wire = append(wire, document...)
			}
			binary.LittleEndian.PutUint32(wire[at:], uint32(len(wire)-at))
		}
	}
	binary.LittleEndian.PutUint32(wire[start:], uint32(int32(len(wire))-start))
	return wire
}

// document encodes fields. They are made by this package, so they can be encoded.
func document(fields bson.D) bson.Raw {
	if fields == nil {
		fields = bson.D{}
	}
	encoded, err := bson.Marshal(fields)
	if err != nil {
		panic(err)
	}
	return encoded
}

// with returns a document with more fields at its end, which replace those of the same names.
func with(body bson.Raw, fields bson.D) bson.Raw {
	names := make([]string, len(fields))
	for i, field := range fields {
		names[i] = field.Key
	}
	rest := without(body, names...)
	start, result := bsoncore.AppendDocumentStart(nil)
	return end(append(append(result, contents(rest)...), contents(document(fields))...), start)
}

// without returns a document without the fields of some names.
func without(body bson.Raw, names ...string) bson.Raw {
	elements, err := body.Elements()
	if err != nil {
		panic(err) // the body was validated when it was read
	}
	start, result := bsoncore.AppendDocumentStart(nil)
	for _, element := range elements {
		if !slices.Contains(names, element.Key()) {
			result = append(result, element...)
		}
	}
	return end(result, start)
}

func end(encoded []byte, start int32) bson.Raw {
	result, err := bsoncore.AppendDocumentEnd(encoded, start)
	if err != nil {
		panic(err)
	}
	return result
}

// contents returns the elements of a document, without its length and its end.
func contents(document bson.Raw) []byte {
	return document[4 : len(document)-1]
}

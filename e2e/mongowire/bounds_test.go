package mongowire

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

func TestTheRecordForgetsTheOldestCommandsAndCountsThem(t *testing.T) {
	s := &Server{record: record{counts: map[string]int{}}}
	for range 10 {
		s.record.add(Command{Name: "insert", Size: maxRecordedBytes / 4})
	}
	mark := s.Mark()
	s.record.add(Command{Name: "find", Size: 1})
	if commands, complete := s.Since(0); len(commands) != 4 || complete {
		t.Errorf("got %d commands, complete: %v", len(commands), complete)
	}
	if commands, complete := s.Since(mark); len(commands) != 1 || commands[0].Name != "find" || !complete {
		t.Errorf("got %v, complete: %v", commands, complete)
	}
	if s.Count("insert") != 10 {
		t.Errorf("got %d", s.Count("insert"))
	}
	for range maxRecorded {
		s.record.add(Command{Name: "find"})
	}
	if commands, _ := s.Since(0); len(commands) != maxRecorded {
		t.Errorf("got %d commands", len(commands))
	}
}

func retryable(session string, number int64) Command {
	return Command{Name: "insert", Body: document(bson.D{
		{Key: "insert", Value: "things"}, {Key: "lsid", Value: bson.D{{Key: "id", Value: session}}}, {Key: "txnNumber", Value: number},
	})}
}

func TestASessionKnowsItsLastWrite(t *testing.T) {
	s := newSessions()
	begin := func(c Command) *verdict { v, _ := s.begin(c); return v }
	begin(retryable("a", 5))
	s.keep(retryable("a", 5), 0, deed{n: 1, modified: 1})
	for name, c := range map[string]struct {
		command       Command
		isOld, isDone bool
	}{
		"an older write":                {retryable("a", 4), true, true},
		"the same write":                {retryable("a", 5), false, true},
		"another session":               {retryable("c", 5), false, false},
		"a write that is not retryable": {Command{Body: document(bson.D{{Key: "insert", Value: "things"}})}, false, false},
	} {
		v := begin(c.command)
		if _, isDone := s.done(c.command, 0); isDone != c.isDone || (v != nil) != c.isOld || v != nil && v.code != 225 {
			t.Errorf("%s: done %v, refused as %v", name, isDone, v)
		}
	}
	if _, isDone := s.done(retryable("a", 5), 1); isDone {
		t.Error("a statement that was not executed counts as done")
	}
	begin(retryable("a", 6))
	if _, isDone := s.done(retryable("a", 6), 0); isDone {
		t.Error("a newer write counts as done")
	}
	for n := range maxSessions {
		begin(retryable(strings.Repeat("x", n+1), 1))
	}
	if len(s.last) > maxSessions {
		t.Errorf("%d sessions are kept", len(s.last))
	}
}

// FuzzMessagesAreReadOrRefused checks that reading ends for any bytes, and that a command
// that was read is sent on as it is.
func FuzzMessagesAreReadOrRefused(f *testing.F) {
	insert := message{body: document(bson.D{{Key: "insert", Value: "c"}, {Key: "$db", Value: "d"}})}
	insert.sequence, insert.documents = "documents", []bson.Raw{document(bson.D{{Key: "_id", Value: 1}})}
	f.Add(insert.encode(0))
	f.Add([]byte("\x3a\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\xd4\x07\x00\x00\x00\x00\x00\x00admin.$cmd\x00\x00\x00\x00\x00\x01\x00\x00\x00\x13\x00\x00\x00\x10isMaster\x00\x01\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, wire []byte) {
		m, err := readMessage(bytes.NewReader(wire), maxMessage)
		if err != nil {
			return
		}
		command, err := commandOf(m, time.Time{})
		if err != nil {
			return
		}
		forwarded := command.forwarded(command.Statements)
		again, err := readMessage(bytes.NewReader(forwarded.encode(0)), maxMessage)
		if err != nil || !bytes.Equal(again.body, forwarded.body) || len(again.documents) != len(command.Statements) {
			t.Errorf("sent on as %+v, %v", again, err)
		}
	})
}

package mongowire_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/waybook/waybook/e2e/mongotest"
	"github.com/waybook/waybook/e2e/mongowire"
	"github.com/waybook/waybook/internal/waybooktest"
)

// TestAWriteThatTheBackendMayHaveExecutedIsNotExecutedAgain puts a proxy between the face and
// its backend that cuts the connection instead of sending on the reply to an update. The proxy
// also closes a connection after a ping.
func TestAWriteThatTheBackendMayHaveExecutedIsNotExecutedAgain(t *testing.T) {
	behind := mongotest.StartServer(t, mongowire.Config{})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	waybooktest.OK(t, err)
	t.Cleanup(func() { waybooktest.OK(t, listener.Close()) })
	go func() {
		for {
			front, err := listener.Accept()
			if err != nil {
				return
			}
			go losesReplies(front, behind.Address())
		}
	}()
	face, err := mongowire.Listen(mongowire.Config{Backend: listener.Addr().String()})
	waybooktest.OK(t, err)
	t.Cleanup(func() { waybooktest.OK(t, face.Close()) })
	things := connect(t, face)
	insert(t, things, id(1))
	_, err = things.UpdateOne(t.Context(), id(1), inc("n", 1))
	var unknown mongo.CommandError
	if !errors.As(err, &unknown) || unknown.Code != 11602 {
		t.Errorf("got %v", err)
	}
	if face.Count("update") != 2 || behind.Count("update") != 1 {
		t.Errorf("the driver sent %d updates, and the backend got %d", face.Count("update"), behind.Count("update"))
	}
	insert(t, things, id(2))
	wantCount(t, things, 2)
	waybooktest.OK(t, things.Database().RunCommand(t.Context(), bson.D{{Key: "ping", Value: 1}}).Err())
	waybooktest.OK(t, things.FindOne(t.Context(), id(1)).Err())
	if face.Count("find") != 1 {
		t.Error("the driver had to retry a read, because the backend had closed an idle connection")
	}
}

// losesReplies passes messages one after the other, and ends before the reply to an update and
// after that to a ping.
func losesReplies(front net.Conn, to string) {
	defer front.Close()
	back, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	defer back.Close()
	for {
		request, err := pass(front, back)
		if err != nil {
			return
		}
		if bytes.Contains(request, []byte("\x02update\x00")) {
			_, _ = pass(back, io.Discard)
			return
		}
		if _, err := pass(back, front); err != nil || bytes.Contains(request, []byte("\x10ping\x00")) {
			return
		}
	}
}

func pass(from io.Reader, to io.Writer) ([]byte, error) {
	length := make([]byte, 4)
	if _, err := io.ReadFull(from, length); err != nil {
		return nil, err
	}
	rest := make([]byte, binary.LittleEndian.Uint32(length)-4)
	if _, err := io.ReadFull(from, rest); err != nil {
		return nil, err
	}
	whole := append(length, rest...)
	_, err := to.Write(whole)
	return whole, err
}

package mongo

import (
	"errors"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/waybook/waybook/internal/docstore"
)

// A standalone server has neither linearizable reads nor a cluster time, and would fail at run time.
func TestAServerThatIsNeitherInAReplicaSetNorARouterIsRefusedAtTheStart(t *testing.T) {
	p := &peer{t: t, answer: func(string, bson.Raw) bson.D { return done }}
	engine, err := Open(t.Context(), "mongodb://"+p.listen()+"/", "db")
	if err == nil {
		closeAtEnd(t, engine)
	}
	if err == nil || !strings.Contains(err.Error(), "replica set") || errors.Is(err, docstore.ErrUnavailable) {
		t.Errorf("got %v", err)
	}
}

func TestAStartDoesNotWaitForeverForItsUser(t *testing.T) {
	p := &peer{t: t, role: ofReplicaSet, answer: func(string, bson.Raw) bson.D { return refusal(18) }}
	client, err := mongo.Connect(settings("mongodb://amy:s3cr3t@" + p.listen() + "/?directConnection=true"))
	if err != nil {
		t.Fatal(err)
	}
	e := &Engine{client: client, start: time.Now(), close: func() error { return client.Disconnect(t.Context()) }}
	closeAtEnd(t, e)
	waits := 0
	err = e.awaitServer(t.Context(), time.Hour, awaitPause, func(string, error) { waits++ })
	if !errors.Is(err, ErrUserRefused) || strings.Contains(err.Error(), "s3cr3t") || waits == 0 {
		t.Errorf("after %d waits: %v", waits, err)
	}
}

package mongo

import (
	"context"
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
	must(t, err)
	e := &Engine{client: client, start: time.Now(), close: func() error { return client.Disconnect(t.Context()) }}
	closeAtEnd(t, e)
	waits := 0
	err = e.awaitServer(t.Context(), time.Hour, awaitPause, func(string, error) { waits++ })
	if !errors.Is(err, ErrUserRefused) || strings.Contains(err.Error(), "s3cr3t") || waits == 0 {
		t.Errorf("after %d waits: %v", waits, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*awaitPause)
	defer cancel()
	err = e.awaitServer(ctx, time.Hour, time.Hour, func(string, error) {})
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), ErrUserRefused.Error()) {
		t.Errorf("a deadline does not name what was waited for: %v", err)
	}
}

func TestTheVersionOfTheServerIsAskedAtTheStart(t *testing.T) {
	for want, c := range map[string]struct {
		parts       bson.A
		isSupported bool
	}{"4.4.0": {bson.A{4, 4, 0, 0}, false}, "6.0.0-rc1": {bson.A{6, 0, 0, -49}, true}, "10.0.3": {bson.A{10, 0, 3, 0}, true}, "": {nil, false}} {
		p := &peer{t: t, role: ofReplicaSet, build: bson.D{{Key: "version", Value: want}, {Key: "versionArray", Value: c.parts}}}
		engine, err := Open(t.Context(), "mongodb://"+p.listen()+"/?directConnection=true", "db")
		must(t, err)
		closeAtEnd(t, engine)
		if got, isSupported := engine.Version(); got != want || isSupported != c.isSupported {
			t.Errorf("got %q, supported: %t, want %q, %t", got, isSupported, want, c.isSupported)
		}
	}
}

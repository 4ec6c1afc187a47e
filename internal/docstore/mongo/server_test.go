package mongo

import (
	"errors"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

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

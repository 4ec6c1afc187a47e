package versions

import (
	"context"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/waybook/waybook/e2e/mongotest"
	"github.com/waybook/waybook/e2e/mongowire"
	"github.com/waybook/waybook/internal/docstore"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

// A program of the older version has stored choices and not counted them yet. A sweep of the present version
// counts them first, and has not settled them when the older program goes on.
func TestCallsUnderWayInAnOlderProgramAreCountedOnce(t *testing.T) {
	skipWithoutOlder(t)
	const users = 3
	server := mongotest.StartServer(t, mongowire.Config{})
	uri := server.URI(mongotest.Database())
	older := start(t, programs.older, uri)
	var voters [users]int64
	for i := range voters {
		r, err := older.accounts.CreateUser(t.Context(), &accountv1.CreateUserRequest{Name: "x"})
		if err != nil {
			t.Fatal(err)
		}
		voters[i] = r.GetUser().GetUserId()
	}
	albums, recommendations := albumKind(), database(t, uri).Collection("album_recommendations")
	id, err := albums.create(t.Context(), older, voters[0], "x")
	if err != nil {
		t.Fatal(err)
	}

	haveReturned := make(chan struct{})
	keep := newKeeper(t, &hooked{openStore(t, uri), recommendations.Name(), func() { <-haveReturned }}, older.accounts)
	// The older program learns late that it has stored the choices.
	server.SetLatency(mongowire.Latency{Write: 2 * time.Second})
	var calls sync.WaitGroup
	for _, voter := range voters {
		calls.Go(func() {
			if err := albums.recommend(t.Context(), older, voter, id); err != nil {
				t.Error(err)
			}
		})
	}
	go func() {
		calls.Wait()
		close(haveReturned)
	}()
	for isOver := false; !isOver && len(find(t, recommendations, bson.D{})) < users; {
		select {
		case <-haveReturned:
			isOver = true
		default:
		}
	}
	server.SetLatency(mongowire.Latency{})
	if err := keep.sweep(t.Context()); err != nil {
		t.Error(err)
	}
	<-haveReturned
	if got, err := albums.show(t.Context(), older, id); err != nil || got.score != users {
		t.Errorf("%d users recommend the album, and its score is %d, %v", users, got.score, err)
	}
}

// hooked is a store that calls before ahead of each UpdateMany of a collection.
type hooked struct {
	docstore.Engine
	collection string
	before     func()
}

// Open opens a collection.
func (h *hooked) Open(ctx context.Context, spec docstore.Spec) (docstore.Table, error) {
	table, err := h.Engine.Open(ctx, spec)
	if err != nil || spec.Name != h.collection {
		return table, err
	}
	return &hookedTable{table, h}, nil
}

type hookedTable struct {
	docstore.Table
	hooked *hooked
}

// UpdateMany changes documents.
func (h *hookedTable) UpdateMany(ctx context.Context, changes []docstore.Change) (int64, error) {
	h.hooked.before()
	return h.Table.UpdateMany(ctx, changes)
}

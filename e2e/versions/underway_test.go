package versions

import (
	"context"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/waybook/waybook/e2e/mongotest"
	"github.com/waybook/waybook/e2e/mongowire"
	"github.com/waybook/waybook/internal/docstore/docstoretest"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

// A program of the older version has stored choices and not counted them yet. A sweep of the present version
// counts them first, and has not settled them when the older program goes on.
func TestCallsUnderWayInAnOlderProgramAreCountedOnce(t *testing.T) {
	skipWithoutOlder(t)
	const users = 3
	server := mongotest.StartUnmonitored(t, mongowire.Config{}) // the older version names no place
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
	settles := docstoretest.Call{Collection: recommendations.Name(), Method: "UpdateMany"}
	keep := newKeeper(t, &docstoretest.Hooked{Engine: openStore(t, uri), Write: func(_ context.Context, call docstoretest.Call, do func() error) error {
		if call == settles {
			<-haveReturned
		}
		return do()
	}}, older.accounts)
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

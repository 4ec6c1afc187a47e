package mongowire_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readconcern"

	"github.com/waybook/waybook/e2e/mongotest"
	"github.com/waybook/waybook/e2e/mongowire"
	"github.com/waybook/waybook/internal/waybooktest"
)

// changeEach changes thing 1, deletes 2, inserts 3 and upserts 4, of which no majority learns.
func changeEach(t *testing.T, things *mongo.Collection) {
	t.Helper()
	for _, err := range []error{
		failureOf(things.UpdateOne(t.Context(), id(1), inc("n", 1))),
		things.FindOneAndUpdate(t.Context(), id(1), inc("n", 1)).Err(),
		failureOf(things.DeleteOne(t.Context(), id(2))),
		failureOf(things.InsertOne(t.Context(), id(3))),
		failureOf(things.UpdateOne(t.Context(), id(4), inc("n", 1), options.UpdateOne().SetUpsert(true))),
		failureOf(things.UpdateMany(t.Context(), bson.D{}, inc("n", 1))),
	} {
		if err == nil {
			t.Error("a write was acknowledged without a majority")
		}
	}
}

func failureOf[T any](_ T, err error) error { return err }

func wantThings(t *testing.T, things *mongo.Collection, want ...bson.D) {
	t.Helper()
	cursor, err := things.Find(t.Context(), bson.D{}, options.Find().SetSort(id(1)))
	waybooktest.OK(t, err)
	var got []bson.D
	waybooktest.OK(t, cursor.All(t.Context(), &got))
	if asJSON(t, got) != asJSON(t, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func asJSON(t *testing.T, things []bson.D) string {
	t.Helper()
	text, err := bson.MarshalExtJSON(bson.D{{Key: "things", Value: things}}, false, false)
	waybooktest.OK(t, err)
	return string(text)
}

func TestAMajorityLagsBehindUntilTheRelease(t *testing.T) {
	server := mongotest.StartServer(t, mongowire.Config{})
	things := connect(t, server)
	ofMajority := things.Clone(options.Collection().SetReadConcern(readconcern.Majority()))
	insert(t, things, id(1), id(2))
	release := server.HoldMajority(mongowire.Failing)
	changeEach(t, things)
	newest := []bson.D{with(id(1), "n", 3), with(id(3), "n", 1), with(id(4), "n", 2)}
	wantThings(t, things, newest...)
	wantThings(t, ofMajority, id(1), id(2))
	wantThings(t, things, newest...)
	release()
	wantThings(t, ofMajority, newest...)
}

func TestAFailoverUndoesWhatNoMajorityHas(t *testing.T) {
	server := mongotest.StartServer(t, mongowire.Config{})
	things := connect(t, server)
	insert(t, things, id(1), id(2))
	server.HoldMajority(mongowire.Failing)
	changeEach(t, things)
	waybooktest.OK(t, server.FailOver())
	wantThings(t, things, id(1), id(2))
	insert(t, things, id(3))
	wantThings(t, things, id(1), id(2), id(3))
}

// The record of the write in its session is undone too, so the new primary makes it.
func TestARetryMakesAWriteAgainThatAFailoverHasUndone(t *testing.T) {
	server := mongotest.StartServer(t, mongowire.Config{})
	things := connect(t, server)
	insert(t, things, id(1))
	server.HoldMajority(mongowire.Waiting)
	done := make(chan error)
	go func() {
		_, err := things.UpdateOne(t.Context(), id(1), inc("n", 1))
		done <- err
	}()
	for things.FindOne(t.Context(), with(id(1), "n", 1)).Err() != nil { // until it is executed
	}
	waybooktest.OK(t, server.FailOver())
	waybooktest.OK(t, <-done)
	wantThings(t, things, with(id(1), "n", 1))
	if n := server.Count("update"); n != 2 {
		t.Errorf("it was sent %d times", n)
	}
}

func with(document bson.D, field string, n int) bson.D {
	return append(document, bson.E{Key: field, Value: n})
}

func TestAPrimaryThatWasLeftBehindShowsWhatThereWasAndAcknowledgesNothing(t *testing.T) {
	old := mongotest.StartServer(t, mongowire.Config{})
	next := mongotest.StartServer(t, mongowire.Config{Beside: old})
	things := connect(t, old)
	from := func(server *mongowire.Server) *mongo.Collection {
		return connect(t, server).Database().Client().Database(things.Database().Name()).Collection(things.Name())
	}
	ofNext := from(next)
	insert(t, things, id(1), id(2))
	rejoin := old.Isolate()
	for _, err := range []error{
		failureOf(ofNext.UpdateOne(t.Context(), id(1), inc("n", 1))),
		failureOf(ofNext.DeleteOne(t.Context(), id(2))),
		failureOf(ofNext.InsertOne(t.Context(), id(3))),
	} {
		waybooktest.OK(t, err)
	}
	newest := []bson.D{with(id(1), "n", 1), id(3)}
	wantThings(t, ofNext, newest...)
	wantThings(t, things, id(1), id(2))
	wantThings(t, things.Clone(options.Collection().SetReadConcern(readconcern.Majority())), id(1), id(2))
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	linearizable := options.Collection().SetReadConcern(readconcern.Linearizable())
	if err := things.Clone(linearizable).FindOne(ctx, id(1)).Err(); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a linearizable read: got %v", err)
	}
	if _, err := things.InsertOne(ctx, id(4)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a write: got %v", err)
	}
	rejoin()
	// The calls that were given up end with their connections, and the driver then clears the pool of things.
	again := from(old)
	wantThings(t, again, newest...)
	waybooktest.OK(t, again.Clone(linearizable).FindOne(t.Context(), id(1)).Err())
}

package mongowire_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.uber.org/goleak"

	"github.com/waybook/waybook/e2e/mongotest"
	"github.com/waybook/waybook/e2e/mongowire"
	"github.com/waybook/waybook/internal/waybooktest"
)

// connect returns a collection of a new database of a server, by the real driver.
func connect(t *testing.T, server *mongowire.Server, more ...*options.ClientOptions) *mongo.Collection {
	t.Helper()
	all := append([]*options.ClientOptions{options.Client().ApplyURI(server.URI(""))}, more...)
	client, err := mongo.Connect(all...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.Disconnect(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return client.Database(mongotest.Database()).Collection("things")
}

func insert(t *testing.T, things *mongo.Collection, documents ...any) {
	t.Helper()
	_, err := things.InsertMany(t.Context(), documents)
	waybooktest.OK(t, err)
}

func wantCount(t *testing.T, things *mongo.Collection, want int64) {
	t.Helper()
	n, err := things.CountDocuments(t.Context(), bson.D{})
	waybooktest.OK(t, err)
	if n != want {
		t.Errorf("got %d documents, want %d", n, want)
	}
}

// awaitArrivals waits until the server has got n commands of a name. Other goroutines send
// them. Each round waits for the reply to a ping.
func awaitArrivals(t *testing.T, server *mongowire.Server, things *mongo.Collection, name string, n int) {
	t.Helper()
	for server.Count(name) < n {
		waybooktest.OK(t, things.Database().RunCommand(t.Context(), bson.D{{Key: "ping", Value: 1}}).Err())
	}
}

func id(n int) bson.D { return bson.D{{Key: "_id", Value: n}} }

func set(field string, value any) bson.D {
	return bson.D{{Key: "$set", Value: bson.D{{Key: field, Value: value}}}}
}

func inc(field string, by any) bson.D {
	return bson.D{{Key: "$inc", Value: bson.D{{Key: field, Value: by}}}}
}

// once returns a choice of faults that picks the first command of a name.
func once(name string, fault mongowire.Fault) func(mongowire.Command) mongowire.Fault {
	done := false
	return func(command mongowire.Command) mongowire.Fault {
		if done || command.Name != name {
			return mongowire.Fault{}
		}
		done = true
		return fault
	}
}

func TestADriverTakesTheServerForThePrimaryOfAReplicaSet(t *testing.T) {
	server := mongotest.StartServer(t, mongowire.Config{})
	things := connect(t, server)
	insert(t, things, id(1))
	commands, complete := server.Since(0)
	if !complete || len(commands) != 1 {
		t.Fatalf("got %d commands, complete: %v", len(commands), complete)
	}
	insert := commands[0]
	if insert.Name != "insert" || insert.Collection != "things" || insert.Database != things.Database().Name() ||
		len(insert.Statements) != 1 || insert.Size < 50 || insert.At.IsZero() {
		t.Errorf("got %+v", insert)
	}
	for _, field := range []string{"lsid", "txnNumber"} {
		if _, err := insert.Body.LookupErr(field); err != nil {
			t.Errorf("the driver sent no %s: it does not retry writes", field)
		}
	}
}

func TestADriverTakesTheServerForARouter(t *testing.T) {
	server := mongotest.StartServer(t, mongowire.Config{Role: mongowire.Router})
	things := connect(t, server)
	var hello bson.M
	waybooktest.OK(t, things.Database().RunCommand(t.Context(), bson.D{{Key: "hello", Value: 1}}).Decode(&hello))
	if hello["msg"] != "isdbgrid" || hello["setName"] != nil {
		t.Errorf("got %v", hello)
	}
	insert(t, things, id(1))
	wantCount(t, things, 1)
}

// Each of many connections increments one document. An update of FerretDB is a read and a
// write, so increments would be lost if two ran at once.
func TestCommandsOfManyConnectionsAreAtomic(t *testing.T) {
	const writers, each = 16, 20
	server := mongotest.StartServer(t, mongowire.Config{})
	things := connect(t, server)
	insert(t, things, id(1))
	arrived := sync.WaitGroup{}
	arrived.Add(writers)
	first := map[string]bool{}
	server.SetFaults(func(command mongowire.Command) mongowire.Fault {
		if session := command.Body.Lookup("lsid").String(); command.Name == "update" && !first[session] {
			first[session] = true
			arrived.Done()
		}
		return mongowire.Fault{}
	})
	// No write is acknowledged before all writers have sent one, so all have a connection.
	release := server.HoldMajority(mongowire.Waiting)
	running := sync.WaitGroup{}
	for range writers {
		running.Go(func() {
			for range each {
				if _, err := things.UpdateOne(t.Context(), id(1), inc("n", 1)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	arrived.Wait()
	release()
	running.Wait()
	var got struct{ N int }
	waybooktest.OK(t, things.FindOne(t.Context(), id(1)).Decode(&got))
	if got.N != writers*each {
		t.Errorf("got %d, want %d", got.N, writers*each)
	}
}

func TestCloseEndsAllGoroutines(t *testing.T) {
	before := goleak.IgnoreCurrent()
	t.Run("server", func(t *testing.T) {
		server := mongotest.StartServer(t, mongowire.Config{})
		things := connect(t, server, options.Client().SetServerSelectionTimeout(20*time.Millisecond))
		server.HoldMajority(mongowire.Waiting)
		done := make(chan error)
		go func() {
			_, err := things.InsertOne(t.Context(), id(1))
			done <- err
		}()
		awaitArrivals(t, server, things, "insert", 1)
		waybooktest.OK(t, server.Close())
		if err := <-done; err == nil {
			t.Error("a write was acknowledged without a majority")
		}
	})
	if err := goleak.Find(before); err != nil {
		t.Error(err)
	}
}

func TestADriverThatHangsUpEndsItsCommand(t *testing.T) {
	server := mongotest.StartServer(t, mongowire.Config{})
	things := connect(t, server)
	defer server.HoldMajority(mongowire.Waiting)()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		_, err := things.InsertOne(ctx, id(1))
		done <- err
	}()
	awaitArrivals(t, server, things, "insert", 1)
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

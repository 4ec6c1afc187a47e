package mongowire_test

import (
	"strings"
	"sync/atomic"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/waybook/waybook/e2e/mongotest"
	"github.com/waybook/waybook/e2e/mongowire"
	"github.com/waybook/waybook/internal/waybooktest"
)

func startTwoRouters(t *testing.T) (first, second *mongowire.Server) {
	first = mongotest.StartServer(t, mongowire.Config{Role: mongowire.Router})
	return first, mongotest.StartServer(t, mongowire.Config{Role: mongowire.Router, Beside: first})
}

func TestACursorIsKnownToTheRouterThatOpenedIt(t *testing.T) {
	first, second := startTwoRouters(t)
	things := connect(t, first)
	insert(t, things, id(1), id(2), id(3))
	other := connect(t, second).Database().Client().Database(things.Database().Name())
	reply, err := things.Database().RunCommand(t.Context(), bson.D{{Key: "find", Value: "things"}, {Key: "batchSize", Value: 1}}).Raw()
	waybooktest.OK(t, err)
	cursor := reply.Lookup("cursor", "id").Int64()
	more := bson.D{{Key: "getMore", Value: cursor}, {Key: "collection", Value: "things"}, {Key: "batchSize", Value: 1}}
	wantCode(t, "a getMore at another router", other.RunCommand(t.Context(), more).Err(), 43, "not found")
	waybooktest.OK(t, things.Database().RunCommand(t.Context(), more).Err())
	kill := bson.D{{Key: "killCursors", Value: "things"}, {Key: "cursors", Value: bson.A{cursor}}}
	reply, err = other.RunCommand(t.Context(), kill).Raw()
	waybooktest.OK(t, err)
	if ids, err := reply.Lookup("cursorsNotFound").Array().Values(); err != nil || len(ids) != 1 || second.CursorsNotFound() != 1 {
		t.Errorf("another router killed it: %v", reply)
	}
	waybooktest.OK(t, things.Database().RunCommand(t.Context(), more).Err())
	waybooktest.OK(t, things.Database().RunCommand(t.Context(), kill).Err())
	wantCode(t, "a getMore after the end", things.Database().RunCommand(t.Context(), more).Err(), 43, "not found")
	if n := first.CursorsNotFound(); n != 0 {
		t.Errorf("its router did not find %d cursors", n)
	}
}

// A driver retries through another router than the one that failed. The shards know the write.
func TestAWriteThatIsRetriedThroughAnotherRouterIsAppliedOnce(t *testing.T) {
	first, second := startTwoRouters(t)
	uri := strings.Replace(first.URI(""), first.Address(), first.Address()+","+second.Address(), 1)
	things := connect(t, first, options.Client().ApplyURI(uri))
	insert(t, things, id(1))
	for min(first.Count("find"), second.Count("find")) == 0 { // until the driver knows both
		waybooktest.OK(t, things.FindOne(t.Context(), id(1)).Err())
	}
	var isCut atomic.Bool
	for _, router := range []*mongowire.Server{first, second} {
		router.SetFaults(func(command mongowire.Command) mongowire.Fault {
			if command.Name == "update" && isCut.CompareAndSwap(false, true) {
				return mongowire.Fault{Kind: mongowire.CutAfter}
			}
			return mongowire.Fault{}
		})
	}
	_, err := things.UpdateOne(t.Context(), id(1), inc("n", 1))
	waybooktest.OK(t, err)
	if first.Count("update") != 1 || second.Count("update") != 1 {
		t.Errorf("the routers got it %d and %d times", first.Count("update"), second.Count("update"))
	}
	wantThings(t, things, with(id(1), "n", 1))
}

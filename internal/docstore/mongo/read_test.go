package mongo

import (
	"math"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/waybook/waybook/internal/docstore"
)

// A read that names none has the default of the cluster, which an administrator may set to "available" or
// "majority".
func TestEachReadNamesItsReadConcern(t *testing.T) {
	engine, peer := openOn(t, (&catalog{indexes: make(map[string]bson.D)}).answer)
	table, err := engine.Open(t.Context(), usersTable().spec)
	must(t, err)
	all := docstore.All(docstore.IDIndex).Everywhere()
	if _, _, err := table.Scan(t.Context(), docstore.Scan{Where: all, Limit: 1}); err != nil {
		t.Fatal(err)
	}
	if _, err := table.Count(t.Context(), all); err != nil {
		t.Fatal(err)
	}
	reads := append(peer.commands("find"), peer.commands("aggregate")...)
	for _, read := range reads {
		if level, _ := read.Lookup("readConcern", "level").StringValueOK(); level != "local" {
			t.Errorf("read concern %q of %s", level, read)
		}
	}
	if len(reads) < 3 {
		t.Errorf("only %d reads", len(reads))
	}
}

// The routers of a cluster do not know each other's cursors.
func TestACursorIsClosedOnTheRouterThatOpenedIt(t *testing.T) {
	const cursors, maxFinds = 5, 10_000 // the driver learns of the second router during the first finds
	var hosts string
	var routers []*peer
	for range 2 {
		router := &peer{t: t, role: ofRouter, answer: func(command string, _ bson.Raw) bson.D {
			if command != "find" {
				return done
			}
			reply := firstBatch(userDocument(1, "a", "b"))
			reply[0].Value.(bson.D)[0].Value = int64(math.MaxInt64)
			return reply
		}}
		hosts += "," + router.listen()
		routers = append(routers, router)
	}
	engine, err := Open(t.Context(), "mongodb://"+hosts[1:]+"/", "db")
	must(t, err)
	closeAtEnd(t, engine)
	table := newTable(engine, usersTable().spec)
	for range maxFinds {
		found, more, err := table.find(t.Context(), query{filter: bson.D{}, limit: 2})
		if err != nil || !more || len(found) != 1 {
			t.Fatalf("got %v, %v, %v", found, more, err)
		}
		if min(len(routers[0].commands("find")), len(routers[1].commands("find"))) >= cursors {
			break
		}
	}
	for i, router := range routers {
		if opened, closed := len(router.commands("find")), len(router.commands("killCursors")); opened != closed || opened < cursors {
			t.Errorf("router %d opened %d cursors and closed %d", i, opened, closed)
		}
	}
}

package mongo

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/waybook/waybook/internal/docstore"
)

// The filter of a backfill names ids and the missing field. By the index of the field, a server could read
// all documents that lack it, for each batch.
func TestABackfillFindsItsDocumentsByTheirIDs(t *testing.T) {
	spec := usersTable().spec
	spec.Defaults = map[string]docstore.Value{"name": docstore.ValueOf("")}
	engine, peer := openOn(t, func(command string, _ bson.Raw) bson.D {
		if command == "find" {
			return firstBatch(bson.D{{Key: "_id", Value: int64(1)}})
		}
		return append(bson.D{{Key: "n", Value: 1}, {Key: "nModified", Value: 1}}, done...)
	})
	if n, err := newTable(engine, spec).backfill(t.Context()); err != nil || n != 1 {
		t.Fatalf("got %d, %v", n, err)
	}
	updates := peer.commands("update")
	if len(updates) != 1 {
		t.Fatalf("got %v", updates)
	}
	if hint := updates[0].Lookup("updates", "0", "hint").String(); hint != `{"_id": {"$numberInt":"1"}}` {
		t.Errorf("hint %s of %s", hint, updates[0])
	}
}

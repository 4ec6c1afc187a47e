package mongowire_test

import (
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/waybook/waybook/e2e/mongotest"
	"github.com/waybook/waybook/e2e/mongowire"
	"github.com/waybook/waybook/internal/waybooktest"
)

// The first batch ends at 16 KiB, so the face itself has the other documents.
func TestABatchHasABoundedSizeAndOneThatIsFilledExactlyLeavesTheCursorOpen(t *testing.T) {
	server := mongotest.StartServer(t, mongowire.Config{MaxBatch: 16 << 10})
	client, err := mongo.Connect(options.Client().ApplyURI(server.URI("")))
	waybooktest.OK(t, err)
	defer func() { waybooktest.OK(t, client.Disconnect(t.Context())) }()
	database := client.Database(mongotest.Database())
	for i := range 3 {
		_, err := database.Collection("things").InsertOne(t.Context(), bson.D{{Key: "_id", Value: i}, {Key: "text", Value: strings.Repeat("x", 10_000)}})
		waybooktest.OK(t, err)
	}
	batch := func(command bson.D, field string) (n int, cursor int64) {
		t.Helper()
		reply, err := database.RunCommand(t.Context(), command).Raw()
		waybooktest.OK(t, err)
		documents, err := reply.Lookup("cursor", field).Array().Values()
		waybooktest.OK(t, err)
		return len(documents), reply.Lookup("cursor", "id").Int64()
	}
	first, cursor := batch(bson.D{{Key: "find", Value: "things"}}, "firstBatch")
	more := bson.D{{Key: "getMore", Value: cursor}, {Key: "collection", Value: "things"}, {Key: "batchSize", Value: 1}}
	for _, want := range []int{1, 1, 0} {
		n, next := batch(more, "nextBatch")
		if first != 1 || n != want || next != cursor && want > 0 || next != 0 && want == 0 {
			t.Errorf("after %d documents, got %d and the cursor %d, want %d", first, n, next, want)
		}
	}
}

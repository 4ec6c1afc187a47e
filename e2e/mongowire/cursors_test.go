package mongowire_test

import (
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/waybook/waybook/e2e/mongotest"
	"github.com/waybook/waybook/e2e/mongowire"
	"github.com/waybook/waybook/internal/waybooktest"
)

func TestABatchThatIsFilledExactlyLeavesTheCursorOpen(t *testing.T) {
	server := mongotest.StartServer(t, mongowire.Config{})
	things := connect(t, server)
	insert(t, things, id(1), id(2), id(3))
	for name, c := range map[string]struct {
		find     *options.FindOptionsBuilder
		n, mores int
	}{
		"the limit is the batch":        {options.Find().SetLimit(2).SetBatchSize(2), 2, 1},
		"the documents are the batch":   {options.Find().SetBatchSize(3), 3, 1},
		"the limit is below the batch":  {options.Find().SetLimit(2).SetBatchSize(3), 2, 0},
		"the batch has room":            {options.Find().SetBatchSize(4), 3, 0},
		"two batches":                   {options.Find().SetBatchSize(2), 3, 1},
		"the first batch is the server": {options.Find(), 3, 0},
	} {
		before := server.Count("getMore")
		cursor, err := things.Find(t.Context(), bson.D{}, c.find)
		waybooktest.OK(t, err)
		var got []bson.M
		waybooktest.OK(t, cursor.All(t.Context(), &got))
		if mores := server.Count("getMore") - before; len(got) != c.n || mores != c.mores {
			t.Errorf("%s: got %d documents and %d getMores, want %d and %d", name, len(got), mores, c.n, c.mores)
		}
	}
	before := server.Count("getMore") + server.Count("killCursors")
	waybooktest.OK(t, things.FindOne(t.Context(), bson.D{}).Err())
	if server.Count("getMore")+server.Count("killCursors") != before {
		t.Error("FindOne left a cursor")
	}
}

func TestABatchHasABoundedSize(t *testing.T) {
	server := mongotest.StartServer(t, mongowire.Config{MaxBatch: 16 << 10})
	things := connect(t, server)
	const n = 25
	text := strings.Repeat("x", 1000)
	for i := range n {
		insert(t, things, append(id(i), bson.E{Key: "text", Value: text}))
	}
	for name, c := range map[string]struct {
		find     *options.FindOptionsBuilder
		n, mores int
	}{
		"all at once":   {options.Find(), n, 1},
		"exactly":       {options.Find().SetBatchSize(n), n, 1},
		"with a limit":  {options.Find().SetLimit(20).SetBatchSize(21), 20, 1},
		"small batches": {options.Find().SetBatchSize(10), n, 2},
	} {
		mark := server.Mark()
		cursor, err := things.Find(t.Context(), bson.D{}, c.find.SetSort(bson.D{{Key: "_id", Value: 1}}))
		waybooktest.OK(t, err)
		var got []struct {
			ID int `bson:"_id"`
		}
		waybooktest.OK(t, cursor.All(t.Context(), &got))
		for i, each := range got {
			if each.ID != i {
				t.Fatalf("%s: document %d is %d", name, i, each.ID)
			}
		}
		commands, _ := server.Since(mark)
		if len(got) != c.n || len(commands) != 1+c.mores {
			t.Errorf("%s: got %d documents by %d commands", name, len(got), len(commands))
		}
	}
	cursor, err := things.Find(t.Context(), bson.D{})
	waybooktest.OK(t, err)
	waybooktest.OK(t, cursor.Close(t.Context()))
	if n := server.Count("killCursors"); n != 1 {
		t.Errorf("closing an open cursor sent %d killCursors", n)
	}
}

// The first batch ends at 16 KiB, so the face itself has the other documents.
func TestTheLastBatchThatIsFilledExactlyLeavesTheCursorOpen(t *testing.T) {
	server := mongotest.StartServer(t, mongowire.Config{MaxBatch: 16 << 10})
	things := connect(t, server)
	text := strings.Repeat("x", 10_000)
	for i := range 3 {
		insert(t, things, append(id(i), bson.E{Key: "text", Value: text}))
	}
	batch := func(command bson.D, field string) (n int, cursor int64) {
		t.Helper()
		reply, err := things.Database().RunCommand(t.Context(), command).Raw()
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

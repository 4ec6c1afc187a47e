package mongo

import (
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/waybook/waybook/internal/docstore"
)

// A write that was stamped before a settled time ends after it. A server that has reached the settled time
// alone need not have the write.
func TestAFeedIsReadAtATimeThatIsASettlingTimeAfterTheSettledOne(t *testing.T) {
	const settling = 100 * time.Millisecond
	spec := followedSpec()
	spec.Feed.Settling = settling
	began := time.Now()
	var ticks atomic.Uint32
	stored := &catalog{indexes: make(map[string]bson.D)}
	engine, peer := openOn(t, func(command string, body bson.Raw) bson.D {
		if command == "findAndModify" {
			now := bson.Timestamp{T: uint32(time.Since(began).Milliseconds()), I: ticks.Add(1)} // #nosec G115 -- a test takes no 49 days
			return append(bson.D{{Key: "value", Value: bson.D{{Key: "_id", Value: "albums"}, {Key: "now", Value: now}}}}, done...)
		}
		return stored.answer(command, body)
	})
	table, err := engine.Open(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := table.Feed(t.Context(), docstore.FeedScan{Limit: 10}); err != nil {
			t.Fatal(err)
		}
	}
	reads := 0
	for _, find := range peer.commands("find") {
		settled, _, isRead := find.Lookup("filter", docstore.ChangedField, "$lte").TimestampOK()
		at, _, _ := find.Lookup("readConcern", "afterClusterTime").TimestampOK()
		if !isRead {
			continue
		}
		if reads++; time.Duration(at-settled)*time.Millisecond < settling-2*time.Millisecond {
			t.Errorf("changes up to %d ms are read at %d ms", settled, at)
		}
	}
	if reads == 0 {
		t.Error("no command reads changes")
	}
}

package mongo

import (
	"errors"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/waybook/waybook/internal/docstore"
)

func followedSpec() docstore.Spec {
	spec := placedSpec()
	spec.Tombstones, spec.Feed = true, &docstore.Feed{}
	return spec
}

func TestDocumentsWithoutAStampAreCountedAndStamped(t *testing.T) {
	engine, peer := openOn(t, func(command string, _ bson.Raw) bson.D {
		if command == "aggregate" {
			return firstBatch(bson.D{{Key: "n", Value: 3}})
		}
		return append(bson.D{{Key: "n", Value: 3}, {Key: "nModified", Value: 3}}, done...)
	})
	for what, of := range map[string]func(docstore.Spec) (int64, error){
		"counted": func(spec docstore.Spec) (int64, error) { return engine.Unstamped(t.Context(), spec) },
		"stamped": func(spec docstore.Spec) (int64, error) { return engine.Stamp(t.Context(), spec) },
	} {
		if n, err := of(followedSpec()); n != 3 || err != nil {
			t.Errorf("%d %s, %v", n, what, err)
		}
		if n, err := of(placedSpec()); n != 0 || err != nil {
			t.Errorf("without a feed: %d %s, %v", n, what, err)
		}
	}
	want := `{"_changed": {"$in": [null,{"$timestamp":{"t":0,"i":0}}]}}`
	if sent := peer.commands("aggregate"); len(sent) != 1 || sent[0].Lookup("pipeline", "0", "$match").String() != want {
		t.Errorf("got %v", sent)
	}
	sent := peer.commands("update")
	if len(sent) != 1 || sent[0].Lookup("updates", "0", "q").String() != want {
		t.Fatalf("got %v", sent)
	}
	if update := sent[0].Lookup("updates", "0", "u").String(); update != `{"$currentDate": {"_changed": {"$type": "timestamp"}}}` {
		t.Errorf("the update is %s", update)
	}
}

// A server that ignores $currentDate would leave documents without a time, which no follower is shown.
func TestACollectionWithAFeedIsNotOpenedOnAServerThatDoesNotStamp(t *testing.T) {
	for name, c := range map[string]struct {
		spec    docstore.Spec
		stamp   bson.Timestamp
		refused bool
	}{
		"no stamp":         {followedSpec(), bson.Timestamp{}, true},
		"a stamp":          {followedSpec(), bson.Timestamp{T: 1, I: 1}, false},
		"no feed, no need": {placedSpec(), bson.Timestamp{}, false},
	} {
		stored := &catalog{indexes: make(map[string]bson.D)}
		engine, _ := openOn(t, func(command string, body bson.Raw) bson.D {
			if command == "findAndModify" {
				return append(bson.D{{Key: "value", Value: bson.D{{Key: "_id", Value: "albums"}, {Key: "now", Value: c.stamp}}}}, done...)
			}
			return stored.answer(command, body)
		})
		_, err := engine.Open(t.Context(), c.spec)
		if refused := err != nil && strings.Contains(err.Error(), "does not stamp"); refused != c.refused || errors.Is(err, docstore.ErrUnavailable) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

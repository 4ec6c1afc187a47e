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

package poi

import (
	"time"

	"github.com/waybook/waybook/internal/content/changes"
	"github.com/waybook/waybook/internal/content/nearby"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/id"
	"github.com/waybook/waybook/internal/platform/service"
)

// poi is the stored form of a landmark.
type poi struct {
	ID      int64 `bson:"_id"`
	OwnerID int64 `bson:"owner_id"`
	// RequestKey is the result of docstore.OwnedKey.
	RequestKey string  `bson:"request_key"`
	Name       string  `bson:"name"`
	Category   int64   `bson:"category"`
	Lat        float64 `bson:"lat"`
	Lng        float64 `bson:"lng"`
	// Cell is the cell of the location; see nearby.CellOf.
	Cell       int64     `bson:"cell"`
	CreateTime time.Time `bson:"create_time"`
	UpdateTime time.Time `bson:"update_time"`
	// ContentRevision is part of the etag; see owned.ContentRevision.
	ContentRevision int64 `bson:"content_revision,omitempty"`
	Score           int64 `bson:"score"`
	// ScoreRound is the round of Score; see package choices.
	ScoreRound int64 `bson:"score_round"`
	// LatestPhoto and LatestComment are the highest ids of one so far; see child.Set.
	LatestPhoto   int64 `bson:"photo_latest"`
	LatestComment int64 `bson:"comment_latest"`
	// MovedScore is the score that an old service showed. NamedScore is how many of its recommendations were moved in with
	// their users.
	MovedScore int64 `bson:"moved_score,omitempty"`
	NamedScore int64 `bson:"named_score,omitempty"`
}

// shownScore returns the score as replies show it: also with the recommendations in the old score that nobody moved in.
func (p *poi) shownScore() int64 { return p.Score + max(0, p.MovedScore-p.NamedScore) }

// byCategory orders a category's landmarks by creation.
func byCategory() docstore.Index1[int64] {
	return docstore.Index1[int64]{Name: "category", A: "category"}
}

// onMap is the index for SearchNearby and lists in a box.
func onMap() nearby.Index { return nearby.Index{Category: "category"} }

// byRequest finds the landmark that a request or an import created, in the place of its owner and
// key. Lists of one owner read the landmarks in its order.
func byRequest() docstore.Index1[string] {
	return docstore.Index1[string]{Name: docstore.RequestIndex, A: "request_key", Unique: true, Walked: true}
}

func poisSpec(settings service.Changes) docstore.Spec {
	return docstore.Spec{
		Name: "pois", ID: docstore.Int64, Sharding: docstore.ByPlace, Scheme: id.Scheme{}, Tombstones: true,
		Feed:    changes.Of(settings),
		Indexes: []docstore.Index{byCategory().Declare(), onMap().Declare(), byRequest().Declare()},
	}
}

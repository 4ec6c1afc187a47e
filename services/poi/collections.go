package poi

import (
	"time"

	"github.com/waybook/waybook/internal/content/changes"
	"github.com/waybook/waybook/internal/content/fields"
	"github.com/waybook/waybook/internal/content/nearby"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/id"
	"github.com/waybook/waybook/internal/platform/service"
	moveinv1 "github.com/waybook/waybook/proto/gen/waybook/movein/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
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
	// MovedScore is the score that an old service showed. NamedScore is how many of its
	// recommendations were moved in with their users.
	MovedScore int64 `bson:"moved_score,omitempty"`
	NamedScore int64 `bson:"named_score,omitempty"`
}

// messages are those with the fields of a landmark.
type messages = fields.Messages[poiv1.Poi, poiv1.CreatePoiRequest, poiv1.UpdatePoiRequest, moveinv1.Landmark]

// poiFields are the fields that its owner gives a landmark. Requests and records have their
// limits.
var poiFields = fields.New(func(c fields.Copy, p *poi, m messages) {
	fields.Value(c, "name", &p.Name, &m.Shown.Name, &m.Create.Name, m.Update.Name, &m.Record.Name)
	fields.Number(c, "category", &p.Category, &m.Shown.Category, &m.Create.Category, m.Update.Category,
		&m.Record.Category)
	fields.Location(c, &p.Lat, &p.Lng, &p.Cell, &m.Shown.Location, m.Create.Location, m.Update.Location, &m.Record.Lat,
		&m.Record.Lng)
})

// requestOf returns the request that creates a landmark as an item of an import describes it.
func requestOf(item *poiv1.ImportedPoi) *poiv1.CreatePoiRequest {
	return &poiv1.CreatePoiRequest{Name: item.GetName(), Category: item.GetCategory(), Location: item.GetLocation()}
}

// shownScore returns the score of replies: also with the recommendations of the old service that
// have no name here.
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

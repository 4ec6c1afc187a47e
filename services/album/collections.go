package album

import (
	"cmp"
	"time"

	"github.com/waybook/waybook/internal/content/changes"
	"github.com/waybook/waybook/internal/content/fields"
	"github.com/waybook/waybook/internal/content/nearby"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/id"
	"github.com/waybook/waybook/internal/platform/service"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	moveinv1 "github.com/waybook/waybook/proto/gen/waybook/movein/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// album is the stored form of an album.
type album struct {
	ID      int64 `bson:"_id"`
	OwnerID int64 `bson:"owner_id"`
	// RequestKey is the result of docstore.OwnedKey.
	RequestKey string  `bson:"request_key"`
	Title      string  `bson:"title"`
	Category   int32   `bson:"category"`
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

// messages are those with the fields of an album.
type messages = fields.Messages[albumv1.Album, albumv1.CreateAlbumRequest, albumv1.UpdateAlbumRequest, moveinv1.Album]

// albumFields are the fields that its owner gives an album. Requests and records have their
// limits.
var albumFields = fields.New(func(c fields.Copy, a *album, m messages) {
	fields.Value(c, "title", &a.Title, &m.Shown.Title, &m.Create.Title, m.Update.Title, &m.Record.Title)
	fields.Number(c, "category", &a.Category, &m.Shown.Category, &m.Create.Category, m.Update.Category,
		&m.Record.Category)
	fields.Location(c, &a.Lat, &a.Lng, &a.Cell, &m.Shown.Location, m.Create.Location, a.movedTo(m.Update),
		&m.Record.Lat, &m.Record.Lng)
})

// movedTo returns the location that a request gives an album, or nil. If the request has only one
// of lat and lng, the other stays.
func (a *album) movedTo(request *albumv1.UpdateAlbumRequest) *typev1.Location {
	if request.Lat == nil && request.Lng == nil {
		return request.GetLocation()
	}
	return &typev1.Location{Lat: *cmp.Or(request.Lat, &a.Lat), Lng: *cmp.Or(request.Lng, &a.Lng)}
}

// shownScore returns the score of replies: also with the recommendations of the old service that
// have no name here.
func (a *album) shownScore() int64 { return a.Score + max(0, a.MovedScore-a.NamedScore) }

// byOwner orders an owner's albums by creation.
func byOwner() docstore.Index1[int64] {
	return docstore.Index1[int64]{Name: "owner", A: "owner_id"}
}

// byCategory orders a category's albums by creation.
func byCategory() docstore.Index1[int64] {
	return docstore.Index1[int64]{Name: "category", A: "category"}
}

// byRequest finds the album that a request created.
func byRequest() docstore.Index1[string] {
	return docstore.Index1[string]{Name: docstore.RequestIndex, A: "request_key", Unique: true}
}

// onMap is the index for SearchNearby and lists in a box.
func onMap() nearby.Index { return nearby.Index{Category: "category"} }

func albumsSpec(settings service.Changes) docstore.Spec {
	return docstore.Spec{
		Name: "albums", ID: docstore.Int64, Sharding: docstore.ByPlace, Scheme: id.Scheme{}, Tombstones: true,
		PlaceFields: []string{"owner_id"},
		Feed:        changes.Of(settings),
		Indexes: []docstore.Index{byOwner().Declare(), byCategory().Declare(), byRequest().Declare(),
			onMap().Declare()},
	}
}

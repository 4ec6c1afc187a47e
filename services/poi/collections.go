package poi

import (
	"time"

	"github.com/waybook/waybook/internal/content/choices"
	"github.com/waybook/waybook/internal/docstore"
)

// poi is the stored form of a landmark.
type poi struct {
	ID         int64   `bson:"_id"`
	OwnerID    int64   `bson:"owner_id"`
	RequestKey string  `bson:"request_key"`
	Name       string  `bson:"name"`
	Category   int64   `bson:"category"`
	Lat        float64 `bson:"lat"`
	Lng        float64 `bson:"lng"`
	// Cell is the cell of the location; see cellOf.
	Cell       int64     `bson:"cell"`
	CreateTime time.Time `bson:"create_time"`
	UpdateTime time.Time `bson:"update_time"`
	Score      int64     `bson:"score"`
	// Recommendations is the mark of Score; see package choices.
	Recommendations choices.Mark `bson:"recommendations"`
	// PhotoCount and CommentCount are never lower than the true numbers.
	PhotoCount   int64 `bson:"photo_count"`
	CommentCount int64 `bson:"comment_count"`
}

// categoryIndex orders a category's landmarks by creation.
const categoryIndex = "category"

// cellIndex orders landmarks so that near ones are mostly together.
const cellIndex = "cell"

func poisSpec() docstore.Spec {
	return docstore.Spec{
		Name: "pois",
		ID:   docstore.Int64,
		Indexes: []docstore.Index{
			// ListPois and StreamPois.
			{Name: categoryIndex, Fields: []docstore.Field{{Name: "category", Kind: docstore.Int64}}},
			// SearchNearby.
			{Name: cellIndex, Fields: []docstore.Field{{Name: "cell", Kind: docstore.Int64}}},
			// The landmark that a request or an import created.
			{Name: docstore.RequestIndex, Unique: true, Fields: []docstore.Field{
				{Name: "owner_id", Kind: docstore.Int64},
				{Name: "request_key", Kind: docstore.String},
			}},
		},
	}
}

// photo is the stored form of a photo.
type photo struct {
	ID          int64  `bson:"_id"`
	PoiID       int64  `bson:"poi_id"`
	RequestKey  string `bson:"request_key"`
	URL         string `bson:"photo_url"`
	Description string `bson:"description"`
}

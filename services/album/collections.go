package album

import (
	"time"

	"github.com/waybook/waybook/internal/content/choices"
	"github.com/waybook/waybook/internal/docstore"
)

// album is the stored form of an album.
type album struct {
	ID         int64     `bson:"_id"`
	OwnerID    int64     `bson:"owner_id"`
	RequestKey string    `bson:"request_key"`
	Title      string    `bson:"title"`
	Category   int32     `bson:"category"`
	Lat        float64   `bson:"lat"`
	Lng        float64   `bson:"lng"`
	CreateTime time.Time `bson:"create_time"`
	UpdateTime time.Time `bson:"update_time"`
	Score      int64     `bson:"score"`
	// Recommendations is the mark of Score; see package choices.
	Recommendations choices.Mark `bson:"recommendations"`
	// PhotoCount and CommentCount are never lower than the true numbers.
	PhotoCount   int64 `bson:"photo_count"`
	CommentCount int64 `bson:"comment_count"`
}

// ownerIndex orders an owner's albums by creation.
const ownerIndex = "owner"

func albumsSpec() docstore.Spec {
	owner := docstore.Field{Name: "owner_id", Kind: docstore.Int64}
	return docstore.Spec{
		Name: "albums",
		ID:   docstore.Int64,
		Indexes: []docstore.Index{
			// ListAlbums and StreamAlbums.
			{Name: ownerIndex, Fields: []docstore.Field{owner}},
			// The album that a request created.
			{Name: docstore.RequestIndex, Unique: true, Fields: []docstore.Field{owner, {Name: "request_key", Kind: docstore.String}}},
		},
	}
}

// photo is the stored form of a photo.
type photo struct {
	ID           int64  `bson:"_id"`
	AlbumID      int64  `bson:"album_id"`
	RequestKey   string `bson:"request_key"`
	ThumbnailURL string `bson:"thumbnail_url"`
	Description  string `bson:"description"`
}

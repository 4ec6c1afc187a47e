package blog

import (
	"time"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/tally"
)

// blog is a diary entry as stored.
type blog struct {
	ID          int64     `bson:"_id"`
	AuthorID    int64     `bson:"author_id"`
	RequestKey  string    `bson:"request_key"`
	Type        int32     `bson:"type"`
	Lat         float64   `bson:"lat"`
	Lng         float64   `bson:"lng"`
	Title       string    `bson:"title"`
	Content     string    `bson:"content"`
	PostDate    date      `bson:"post_date"`
	Weather     int32     `bson:"weather"`
	ReplyBlogID int64     `bson:"reply_blog_id"`
	ZoomLevel   int32     `bson:"zoom_level"`
	MapType     int32     `bson:"map_type"`
	CreateTime  time.Time `bson:"create_time"`
	UpdateTime  time.Time `bson:"update_time"`
	Score       int64     `bson:"score"`
	// Recommendations is how far Score has come; see package tally.
	Recommendations tally.Mark `bson:"recommendations"`
	Reward          int64      `bson:"reward"`
	Vote            *vote      `bson:"vote,omitempty"`
	// CommentCount is never lower than the true number.
	CommentCount int64 `bson:"comment_count"`
}

// date is a day of the calendar.
type date struct {
	Year  int32 `bson:"year"`
	Month int32 `bson:"month"`
	Day   int32 `bson:"day"`
}

// vote is the vote held inside an entry.
type vote struct {
	Description string   `bson:"description"`
	Choices     []choice `bson:"choices"`
	// Ballots is how far the numbers have come; see package tally.
	Ballots tally.Mark `bson:"ballots"`
}

// choice is one choice of a vote; there are at most 20.
type choice struct {
	Description string `bson:"description"`
	Votes       int64  `bson:"votes"`
}

// authorIndex orders the entries of an author as they were created.
const authorIndex = "author"

func blogsSpec() docstore.Spec {
	author := docstore.Field{Name: "author_id", Kind: docstore.Int64}
	return docstore.Spec{
		Name: "blogs",
		ID:   docstore.Int64,
		Indexes: []docstore.Index{
			// ListBlogs.
			{Name: authorIndex, Fields: []docstore.Field{author}},
			// The entry that a request made.
			{Name: docstore.RequestIndex, Unique: true, Fields: []docstore.Field{author, {Name: "request_key", Kind: docstore.String}}},
		},
	}
}

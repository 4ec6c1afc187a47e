package blog

import (
	"time"

	"github.com/waybook/waybook/internal/content/choices"
	"github.com/waybook/waybook/internal/docstore"
)

// blog is the stored form of a diary entry.
type blog struct {
	ID          int64     `bson:"_id"`
	AuthorID    int64     `bson:"author_id"`
	RequestKey  string    `bson:"request_key"`
	Type        int32     `bson:"type"`
	Lat         float64   `bson:"lat"`
	Lng         float64   `bson:"lng"`
	Title       string    `bson:"title"`
	Content     string    `bson:"content"`
	PostDay     day       `bson:"post_day"`
	Weather     int32     `bson:"weather"`
	ReplyBlogID int64     `bson:"reply_blog_id"`
	ZoomLevel   int32     `bson:"zoom_level"`
	MapType     int32     `bson:"map_type"`
	CreateTime  time.Time `bson:"create_time"`
	UpdateTime  time.Time `bson:"update_time"`
	Score       int64     `bson:"score"`
	// Recommendations is the mark of Score; see package choices.
	Recommendations choices.Mark `bson:"recommendations"`
	// Reward is the author's reward for the entry. RewardDue is 1 until the author is known
	// to have it, then 0.
	Reward    int64 `bson:"reward"`
	RewardDue int64 `bson:"reward_due"`
	Vote      *vote `bson:"vote,omitempty"`
	// CommentCount is never lower than the true number.
	CommentCount int64 `bson:"comment_count"`
}

// day is a calendar day as one sortable number, such as 20260228.
type day int64

func newDay(year, month, dayOfMonth int) day { return day(year*10_000 + month*100 + dayOfMonth) }

// dayOf returns the day of a time, in the time's zone.
func dayOf(t time.Time) day { return newDay(t.Year(), int(t.Month()), t.Day()) }

// vote is the vote in an entry.
type vote struct {
	Description string   `bson:"description"`
	Choices     []choice `bson:"choices"`
	// Ballots is the mark of the numbers of votes; see package choices.
	Ballots choices.Mark `bson:"ballots"`
}

// choice is one choice of a vote. A vote has at most 20.
type choice struct {
	Description string `bson:"description"`
	Votes       int64  `bson:"votes"`
}

// votesOf returns the votes for each choice of an entry's vote, or nil if it has none.
func votesOf(b *blog) []int64 {
	if b.Vote == nil {
		return nil
	}
	votes := make([]int64, len(b.Vote.Choices))
	for i, c := range b.Vote.Choices {
		votes[i] = c.Votes
	}
	return votes
}

// The indexes of entries, in addition to docstore.RequestIndex.
const (
	// authorIndex orders an author's entries by creation.
	authorIndex = "author"
	// authorPostDayIndex orders an author's entries by planned date. postDayIndex does so
	// for all entries.
	authorPostDayIndex = "author_post_day"
	postDayIndex       = "post_day"
	// dueIndex separates the entries whose reward is due.
	dueIndex = "due"
)

func blogsSpec() docstore.Spec {
	author := docstore.Field{Name: "author_id", Kind: docstore.Int64}
	postDay := docstore.Field{Name: "post_day", Kind: docstore.Int64}
	return docstore.Spec{
		Name: "blogs",
		ID:   docstore.Int64,
		Indexes: []docstore.Index{
			// Lists of an author's entries, by creation.
			{Name: authorIndex, Fields: []docstore.Field{author}},
			// ListBlogs of an author, by planned date.
			{Name: authorPostDayIndex, Fields: []docstore.Field{author, postDay}},
			// ListBlogs of all authors, by planned date.
			{Name: postDayIndex, Fields: []docstore.Field{postDay}},
			// The rewards that a sweep settles.
			{Name: dueIndex, Fields: []docstore.Field{{Name: "reward_due", Kind: docstore.Int64}}},
			// The entry that a request created.
			{Name: docstore.RequestIndex, Unique: true, Fields: []docstore.Field{author, {Name: "request_key", Kind: docstore.String}}},
		},
	}
}

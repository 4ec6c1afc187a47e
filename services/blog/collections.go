package blog

import (
	"time"

	"github.com/waybook/waybook/internal/content/choices"
	"github.com/waybook/waybook/internal/docstore"
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
	PostDay     day       `bson:"post_day"`
	Weather     int32     `bson:"weather"`
	ReplyBlogID int64     `bson:"reply_blog_id"`
	ZoomLevel   int32     `bson:"zoom_level"`
	MapType     int32     `bson:"map_type"`
	CreateTime  time.Time `bson:"create_time"`
	UpdateTime  time.Time `bson:"update_time"`
	Score       int64     `bson:"score"`
	// Recommendations is how far Score has come; see package choices.
	Recommendations choices.Mark `bson:"recommendations"`
	// Reward is what the author gets for the entry; RewardDue is 1 until it is known that
	// the author has it, and 0 from then on.
	Reward    int64 `bson:"reward"`
	RewardDue int64 `bson:"reward_due"`
	Vote      *vote `bson:"vote,omitempty"`
	// CommentCount is never lower than the true number.
	CommentCount int64 `bson:"comment_count"`
}

// day is a day of the calendar as one number that sorts, such as 20260228.
type day int64

func newDay(year, month, dayOfMonth int) day { return day(year*10_000 + month*100 + dayOfMonth) }

// dayOf is the day that it is at a time, in the time's zone.
func dayOf(t time.Time) day { return newDay(t.Year(), int(t.Month()), t.Day()) }

// vote is the vote held inside an entry.
type vote struct {
	Description string   `bson:"description"`
	Choices     []choice `bson:"choices"`
	// Ballots is how far the numbers have come; see package choices.
	Ballots choices.Mark `bson:"ballots"`
}

// choice is one choice of a vote; there are at most 20.
type choice struct {
	Description string `bson:"description"`
	Votes       int64  `bson:"votes"`
}

// votesOf are the votes for each choice of an entry's vote; nil when it holds none.
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

// The indexes of entries, beside docstore.RequestIndex.
const (
	// authorIndex orders the entries of an author as they were created.
	authorIndex = "author"
	// authorPostDayIndex orders the entries of an author, and postDayIndex those of
	// everybody, by planned date.
	authorPostDayIndex = "author_post_day"
	postDayIndex       = "post_day"
	// dueIndex tells the entries apart whose reward is due.
	dueIndex = "due"
)

func blogsSpec() docstore.Spec {
	author := docstore.Field{Name: "author_id", Kind: docstore.Int64}
	postDay := docstore.Field{Name: "post_day", Kind: docstore.Int64}
	return docstore.Spec{
		Name: "blogs",
		ID:   docstore.Int64,
		Indexes: []docstore.Index{
			// Lists of the entries of an author, in creation order.
			{Name: authorIndex, Fields: []docstore.Field{author}},
			// ListBlogs of an author by planned date.
			{Name: authorPostDayIndex, Fields: []docstore.Field{author, postDay}},
			// ListBlogs of everybody by planned date.
			{Name: postDayIndex, Fields: []docstore.Field{postDay}},
			// The rewards that a sweep settles.
			{Name: dueIndex, Fields: []docstore.Field{{Name: "reward_due", Kind: docstore.Int64}}},
			// The entry that a request made.
			{Name: docstore.RequestIndex, Unique: true, Fields: []docstore.Field{author, {Name: "request_key", Kind: docstore.String}}},
		},
	}
}

package blog

import (
	"fmt"
	"time"

	"github.com/waybook/waybook/internal/content/changes"
	"github.com/waybook/waybook/internal/content/choices"
	"github.com/waybook/waybook/internal/content/fields"
	"github.com/waybook/waybook/internal/content/nearby"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/id"
	"github.com/waybook/waybook/internal/platform/service"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	moveinv1 "github.com/waybook/waybook/proto/gen/waybook/movein/v1"
)

// blog is the stored form of a diary entry.
type blog struct {
	ID       int64 `bson:"_id"`
	AuthorID int64 `bson:"author_id"`
	// RequestKey is the result of docstore.OwnedKey.
	RequestKey string  `bson:"request_key"`
	Type       int32   `bson:"type"`
	Lat        float64 `bson:"lat"`
	Lng        float64 `bson:"lng"`
	// Cell is the cell of the location; see nearby.CellOf.
	Cell        int64     `bson:"cell"`
	Title       string    `bson:"title"`
	Content     string    `bson:"content"`
	PostDay     day       `bson:"post_day"`
	Weather     int32     `bson:"weather"`
	ReplyBlogID int64     `bson:"reply_blog_id"`
	ZoomLevel   int32     `bson:"zoom_level"`
	MapType     int32     `bson:"map_type"`
	CreateTime  time.Time `bson:"create_time"`
	UpdateTime  time.Time `bson:"update_time"`
	// ContentRevision is part of the etag; see owned.ContentRevision.
	ContentRevision int64 `bson:"content_revision,omitempty"`
	Score           int64 `bson:"score"`
	// ScoreRound is the round of Score; see package choices.
	ScoreRound int64 `bson:"score_round"`
	// Reward is the author's reward for the entry. RewardDue is rewardDue until the ledger is
	// known to have it, then missing.
	Reward    int64 `bson:"reward"`
	RewardDue int64 `bson:"reward_due,omitempty"`
	Vote      *vote `bson:"vote,omitempty"`
	// VoteRound is the round of the numbers of votes; see package choices.
	VoteRound int64 `bson:"vote_round"`
	// LatestComment is the highest id of a comment so far; see child.Set.
	LatestComment int64 `bson:"comment_latest"`
	// ReplyOldID is the old identifier of the quoted entry, if ReplyBlogID does not tell it.
	ReplyOldID string `bson:"reply_old_id,omitempty"`
	// MovedScore is the score that an old service showed. NamedScore is how many of its
	// recommendations were moved in with their users.
	MovedScore int64 `bson:"moved_score,omitempty"`
	NamedScore int64 `bson:"named_score,omitempty"`
}

// messages are those with the fields of an entry.
type messages = fields.Messages[blogv1.Blog, blogv1.CreateBlogRequest, blogv1.UpdateBlogRequest, moveinv1.Entry]

// blogFields are the fields that its author gives an entry, but for the quoted one and the vote,
// whose rules are their own. Requests and records have their limits.
var blogFields = fields.New(func(c fields.Copy, b *blog, m messages) {
	fields.Number(c, "type", &b.Type, &m.Shown.Type, &m.Create.Type, m.Update.Type, &m.Record.Type)
	fields.Location(c, &b.Lat, &b.Lng, &b.Cell, &m.Shown.Location, m.Create.Location, m.Update.Location, &m.Record.Lat,
		&m.Record.Lng)
	fields.Value(c, "title", &b.Title, &m.Shown.Title, &m.Create.Title, m.Update.Title, &m.Record.Title)
	fields.Value(c, "content", &b.Content, &m.Shown.Content, &m.Create.Content, m.Update.Content, &m.Record.Content)
	fields.Message(c, "post_day", &b.PostDay, &m.Shown.PostDate, m.Create.PostDate, m.Update.PostDate,
		&m.Record.PostDate, dayFromProto, day.proto)
	fields.Number(c, "weather", &b.Weather, &m.Shown.Weather, &m.Create.Weather, m.Update.Weather, &m.Record.Weather)
	fields.Value(c, "zoom_level", &b.ZoomLevel, &m.Shown.ZoomLevel, m.Create.ZoomLevel, m.Update.ZoomLevel,
		m.Record.ZoomLevel)
	fields.Number(c, "map_type", &b.MapType, &m.Shown.MapType, &m.Create.MapType, m.Update.MapType, m.Record.MapType)
})

// shownScore returns the score of replies: also with the recommendations of the old service that
// have no name here.
func (b *blog) shownScore() int64 { return b.Score + max(0, b.MovedScore-b.NamedScore) }

// day is a calendar day as one sortable number, such as 20260228.
type day int64

func newDay(year, month, dayOfMonth int) day { return day(year*10_000 + month*100 + dayOfMonth) }

// dayOf returns the day of a time, in the time's zone.
func dayOf(t time.Time) day { return newDay(t.Year(), int(t.Month()), t.Day()) }

// vote is the vote in an entry.
type vote struct {
	Description string   `bson:"description"`
	Choices     []choice `bson:"choices"`
}

// choice is one choice of a vote. A vote has at most 20.
type choice struct {
	Description string `bson:"description"`
	Votes       int64  `bson:"votes"`
	// MovedVotes is the number of votes that an old service showed. NamedVotes is how many of them
	// were moved in with their users.
	MovedVotes int64 `bson:"moved_votes,omitempty"`
	NamedVotes int64 `bson:"named_votes,omitempty"`
}

// votesOf returns the votes for each choice of an entry's vote, or nil if it has none.
func votesOf(b *blog) []choices.Number {
	if b.Vote == nil {
		return nil
	}
	votes := make([]choices.Number, len(b.Vote.Choices))
	for i := range b.Vote.Choices {
		votes[i] = choices.Number{Count: &b.Vote.Choices[i].Votes, Moved: &b.Vote.Choices[i].NamedVotes}
	}
	return votes
}

// voteFields returns the fields of the votes for a choice.
func voteFields(choice int32) (votes, named string) {
	of := fmt.Sprintf("vote.choices.%d.", choice-1)
	return of + "votes", of + "named_votes"
}

// byAuthor orders an author's entries by creation.
func byAuthor() docstore.Index1[int64] {
	return docstore.Index1[int64]{Name: "author", A: "author_id"}
}

// byAuthorPostDay orders an author's entries by planned date.
func byAuthorPostDay() docstore.Index2[int64, int64] {
	return docstore.Index2[int64, int64]{Name: "author_post_day", A: "author_id", B: "post_day"}
}

// byPostDay orders all entries by planned date.
func byPostDay() docstore.Index1[int64] {
	return docstore.Index1[int64]{Name: "post_day", A: "post_day"}
}

// byTypePostDay orders the entries of a type by planned date.
func byTypePostDay() docstore.Index2[int64, int64] {
	return docstore.Index2[int64, int64]{Name: "type_post_day", A: "type", B: "post_day"}
}

// dueField is the field of RewardDue.
const dueField = "reward_due"

// byDue finds the entries whose reward is due, for the sweep that grants it.
func byDue() docstore.Index1[int64] {
	return docstore.Index1[int64]{Name: "due", A: dueField, Sparse: true}
}

// byRequest finds the entry that a request created.
func byRequest() docstore.Index1[string] {
	return docstore.Index1[string]{Name: docstore.RequestIndex, A: "request_key", Unique: true}
}

// onMap is the index for SearchNearby and lists in a box.
func onMap() nearby.Index { return nearby.Index{Day: "post_day", Category: "type"} }

func blogsSpec(settings service.Changes) docstore.Spec {
	return docstore.Spec{
		Name: "blogs", ID: docstore.Int64, Sharding: docstore.ByPlace, Scheme: id.Scheme{}, Tombstones: true,
		PlaceFields: []string{"author_id"},
		Feed:        changes.Of(settings, dueField),
		Indexes: []docstore.Index{
			byAuthor().Declare(), byAuthorPostDay().Declare(), byPostDay().Declare(), byTypePostDay().Declare(),
			byDue().Declare(), byRequest().Declare(),
			onMap().Declare(),
		},
	}
}

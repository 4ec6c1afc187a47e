package blog

import (
	"strconv"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/waybook/waybook/internal/content/aliases"
	"github.com/waybook/waybook/internal/content/movein"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/id"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	moveinv1 "github.com/waybook/waybook/proto/gen/waybook/movein/v1"
)

// newMover returns what takes the entries, comments and ballots of an old service.
func (s *server) newMover() *movein.Mover[blog] {
	return movein.Open(&movein.Mover[blog]{
		Name: "entry", Kind: s.blogs, Profiles: s.profiles, Content: blogForm(),
		PlaceOf: func(authorID int64, _ string) id.Place { return id.PlaceOf(authorID) },
		SetQuoted: func(b *blog, quotedID int64, oldID string) {
			b.ReplyBlogID, b.ReplyOldID = quotedID, aliases.OldID(quotedID, aliases.RequestPrefix+oldID)
		},
		Ballots: s.ballots,
	})
}

func blogForm() movein.Form[blog] {
	return movein.Form[blog]{
		ID: func(b *blog) int64 { return b.ID },
		Identify: func(b *blog, id, _ int64, requestKey string) {
			b.ID, b.RequestKey = id, docstore.OwnedKey(b.AuthorID, requestKey)
		},
		Document: func(record *moveinv1.Record) blog { return blogOf(record.GetEntry()) },
		Record:   func(b *blog) proto.Message { return b.record() },
	}
}

// blogOf returns the entry of a record, without what it quotes.
func blogOf(given *moveinv1.Entry) blog {
	b := blog{
		AuthorID: given.GetAuthorId(), ZoomLevel: defaultZoomLevel, MapType: int32(blogv1.MapType_MAP_TYPE_MAP),
		CreateTime: movein.Time(given.GetCreateTime()),
		UpdateTime: movein.TimeOr(given.GetUpdateTime(), given.GetCreateTime()),
		Reward:     given.GetReward(), MovedScore: given.GetScore(),
	}
	blogFields.Take(&b, given)
	if asked := given.GetVote(); asked != nil {
		b.Vote = &vote{Description: asked.GetDescription()}
		for _, each := range asked.GetChoices() {
			b.Vote.Choices = append(b.Vote.Choices, choice{
				Description: each.GetDescription(), MovedVotes: each.GetVotes(),
			})
		}
	}
	return b
}

// record returns the fields of an entry that a record has.
func (b *blog) record() *moveinv1.Entry {
	record := &moveinv1.Entry{
		AuthorId: b.AuthorID, QuotedId: b.ReplyOldID, ZoomLevel: new(int32), MapType: new(int32), Score: b.MovedScore,
		Reward:     b.Reward,
		CreateTime: timestamppb.New(b.CreateTime), UpdateTime: timestamppb.New(b.UpdateTime),
	}
	blogFields.Record(b, record)
	if number, isNumber := id.Old(b.ReplyBlogID); isNumber {
		record.QuotedId = strconv.FormatInt(number, 10)
	}
	if b.Vote != nil {
		record.Vote = &blogv1.Vote{Description: b.Vote.Description}
		for _, each := range b.Vote.Choices {
			record.Vote.Choices = append(record.Vote.Choices,
				&blogv1.Choice{Description: each.Description, Votes: each.MovedVotes})
		}
	}
	return record
}

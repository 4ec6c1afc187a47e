package blog

import (
	"context"
	"fmt"

	"github.com/waybook/waybook/internal/content/aliases"
	"github.com/waybook/waybook/internal/content/nearby"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/id"
	"github.com/waybook/waybook/moving/serve"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
)

// noPhoto stands for the photos that entries do not have.
type noPhoto = struct{}

// newMover returns what moves entries in.
func (s *server) newMover() *serve.Mover[blog, noPhoto] {
	return &serve.Mover[blog, noPhoto]{
		Kind: s.blogs, Profiles: s.profiles, Now: s.now,
		Content: serve.Content[blog]{
			Identify: func(b *blog, id int64, requestKey string) {
				b.ID, b.RequestKey = id, docstore.OwnedKey(b.AuthorID, requestKey)
			},
			IsSame: hasMoved, Take: takeMoved,
			Completes: func(stored, from *blog) bool {
				quoting := *stored
				quoting.ReplyBlogID = from.ReplyBlogID
				return stored.ReplyBlogID == 0 && hasMoved(&quoting, from)
			},
			Fits:    func(stored, from *blog) bool { return len(votesOf(stored)) <= len(votesOf(from)) },
			PlaceOf: func(authorID int64, _ string) id.Place { return id.PlaceOf(authorID) },
		},
		Ballots: s.ballots,
	}
}

// MoveInBlogs stores entries of an old service.
func (s *server) MoveInBlogs(ctx context.Context, request *blogv1.MoveInBlogsRequest) (*blogv1.MoveInBlogsResponse, error) {
	quotes := map[*blog]string{}
	records, results, err := serve.Records(s.validator, request.GetOptions(), request.GetBlogs(), checkMoved,
		func(moved *blogv1.MovedBlog) *serve.Record[blog, noPhoto] {
			record := recordOf(moved)
			if moved.GetQuotedOldId() != "" {
				quotes[&record.Document] = moved.GetQuotedOldId()
			}
			return record
		})
	if err != nil {
		return nil, err
	}
	mover := *s.mover
	mover.Content.Link = func(ctx context.Context, links []serve.Link[blog]) error { return s.linkQuotes(ctx, links, quotes) }
	if err := mover.MoveIn(ctx, request.GetOptions(), records, results); err != nil {
		return nil, err
	}
	return &blogv1.MoveInBlogsResponse{Results: results}, nil
}

func checkMoved(limits *serve.Limits, moved *blogv1.MovedBlog) {
	limits.Check(serve.Title, moved.GetTitle(), "title")
	limits.Check(serve.EntryText, moved.GetContent(), "content")
	choices := moved.GetVote().GetChoices()
	if vote := moved.GetVote(); vote != nil {
		limits.Check(serve.Question, vote.GetDescription(), "vote.description")
	}
	for i, each := range choices {
		limits.Check(serve.Title, each.GetDescription(), fmt.Sprintf("vote.choices[%d].description", i))
	}
	for i, ballot := range moved.GetBallots() {
		if int(ballot.GetChoice()) > len(choices) {
			limits.Violate(fmt.Sprintf("ballots[%d].choice", i), "the vote has no such choice")
		}
	}
	limits.Comments(moved.GetComments())
}

func recordOf(moved *blogv1.MovedBlog) *serve.Record[blog, noPhoto] {
	record := &serve.Record[blog, noPhoto]{
		OldID: moved.GetOldId(), OwnerID: moved.GetAuthorId(), Part: moved.GetPart(), Continues: moved.GetContinues(), Before: moved.GetBefore(),
		Document: blog{
			AuthorID: moved.GetAuthorId(), Type: int32(moved.GetType()),
			Lat: moved.GetLocation().GetLat(), Lng: moved.GetLocation().GetLng(),
			Cell:  nearby.CellOf(moved.GetLocation().GetLat(), moved.GetLocation().GetLng()),
			Title: moved.GetTitle(), Content: moved.GetContent(),
			PostDay: dayFromProto(moved.GetPostDate()), Weather: int32(moved.GetWeather()),
			ZoomLevel: defaultZoomLevel, MapType: int32(blogv1.MapType_MAP_TYPE_MAP),
			CreateTime: serve.Time(moved.GetCreateTime()), UpdateTime: serve.TimeOr(moved.GetUpdateTime(), moved.GetCreateTime()),
			Reward: moved.GetReward(), UnnamedScore: moved.GetUnnamedScore(),
		},
		Comments:     serve.Comments(moved.GetComments()),
		Recommenders: moved.GetRecommenderIds(),
		Ballots:      make([]serve.Ballot, len(moved.GetBallots())),
	}
	b := &record.Document
	b.MovedMillis = b.UpdateTime.UnixMilli()
	if moved.ZoomLevel != nil {
		b.ZoomLevel = moved.GetZoomLevel()
	}
	if moved.GetMapType() != blogv1.MapType_MAP_TYPE_UNSPECIFIED {
		b.MapType = int32(moved.GetMapType())
	}
	if asked := moved.GetVote(); asked != nil {
		b.Vote = &vote{Description: asked.GetDescription()}
		for _, each := range asked.GetChoices() {
			b.Vote.Choices = append(b.Vote.Choices, choice{Description: each.GetDescription(), UnnamedVotes: each.GetUnnamedVotes()})
		}
	}
	for i, each := range moved.GetBallots() {
		record.Ballots[i] = serve.Ballot{UserID: each.GetVoterId(), Value: each.GetChoice()}
	}
	return record
}

// linkQuotes gives entries the identifiers of those that they quote. An entry whose quote is not
// here yet keeps the one that is stored.
func (s *server) linkQuotes(ctx context.Context, links []serve.Link[blog], quotes map[*blog]string) error {
	var oldIDs []string
	here := map[string]int64{}
	for _, link := range links {
		here[docstore.BareKey(link.Document.RequestKey)] = link.Document.ID
		if quoted := quotes[link.Document]; quoted != "" {
			oldIDs = append(oldIDs, quoted)
		}
	}
	known, err := s.blogs.Aliases.OfMany(ctx, oldIDs)
	if err != nil {
		return err
	}
	for _, link := range links {
		quoted := quotes[link.Document]
		if quoted == "" {
			continue
		}
		quotedID, ok := known[quoted]
		if !ok {
			quotedID, ok = here[aliases.RequestPrefix+quoted]
		}
		if number, isNumber := id.ParseOld(quoted); !ok && isNumber && id.IsDrawn(number, s.now()) {
			quotedID = number
			if ok, err = s.blogs.Documents.Exists(ctx, number); err != nil {
				return err
			}
		}
		switch {
		case ok:
			link.Document.ReplyBlogID = quotedID
			link.Document.ReplyOldID = aliases.OldID(quotedID, aliases.RequestPrefix+quoted)
		case link.Stored != nil:
			link.Document.ReplyBlogID, link.Document.ReplyOldID = link.Stored.ReplyBlogID, link.Stored.ReplyOldID
			link.Result.IsQuoteMissing = link.Stored.ReplyBlogID == 0
		default:
			link.Result.IsQuoteMissing = true
		}
	}
	return nil
}

// hasMoved reports whether a stored entry has the content of one that is moved in.
func hasMoved(stored, from *blog) bool {
	return stored.Type == from.Type && stored.Lat == from.Lat && stored.Lng == from.Lng &&
		stored.Title == from.Title && stored.Content == from.Content && stored.PostDay == from.PostDay &&
		stored.Weather == from.Weather && stored.ReplyBlogID == from.ReplyBlogID &&
		stored.ZoomLevel == from.ZoomLevel && stored.MapType == from.MapType && stored.Reward == from.Reward &&
		stored.CreateTime.Equal(from.CreateTime) && stored.UpdateTime.Equal(from.UpdateTime) &&
		stored.UnnamedScore == from.UnnamedScore && hasMovedVote(stored.Vote, from.Vote)
}

func hasMovedVote(stored, from *vote) bool {
	if stored == nil || from == nil {
		return stored == from
	}
	if stored.Description != from.Description || len(stored.Choices) != len(from.Choices) {
		return false
	}
	for i, each := range stored.Choices {
		if each.Description != from.Choices[i].Description || each.UnnamedVotes != from.Choices[i].UnnamedVotes {
			return false
		}
	}
	return true
}

// takeMoved gives a stored entry the content of one that is moved in. A vote with fewer choices stays as it
// is stored, because ballots name choices by their position.
func takeMoved(stored, from *blog) {
	stored.Type, stored.Lat, stored.Lng = from.Type, from.Lat, from.Lng
	stored.Cell = nearby.CellOf(stored.Lat, stored.Lng)
	stored.Title, stored.Content, stored.PostDay = from.Title, from.Content, from.PostDay
	stored.Weather, stored.ReplyBlogID, stored.ReplyOldID = from.Weather, from.ReplyBlogID, from.ReplyOldID
	stored.ZoomLevel, stored.MapType, stored.Reward = from.ZoomLevel, from.MapType, from.Reward
	stored.CreateTime, stored.UpdateTime, stored.MovedMillis, stored.UnnamedScore = from.CreateTime, from.UpdateTime, from.MovedMillis, from.UnnamedScore
	if from.Vote == nil || len(votesOf(stored)) > len(votesOf(from)) {
		return
	}
	if stored.Vote == nil {
		stored.Vote = &vote{}
	}
	stored.Vote.Description = from.Vote.Description
	for i := range from.Vote.Choices {
		if i == len(stored.Vote.Choices) {
			stored.Vote.Choices = append(stored.Vote.Choices, choice{})
		}
		stored.Vote.Choices[i].Description = from.Vote.Choices[i].Description
		stored.Vote.Choices[i].UnnamedVotes = from.Vote.Choices[i].UnnamedVotes
	}
}

// ResolveOldIds returns the identifiers that old identifiers stand for.
func (s *server) ResolveOldIds(ctx context.Context, request *blogv1.ResolveOldIdsRequest) (*blogv1.ResolveOldIdsResponse, error) {
	ids, err := s.resolver.Find(ctx, request.GetOldIds())
	return &blogv1.ResolveOldIdsResponse{Ids: ids}, err
}

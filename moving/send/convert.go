package send

import (
	"slices"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/waybook/waybook/moving/movefile"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// maxSessions is how many sessions a user has at most (rule 3.16); a further one closes the oldest.
const maxSessions = 100

// userOf converts a part of a user. Sessions are in the first part only; areSessionsKnown says that
// the files have sessions, so that a user without any has none.
func userOf(p *part, areSessionsKnown bool) *accountv1.MovedUser {
	u := p.family.record.(*movefile.User)
	moved := &accountv1.MovedUser{
		UserId: number(u.ID), Name: u.Name, IconUrl: u.IconURL, Email: u.Email, PasswordHash: u.PasswordHash, CreateTime: moment(u.CreateTime),
	}
	if areSessionsKnown && p.number == 0 {
		moved.Sessions = &accountv1.MovedSessions{}
		sessions := recordsOf[*movefile.Session](p.children)
		slices.SortStableFunc(sessions, func(a, b *movefile.Session) int { return a.CreateTime.Compare(b.CreateTime.Time) })
		for _, each := range sessions[max(0, len(sessions)-maxSessions):] {
			moved.Sessions.Sessions = append(moved.Sessions.Sessions, &accountv1.MovedSession{
				Token: each.IDRand, ExpireTime: moment(each.ExpireTime), CreateTime: moment(each.CreateTime),
			})
		}
	}
	for _, each := range recordsOf[*movefile.Reward](p.children) {
		moved.Rewards = append(moved.Rewards, &accountv1.MovedReward{OldId: string(each.ID), Amount: each.Amount})
	}
	return moved
}

func albumOf(p *part) *albumv1.MovedAlbum {
	a := p.family.record.(*movefile.Album)
	named, _ := p.family.named()
	moved := &albumv1.MovedAlbum{
		OldId: string(a.ID), OwnerId: number(a.OwnerID), Title: a.Title, Category: albumv1.AlbumCategory(a.Category), // #nosec G115 -- checked
		Location: &typev1.Location{Lat: a.Lat, Lng: a.Lng}, CreateTime: moment(a.CreateTime), UpdateTime: moment(a.UpdateTime),
		Comments: commentsOf(p), RecommenderIds: recommendersOf(p), UnnamedScore: max(0, a.Score-named),
		Part: p.number, Continues: !p.isLast,
	}
	for _, photo := range recordsOf[*movefile.Photo](p.children) {
		moved.Photos = append(moved.Photos, &albumv1.MovedPhoto{OldId: string(photo.ID), ThumbnailUrl: photo.URL, Description: photo.Description})
	}
	return moved
}

func landmarkOf(p *part) *poiv1.MovedPoi {
	l := p.family.record.(*movefile.Landmark)
	named, _ := p.family.named()
	moved := &poiv1.MovedPoi{
		OldId: string(l.ID), OwnerId: number(l.OwnerID), Name: l.Name, Category: poiv1.PoiCategory(l.Category), // #nosec G115 -- checked
		Location: &typev1.Location{Lat: l.Lat, Lng: l.Lng}, CreateTime: moment(l.CreateTime), UpdateTime: moment(l.UpdateTime),
		Comments: commentsOf(p), RecommenderIds: recommendersOf(p), UnnamedScore: max(0, l.Score-named),
		Part: p.number, Continues: !p.isLast,
	}
	for _, photo := range recordsOf[*movefile.Photo](p.children) {
		moved.Photos = append(moved.Photos, &poiv1.MovedPhoto{OldId: string(photo.ID), PhotoUrl: photo.URL, Description: photo.Description})
	}
	return moved
}

func entryOf(p *part) *blogv1.MovedBlog {
	e := p.family.record.(*movefile.Entry)
	day := dayOf(e.PostDate)
	named, ballots := p.family.named()
	moved := &blogv1.MovedBlog{
		OldId: string(e.ID), AuthorId: number(e.AuthorID), Type: blogv1.BlogType(1 + slices.Index(movefile.EntryTypes(), e.Type)), // #nosec G115 -- few
		Location: &typev1.Location{Lat: e.Lat, Lng: e.Lng}, Title: e.Title, Content: e.Content,
		PostDate:    &typev1.Date{Year: int32(day.Year()), Month: int32(day.Month()), Day: int32(day.Day())}, // #nosec G115 -- parts of a date
		Weather:     blogv1.Weather(1 + slices.Index(movefile.Weathers(), e.Weather)),                        // #nosec G115 -- few
		QuotedOldId: string(e.QuotedID), MapType: blogv1.MapType(e.MapType),                                  // #nosec G115 -- checked
		CreateTime: moment(e.CreateTime), UpdateTime: moment(e.UpdateTime), Reward: e.Reward,
		Comments: commentsOf(p), RecommenderIds: recommendersOf(p), UnnamedScore: max(0, e.Score-named),
		Part: p.number, Continues: !p.isLast,
	}
	if e.ZoomLevel != nil {
		zoom := int32(*e.ZoomLevel) // #nosec G115 -- checked
		moved.ZoomLevel = &zoom
	}
	if e.Vote != nil {
		moved.Vote = &blogv1.MovedVote{Description: e.Vote.Description}
		for n, choice := range e.Vote.Choices {
			moved.Vote.Choices = append(moved.Vote.Choices, &blogv1.MovedChoice{
				Description: choice.Description, UnnamedVotes: max(0, choice.Votes-ballots[int64(n)+1]),
			})
		}
	}
	for _, each := range recordsOf[*movefile.Ballot](p.children) {
		moved.Ballots = append(moved.Ballots, &blogv1.MovedBallot{VoterId: number(each.UserID), Choice: int32(each.Choice)}) // #nosec G115 -- checked
	}
	return moved
}

func recommendersOf(p *part) (ids []int64) {
	for _, each := range recordsOf[*movefile.Recommendation](p.children) {
		ids = append(ids, number(each.UserID))
	}
	return ids
}

func commentsOf(p *part) (moved []*typev1.MovedComment) {
	for _, c := range recordsOf[*movefile.Comment](p.children) {
		comment := &typev1.MovedComment{OldId: string(c.ID), Text: c.Text, CreateTime: moment(c.CreateTime)}
		if c.AuthorID != "" {
			comment.Author = &typev1.MovedComment_AuthorId{AuthorId: number(c.AuthorID)}
		} else {
			comment.Author = &typev1.MovedComment_Guest{Guest: &typev1.Guest{Name: c.AuthorName, IconUrl: c.AuthorIconURL}}
		}
		if c.Reply != "" {
			comment.Reply = &typev1.MovedReply{Text: c.Reply, CreateTime: moment(replyTime(c))}
		}
		moved = append(moved, comment)
	}
	return moved
}

// replyTime returns when the owner replied.
func replyTime(c *movefile.Comment) movefile.Moment {
	if c.ReplyTime.IsZero() {
		return c.CreateTime
	}
	return c.ReplyTime
}

// moment converts a time; an absent one is not set.
func moment(m movefile.Moment) *timestamppb.Timestamp {
	if m.IsZero() {
		return nil
	}
	return timestamppb.New(m.Time)
}

// dayOf converts a day that the decoder has found to be one.
func dayOf(text string) time.Time {
	day, _ := time.Parse(time.DateOnly, text)
	return day
}

package send

import (
	"bytes"
	"cmp"
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

// family is a user, an album, an entry or a landmark with all that hangs on it.
type family struct {
	root movefile.Root
	at   movefile.Position
	// lines are its records. record, bytes, children and sessions are there after decode, until forget: the
	// root's own record, which is nil if the files do not have it, the length of its line, the others in the
	// order of kinds and identifiers, and the sessions of a user.
	lines              []item
	record             movefile.Record
	bytes              int
	children, sessions []child
	// isRefused says that a record of the family has a problem.
	isRefused bool
	// isLeftOut says that it is not sent. isUnchanged says that no service has answered otherwise. outcome is that of
	// the first part that was not unchanged.
	isLeftOut, isUnchanged bool
	outcome                typev1.MoveOutcome
}

// child is a record below a root. bytes is the length of its line.
type child struct {
	record movefile.Record
	at     movefile.Position
	bytes  int
}

// families brings the records of a bucket together, in the order of their roots. Each family is decoded
// when it is its turn, which bounds the memory.
func families(items []item) []*family {
	slices.SortFunc(items, func(a, b item) int { return cmp.Or(bytes.Compare(a.key, b.key), order(a.at, b.at)) })
	var all []*family
	for n := 0; n < len(items); {
		end := n + 1
		for end < len(items) && bytes.Equal(items[end].key, items[n].key) {
			end++
		}
		kind, id := splitKey(items[n].key)
		all = append(all, &family{root: movefile.Root{Kind: movefile.Kind(kind), ID: id}, at: items[n].at, lines: items[n:end]})
		n = end
	}
	slices.SortFunc(all, func(a, b *family) int {
		return cmp.Or(cmp.Compare(a.root.Kind, b.root.Kind), order(a.root.ID, b.root.ID))
	})
	return all
}

// records returns the number of lines.
func (f *family) records() int64 { return int64(len(f.lines)) }

// decode decodes the records of a family.
func (in *intake) decode(f *family) {
	for _, each := range f.lines {
		record, faults := in.decoder.Decode(each.data)
		if record == nil {
			continue
		}
		mark := in.findings.marks[each.at]
		f.isRefused = f.isRefused || mark&refused != 0 || movefile.IsBad(faults)
		switch {
		case mark&dropped != 0:
		case isRoot(record.Kind()):
			if owner := ownerOf(record); owner != nil && mark&orphaned != 0 {
				*owner = in.input.NewOwner
			}
			f.record, f.at, f.bytes = record, each.at, len(each.data)
		case record.Kind() == movefile.KindSession:
			f.sessions = append(f.sessions, child{record, each.at, len(each.data)})
		default:
			f.children = append(f.children, child{record, each.at, len(each.data)})
		}
	}
	slices.SortStableFunc(f.children, func(a, b child) int {
		return cmp.Or(cmp.Compare(a.record.Kind(), b.record.Kind()), order(idOf(a.record), idOf(b.record)))
	})
}

// forget frees the records.
func (f *family) forget() { f.record, f.children, f.sessions = nil, nil, nil }

// ownerOf returns the owner of an album, an entry or a landmark; nil of other records.
func ownerOf(record movefile.Record) *movefile.ID {
	switch record := record.(type) {
	case *movefile.Album:
		return &record.OwnerID
	case *movefile.Entry:
		return &record.AuthorID
	case *movefile.Landmark:
		return &record.OwnerID
	}
	return nil
}

func isRoot(kind movefile.Kind) bool {
	switch kind {
	case movefile.KindUser, movefile.KindAlbum, movefile.KindEntry, movefile.KindLandmark:
		return true
	}
	return false
}

// order compares identifiers, or positions.
func order[T interface{ Before(T) bool }](a, b T) int {
	switch {
	case a.Before(b):
		return -1
	case b.Before(a):
		return 1
	}
	return 0
}

// idOf returns what orders a record among its kind under a root.
func idOf(record movefile.Record) movefile.ID {
	switch record := record.(type) {
	case nil:
		return ""
	case *movefile.Photo:
		return record.ID
	case *movefile.Comment:
		return record.ID
	case *movefile.Ballot:
		return record.UserID
	case *movefile.Recommendation:
		return record.UserID
	case *movefile.Reward:
		return record.ID
	}
	return record.Root().ID
}

// recordsOf returns the records of one type among children.
func recordsOf[Record movefile.Record](children []child) (found []Record) {
	for _, each := range children {
		if record, is := each.record.(Record); is {
			found = append(found, record)
		}
	}
	return found
}

// kindsOfLists are the kinds of children that requests and replies list, by the names of the lists.
var kindsOfLists = map[string]movefile.Kind{"photos": movefile.KindPhoto, "comments": movefile.KindComment}

// placeOf returns the position of the nth child of a kind, from 0, or else that of the root.
func (f *family) placeOf(children []child, kind movefile.Kind, n int) movefile.Position {
	for _, each := range children {
		if each.record.Kind() != kind {
			continue
		}
		if n == 0 {
			return each.at
		}
		n--
	}
	return f.at
}

// named counts the recommendations, and the ballots of each choice.
func (f *family) named() (recommendations int64, ballots map[int64]int64) {
	ballots = map[int64]int64{}
	for _, each := range recordsOf[*movefile.Ballot](f.children) {
		ballots[each.Choice]++
	}
	return int64(len(recordsOf[*movefile.Recommendation](f.children))), ballots
}

// number returns an identifier of a user, which the decoder has found to be a number.
func number(id movefile.ID) int64 {
	n, _ := id.Number()
	return n
}

// maxSessions is how many sessions a user has at most (rule 3.16); a further one closes the oldest.
const maxSessions = 100

// lastSessions returns the sessions that a user can have, in the order in which they were opened. Those that have ended
// come first, because they open nothing.
func lastSessions(all []*movefile.Session, now time.Time) []*movefile.Session {
	isOpen := func(s *movefile.Session) int {
		if s.ExpireTime.IsZero() || s.ExpireTime.After(now) {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(all, func(a, b *movefile.Session) int {
		return cmp.Or(isOpen(a)-isOpen(b), a.CreateTime.Compare(b.CreateTime.Time), a.ExpireTime.Compare(b.ExpireTime.Time))
	})
	return all[max(0, len(all)-maxSessions):]
}

// userOf converts a part of a user. areSessionsKnown says that the files have sessions, so that a user
// without any has none.
func userOf(p *part, areSessionsKnown bool) *accountv1.MovedUser {
	u := p.family.record.(*movefile.User)
	moved := &accountv1.MovedUser{
		UserId: number(u.ID), Name: u.Name, IconUrl: u.IconURL, Email: u.Email, PasswordHash: u.PasswordHash, CreateTime: moment(u.CreateTime),
	}
	if areSessionsKnown && p.number == 0 {
		moved.Sessions = &accountv1.MovedSessions{}
		for _, each := range lastSessions(recordsOf[*movefile.Session](p.family.sessions), time.Now()) {
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
		Part: p.number, Continues: !p.isLast, Before: p.before(),
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
		Part: p.number, Continues: !p.isLast, Before: p.before(),
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
		Part: p.number, Continues: !p.isLast, Before: p.before(),
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

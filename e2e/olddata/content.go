package olddata

import (
	"math/rand/v2"

	"github.com/waybook/waybook/moving/movefile"
)

// album returns the nth album and its recommendations, and so on for the functions below.
func (s service) album(n int) []movefile.Record {
	die := s.dice(movefile.KindAlbum, n)
	a := &movefile.Album{
		ID: s.id(movefile.KindAlbum, n), OwnerID: s.user(die.IntN(s.Users)), Title: title(die), Category: 1 + die.Int64N(16),
		CreateTime: moment(die, n, s.Albums),
	}
	a.Lat, a.Lng = place(die)
	a.UpdateTime = later(die, a.CreateTime)
	recommenders := s.recommenders(die)
	a.Score = int64(len(recommenders)) + die.Int64N(3)
	s.spoil(die, &a.Title)
	if s.isChanged(movefile.KindAlbum, n) {
		a.Title, a.UpdateTime = "改 "+a.Title, after(a.UpdateTime)
	}
	records := []movefile.Record{a}
	for _, user := range recommenders {
		records = append(records, &movefile.Recommendation{AlbumID: a.ID, UserID: user})
	}
	return records
}

func (s service) landmark(n int) []movefile.Record {
	die := s.dice(movefile.KindLandmark, n)
	l := &movefile.Landmark{
		ID: s.id(movefile.KindLandmark, n), OwnerID: s.user(die.IntN(s.Users)), Name: title(die), Category: 1 + die.Int64N(5),
		CreateTime: moment(die, n, s.Landmarks),
	}
	l.Lat, l.Lng = place(die)
	recommenders := s.recommenders(die)
	l.Score = int64(len(recommenders))
	if s.isChanged(movefile.KindLandmark, n) {
		l.Name, l.UpdateTime = "改 "+l.Name, after(l.CreateTime)
	}
	records := []movefile.Record{l}
	for _, user := range recommenders {
		records = append(records, &movefile.Recommendation{LandmarkID: l.ID, UserID: user})
	}
	return records
}

func (s service) entry(n int) []movefile.Record {
	die := s.dice(movefile.KindEntry, n)
	e := &movefile.Entry{
		ID: s.id(movefile.KindEntry, n), AuthorID: s.user(die.IntN(s.Users)), Type: pick(die, movefile.EntryTypes()),
		Title: title(die), Content: prose(die, 3+die.IntN(40)), Weather: pick(die, movefile.Weathers()),
		CreateTime: moment(die, n, s.Entries), Reward: 10,
	}
	e.Lat, e.Lng = place(die)
	e.PostDate = e.CreateTime.Format("2006-01-02")
	if n > 0 && die.IntN(5) == 0 {
		e.QuotedID = s.id(movefile.KindEntry, die.IntN(s.Entries))
	}
	if s.hasFlaw(die) {
		e.QuotedID = gone(die)
	}
	if die.IntN(3) == 0 {
		zoom := die.Int64N(22)
		e.ZoomLevel, e.MapType = &zoom, 1+die.Int64N(3)
	}
	ballots := s.vote(die, e)
	if s.isChanged(movefile.KindEntry, n) {
		e.Content, e.UpdateTime = e.Content+"\n(改)", after(e.CreateTime)
	}
	records := append([]movefile.Record{e}, ballots...)
	return append(records, &movefile.Reward{UserID: e.AuthorID, ID: e.ID, Amount: 10})
}

// vote gives an entry a vote, and returns the ballots.
func (s service) vote(die *rand.Rand, e *movefile.Entry) (ballots []movefile.Record) {
	if die.IntN(2) == 0 {
		return nil
	}
	e.Vote = &movefile.Vote{Description: pick(die, titles) + "?"}
	for range 2 + die.IntN(4) {
		e.Vote.Choices = append(e.Vote.Choices, movefile.Choice{Description: title(die), Votes: die.Int64N(4)})
	}
	for _, user := range s.recommenders(die) {
		choice := die.IntN(len(e.Vote.Choices))
		e.Vote.Choices[choice].Votes++
		ballots = append(ballots, &movefile.Ballot{EntryID: e.ID, UserID: user, Choice: int64(choice) + 1})
	}
	return ballots
}

// recommenders returns up to five users, each once.
func (s service) recommenders(die *rand.Rand) (users []movefile.ID) {
	first := die.IntN(s.Users)
	for k := range min(die.IntN(6), s.Users) {
		users = append(users, s.user((first+k)%s.Users))
	}
	return users
}

func (s service) photo(n int) []movefile.Record {
	die := s.dice(movefile.KindPhoto, n)
	p := &movefile.Photo{ID: s.id(movefile.KindPhoto, n), URL: "upload/" + Decimal(int64(n%100)) + "/" + Decimal(int64(n)) + ".jpg"}
	if die.IntN(4) == 0 {
		p.Description = prose(die, 1+die.IntN(3))
	}
	switch {
	case s.hasFlaw(die):
		p.AlbumID = gone(die)
	case die.IntN(25) == 0:
		p.LandmarkID = s.id(movefile.KindLandmark, die.IntN(s.Landmarks))
	default:
		p.AlbumID = s.id(movefile.KindAlbum, s.parent(die, n, s.Photos, s.Albums, days))
	}
	return []movefile.Record{p}
}

func (s service) comment(n int) []movefile.Record {
	die := s.dice(movefile.KindComment, n)
	c := &movefile.Comment{ID: s.id(movefile.KindComment, n), Text: prose(die, 1+die.IntN(6)), CreateTime: moment(die, n, s.Comments)}
	if s.Edition > 1 && s.number(movefile.KindComment, n)%997 == 0 {
		return nil
	}
	switch kind := die.IntN(20); {
	case s.hasFlaw(die):
		c.AlbumID = gone(die)
	case kind == 0:
		c.LandmarkID = s.id(movefile.KindLandmark, die.IntN(s.Landmarks))
	case kind < 6:
		c.EntryID = s.id(movefile.KindEntry, s.parent(die, n, s.Comments, s.Entries, weeks))
	default:
		c.AlbumID = s.id(movefile.KindAlbum, s.parent(die, n, s.Comments, s.Albums, weeks))
	}
	switch {
	case die.IntN(10) == 0:
		c.AuthorName, c.AuthorIconURL = nickname(die), "guest.gif"
	case s.hasFlaw(die):
		c.AuthorID = gone(die)
	default:
		c.AuthorID = s.user(die.IntN(s.Users))
	}
	s.spoil(die, &c.Text)
	if die.IntN(4) == 0 {
		c.Reply, c.ReplyTime = pick(die, []string{"謝謝!", "哈哈", "下次一起去 :)", "<3"}), later(die, c.CreateTime)
	}
	return []movefile.Record{c}
}

// days and weeks are parts of the time that the service ran.
const (
	days  = 1. / 2000
	weeks = 1. / 200
)

// parent chooses the parent, of count, of the nth of several children. Children come soon after their parents, and some
// at any time later. A few parents have many children.
func (s service) parent(die *rand.Rand, n, children, count int, soon float64) int {
	newest := min(int(int64(n)*int64(count)/int64(children)), count-1)
	switch kind := die.IntN(50); {
	case kind == 0:
		return die.IntN(1 + count/1000)
	case s.Scattered:
		return die.IntN(count)
	case kind < 5:
		return die.IntN(newest + 1)
	}
	return max(0, newest-int(die.ExpFloat64()*float64(count)*soon))
}

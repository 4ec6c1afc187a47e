package send

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/waybook/waybook/moving/comparison"
	"github.com/waybook/waybook/moving/movefile"
)

// expected writes the reply that a family has by the contract, as an element.
type expected struct {
	people *people
	zone   *time.Location
	err    error
}

// of returns the request that reads a family, and its reply.
func (x *expected) of(f *family) (query url.Values, reply *comparison.Element, err error) {
	reply = group("response", leaf("status", "SUCCESS"))
	recommendations, ballots := f.named()
	switch record := f.record.(type) {
	case *movefile.Album:
		query = url.Values{"func": {"getAlbum"}, "albumID": {string(record.ID)}}
		x.content(reply, "albumTitle", record.Title, record.Category, record.Lat, record.Lng, record.OwnerID,
			record.CreateTime, record.UpdateTime, max(record.Score, recommendations))
		x.photos(reply, f)
	case *movefile.Landmark:
		query = url.Values{"func": {"getPOI"}, "POIID": {string(record.ID)}}
		x.content(reply, "name", record.Name, record.Category, record.Lat, record.Lng, record.OwnerID,
			record.CreateTime, record.UpdateTime, max(record.Score, recommendations))
		x.photos(reply, f)
	case *movefile.Entry:
		query = url.Values{"func": {"getBlog"}, "blogID": {string(record.ID)}}
		x.entry(reply, record, max(record.Score, recommendations), ballots)
	}
	x.comments(reply, f)
	return query, reply, x.err
}

// content adds what albums and landmarks have.
func (x *expected) content(
	reply *comparison.Element, nameField, name string, category int64, lat, lng float64, owner movefile.ID,
	created, updated movefile.Moment, score int64,
) {
	if updated.IsZero() {
		updated = created
	}
	day := updated.In(x.zone)
	shown := x.person(owner)
	add(reply,
		leaf(nameField, name), leaf("category", strconv.FormatInt(category, 10)), location(lat, lng),
		leaf("ownerName", shown.Name), leaf("ownerIcon", shown.Icon),
		date("updateDate", day),
		leaf("score", strconv.FormatInt(score, 10)))
}

// entry adds what entries have.
func (x *expected) entry(reply *comparison.Element, e *movefile.Entry, score int64, ballots map[int64]int64) {
	shown, day := x.person(e.AuthorID), dayOf(e.PostDate)
	add(reply, leaf("authorName", shown.Name), leaf("authorIcon", shown.Icon), leaf("type", e.Type), location(e.Lat, e.Lng),
		leaf("blogTitle", e.Title), leaf("blogContent", e.Content),
		date("postDate", day),
		leaf("weather", e.Weather))
	if e.QuotedID != "" {
		add(reply, leaf("replyBlogID", string(e.QuotedID)))
	}
	zoom := int64(14)
	if e.ZoomLevel != nil {
		zoom = *e.ZoomLevel
	}
	add(reply, leaf("zoomLevel", strconv.FormatInt(zoom, 10)), leaf("mapType", strconv.FormatInt(cmp.Or(e.MapType, 1), 10)), leaf("score", strconv.FormatInt(score, 10)))
	if e.Vote == nil {
		return
	}
	list := group("choices")
	for n, choice := range e.Vote.Choices {
		votes := max(choice.Votes, ballots[int64(n)+1])
		add(list, group(fmt.Sprintf("choice%d", n+1), leaf("description", choice.Description), leaf("votes", strconv.FormatInt(votes, 10))))
	}
	add(reply, group("vote", leaf("description", e.Vote.Description), list))
}

func (x *expected) photos(reply *comparison.Element, f *family) {
	list := group("photos")
	for n, p := range recordsOf[*movefile.Photo](f.children) {
		name := fmt.Sprintf("photo%d", n+1)
		if p.LandmarkID != "" {
			add(list, group(name, leaf("description", p.Description), leaf("photoPath", p.URL), leaf("photo", p.URL)))
		} else {
			add(list, group(name, leaf("photoID", string(p.ID)), leaf("thumbnail", p.URL), leaf("description", p.Description)))
		}
	}
	addList(reply, list)
}

func (x *expected) comments(reply *comparison.Element, f *family) {
	list := group("comments")
	for n, c := range recordsOf[*movefile.Comment](f.children) {
		by := person{c.AuthorName, c.AuthorIconURL}
		if c.AuthorID != "" {
			by = x.person(c.AuthorID)
		}
		comment := group(fmt.Sprintf("comment%d", n+1), leaf("time", x.time(c.CreateTime)),
			leaf("commenterName", by.Name), leaf("commenterIcon", by.Icon), leaf("comment", c.Text))
		if c.Reply != "" {
			add(comment, group("authorReply", leaf("time", x.time(replyTime(c))), leaf("reply", c.Reply)))
		}
		add(list, comment)
	}
	addList(reply, list)
}

func (x *expected) person(id movefile.ID) person {
	found, err := x.people.find(id)
	if err != nil && x.err == nil {
		x.err = err
	}
	return found
}

func (x *expected) time(m movefile.Moment) string { return m.In(x.zone).Format(time.DateTime) }

func date(name string, day time.Time) *comparison.Element {
	return group(name, leaf("year", strconv.Itoa(day.Year())), leaf("month", day.Format("01")), leaf("day", day.Format("02")))
}

func location(lat, lng float64) *comparison.Element {
	return group("Location", leaf("lat", decimal(lat)), leaf("lng", decimal(lng)))
}

func decimal(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

func leaf(name, text string) *comparison.Element {
	return &comparison.Element{Name: name, Text: text}
}

func group(name string, children ...*comparison.Element) *comparison.Element {
	return &comparison.Element{Name: name, Children: children}
}

func add(to *comparison.Element, children ...*comparison.Element) {
	to.Children = append(to.Children, children...)
}

// addList adds a list that has an item.
func addList(to, list *comparison.Element) {
	if len(list.Children) > 0 {
		add(to, list)
	}
}

// people finds the name and the icon of users, in a file. It keeps the position of each user in memory,
// some 40 bytes, and is safe for concurrent use.
type people struct {
	file *os.File
	at   map[int64]int64
}

// person is how a user is shown.
type person struct{ Name, Icon string }

// newPeople writes the users of an intake to a file in its folder.
func newPeople(in *intake) (*people, error) {
	file, err := os.OpenFile(filepath.Join(in.input.Folder, "people"), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	p := &people{file: file, at: map[int64]int64{}}
	if err := p.write(in); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return p, nil
}

func (p *people) write(in *intake) error {
	out, end := bufio.NewWriterSize(p.file, bucketBuffer), int64(0)
	for n := range userBuckets {
		items, err := in.roots.read(n)
		if err != nil {
			return err
		}
		for _, f := range families(items) {
			in.decode(f)
			record, isUser := f.record.(*movefile.User)
			if !isUser {
				continue
			}
			f.forget()
			text, err := json.Marshal(person{record.Name, record.IconURL})
			if err != nil {
				return err
			}
			p.at[number(record.ID)] = end
			end += int64(len(text))
			if _, err := out.Write(text); err != nil {
				return err
			}
		}
	}
	return out.Flush()
}

// find returns a user. One who is not in the files has no name and no icon.
func (p *people) find(id movefile.ID) (found person, err error) {
	at, isThere := p.at[number(id)]
	if !isThere {
		return found, nil
	}
	if err := json.NewDecoder(io.NewSectionReader(p.file, at, math.MaxInt64-at)).Decode(&found); err != nil {
		return found, fmt.Errorf("a temporary file was changed: %w", err)
	}
	return found, nil
}

func (p *people) close() error { return p.file.Close() }

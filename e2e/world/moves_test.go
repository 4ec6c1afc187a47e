package world

import (
	"strconv"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	moveinv1 "github.com/waybook/waybook/proto/gen/waybook/movein/v1"
)

// moveSomething moves an album of an old service in, or one again that was.
func (w *world) moveSomething(u *user) {
	for _, c := range w.model.contents {
		// Whether a deletion that got no answer has happened is not known, so neither is what a move makes.
		if c.records != nil && (c.exists != open || c.removals == 0) && w.random.IntN(2) == 0 {
			w.move(c)
			return
		}
	}
	old := 10 * w.tick() // the numbers of an old service, of its albums and of what belongs to them
	oldID, at := strconv.Itoa(old), timestamppb.New(time.Date(2019, 1, 1, 0, 0, 0, 0, time.UTC))
	album := &moveinv1.Album{
		Id: oldID, OwnerId: u.id, Title: w.unique("moved album"), Category: 5, CreateTime: at,
		Lat: proto.Float64(here().GetLat()), Lng: proto.Float64(here().GetLng()),
	}
	c := w.newItem(u, kinds[0], album.GetTitle())
	c.begun, c.id = 0, int64(old) // it has any place among those that were not moved in
	c.titles, c.recommended = []string{c.first}, map[*user]truth{u: open}
	c.records = []*moveinv1.Record{{Record: &moveinv1.Record_Album{Album: album}}, {Record: &moveinv1.Record_Recommendation{
		Recommendation: &moveinv1.Recommendation{Parent: &moveinv1.Recommendation_AlbumId{AlbumId: oldID}, UserId: u.id},
	}}}
	for n := range 2 {
		photo := &moveinv1.Photo{Id: strconv.Itoa(old + n), Parent: &moveinv1.Photo_AlbumId{AlbumId: oldID}, Url: w.unique("moved photo")}
		comment := &moveinv1.Comment{
			Id: strconv.Itoa(old + n), Parent: &moveinv1.Comment_AlbumId{AlbumId: oldID}, AuthorId: u.id, CreateTime: at, Text: w.unique("moved comment"),
		}
		c.records = append(c.records, &moveinv1.Record{Record: &moveinv1.Record_Photo{Photo: photo}}, &moveinv1.Record{Record: &moveinv1.Record_Comment{Comment: comment}})
		c.photos = append(c.photos, &part{text: photo.GetUrl(), id: photo.GetId(), exists: open, isMoved: true})
		c.comments = append(c.comments, &part{text: comment.GetText(), id: comment.GetId(), exists: open, isMoved: true, by: u})
	}
	w.move(c)
}

// move sends the records of content. What is there stays as it is, and what was deleted does not come back.
func (w *world) move(c *item) {
	was := c.exists
	if c.removals == 0 {
		c.wasAdded, c.exists = c.wasAdded.or(yes), c.exists.or(yes)
	}
	op := begin(c, true)
	defer op.end()
	c.moving++
	p := w.anyProgram()
	moved, err := p.MoveIn.MoveIn(c.owner.context(), &moveinv1.MoveInRequest{Records: c.records})
	r := w.answered(p, c.owner, reply{isDone: err == nil}, "moves %q in as album %d", c.first, c.id)
	c.moving--
	if c.isMoveBroken = !r.isDone; !r.isDone {
		return
	}
	results := moved.GetResults()
	w.note("%v", results)
	switch outcome := results[0].GetOutcome(); {
	case outcome == moveinv1.Outcome_OUTCOME_REFUSED,
		outcome == moveinv1.Outcome_OUTCOME_INSERTED && (was == yes || was == no && !c.removed.IsZero()),
		outcome == moveinv1.Outcome_OUTCOME_DELETED && (was == yes || c.removals == 0):
		w.violated("album %d %q, which existed: %v, is moved in: %v", c.id, c.titles, was, results[0])
		return
	case outcome == moveinv1.Outcome_OUTCOME_DELETED:
		c.exists = no
		return
	}
	w.named(c, strconv.FormatInt(w.shown(results[0].GetId()), 10))
	if !op.isAlone() {
		return
	}
	c.wasAdded, c.exists = yes, yes
	for _, result := range results[1:] {
		if result.GetOutcome() == moveinv1.Outcome_OUTCOME_REFUSED {
			w.violated("what belongs to album %d, which is there, is refused: %v", c.id, result)
		}
	}
	c.recommended[c.owner] = isThere(results[1])
	for n := range c.photos[:2] {
		w.brings(c, c.photos[n], results[2+2*n])
		w.brings(c, c.comments[n], results[3+2*n])
	}
}

// isThere reports whether a record is there after a move.
func isThere(result *moveinv1.Result) truth {
	if result.GetOutcome() == moveinv1.Outcome_OUTCOME_DELETED {
		return no
	}
	return yes
}

// brings notes what became of a record of a part.
func (w *world) brings(c *item, p *part, result *moveinv1.Result) {
	if result.GetOutcome() == moveinv1.Outcome_OUTCOME_INSERTED && p.exists != open || p.exists == no && isThere(result) == yes {
		w.violated("%q of album %d, which existed: %v, is moved in: %v", p.text, c.id, p.exists, result)
	}
	p.exists = isThere(result)
}

// finish repeats the moves, uploads and deletions of users that may have failed, as those who began them do.
func (w *world) finish() {
	for _, c := range w.model.contents {
		if c.isMoveBroken {
			w.move(c)
		}
		for _, p := range c.photos {
			if p.isOpen() {
				w.upload(c, p, false)
			}
		}
	}
	for _, u := range w.model.gone {
		w.delete(u)
	}
}

package world

import (
	"strconv"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// moveSomething moves an album of an old service in, or one again that was.
func (w *world) moveSomething(u *user) {
	for _, c := range w.model.contents {
		// Whether a deletion that got no answer has happened is not known, so neither is what a move makes.
		if c.record != nil && (c.exists != open || c.removals == 0) && w.random.IntN(2) == 0 {
			w.move(c)
			return
		}
	}
	old := 10 * w.tick() // the numbers of an old service, of its albums and of what belongs to them
	at := timestamppb.New(time.Date(2019, 1, 1, 0, 0, 0, 0, time.UTC))
	record := &albumv1.MovedAlbum{
		OldId: strconv.Itoa(old), OwnerId: u.id, Title: w.unique("moved album"),
		Category: albumv1.AlbumCategory_ALBUM_CATEGORY_FOOD, Location: here(), CreateTime: at, RecommenderIds: []int64{u.id},
	}
	for n := range 2 {
		record.Photos = append(record.Photos, &albumv1.MovedPhoto{OldId: strconv.Itoa(old + n), ThumbnailUrl: w.unique("moved photo")})
		record.Comments = append(record.Comments, &typev1.MovedComment{
			OldId: strconv.Itoa(old + n), Author: &typev1.MovedComment_AuthorId{AuthorId: u.id}, CreateTime: at, Text: w.unique("moved comment"),
		})
	}
	c := w.newItem(u, kinds[0], record.GetTitle())
	c.begun, c.record, c.id = 0, record, int64(old) // it has any place among those that were not moved in
	c.isMoved()
	w.move(c)
}

// move sends the record of content.
func (w *world) move(c *item) {
	was := c.exists
	if was == no {
		c.isMoved()
	}
	c.wasAdded, c.exists = c.wasAdded.or(yes), c.exists.or(yes)
	op := begin(c, true)
	defer op.end()
	p := w.anyProgram()
	moved, err := p.album.MoveInAlbums(c.owner.context(), &albumv1.MoveInAlbumsRequest{
		Albums: []*albumv1.MovedAlbum{c.record}, Options: &typev1.MoveOptions{Revive: w.random.IntN(2) == 0},
	})
	r := w.answered(p, c.owner, reply{isDone: err == nil}, "moves %q in as album %d", c.first, c.id)
	if c.isMoveBroken = !r.isDone; !r.isDone {
		return
	}
	result := moved.GetResults()[0]
	w.note("%v", result)
	switch result.GetOutcome() {
	case typev1.MoveOutcome_MOVE_OUTCOME_CREATED:
		if was == yes {
			w.violated("album %d %q was moved in again, although it is there", c.id, c.titles)
		}
	case typev1.MoveOutcome_MOVE_OUTCOME_REFUSED:
		if was == yes || c.removals == 0 || result.GetProblems()[0].GetReason() != "DELETED" {
			w.violated("album %d %q is refused: %v", c.id, c.titles, result.GetProblems())
		}
		c.exists = no
		return
	}
	w.named(c, strconv.FormatInt(w.shown(result.GetId()), 10))
	c.wasAdded, c.exists = yes, yes
	if was == no && w.mayBeOld && result.GetOutcome() != typev1.MoveOutcome_MOVE_OUTCOME_CREATED {
		c.exists = open // it was read as it was before its deletion, or an attempt has revived it
	}
}

// finish repeats the moves and the deletions of users that may have failed, as those who began them do.
func (w *world) finish() {
	for _, c := range w.model.contents {
		if c.isMoveBroken {
			w.move(c)
		}
	}
	for _, u := range w.model.gone {
		w.delete(u)
	}
}

// isMoved notes what the record brings if it is stored. A record is stored whole or not at all.
func (c *item) isMoved() {
	c.titles, c.photos, c.comments = []string{c.first}, nil, nil
	c.recommended = map[*user]truth{c.owner: yes}
	for _, photo := range c.record.GetPhotos() {
		c.photos = append(c.photos, &part{text: photo.GetThumbnailUrl(), id: photo.GetOldId(), exists: yes})
	}
	for _, comment := range c.record.GetComments() {
		c.comments = append(c.comments, &part{text: comment.GetText(), id: comment.GetOldId(), exists: yes})
	}
}

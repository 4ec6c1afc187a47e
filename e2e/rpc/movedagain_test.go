package rpc_test

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/waybook/waybook/internal/docstore/docstoretest"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
)

// A sweep after the deletion would take the children that were just moved in.
func TestAnAlbumThatWasDeletedIsNotMovedInAgainUntilTheDeletionIsForgotten(t *testing.T) {
	var p *parts
	movingAgain := false
	store := newBrittle(t)
	store.Engine = &docstoretest.Hooked{Engine: store.Engine, Write: func(_ context.Context, call docstoretest.Call, do func() error) error {
		if movingAgain && call.Collection == "albums" && call.Method == "Insert" {
			movingAgain = false
			p.sweep()
		}
		return do()
	}}
	p = startPartsOn(t, store)
	p.advance(time.Since(p.clock())) // identifiers are drawn by the clock of the machine
	owner := p.newUser("owner")
	made, err := p.album.CreateAlbum(t.Context(), &albumv1.CreateAlbumRequest{OwnerId: owner, Title: "t", Category: 3, Location: taipei})
	albumID := got(t, made, err).GetAlbum().GetAlbumId()
	p.advance(time.Second)
	_, err = p.album.DeleteAlbum(t.Context(), &albumv1.DeleteAlbumRequest{ActorId: owner, AlbumId: albumID})
	must(0, err)(t)

	moved := fullAlbum(strconv.FormatInt(albumID, 10), owner, 100, owner)
	for _, passes := range []time.Duration{0, time.Hour, 22 * time.Hour} {
		store.clock.advance(passes)
		movingAgain = true
		again := p.moveAlbums(nil, moved)
		if problems := again[0].GetProblems(); len(problems) != 1 || problems[0].GetReason() != "DELETED" {
			t.Fatalf("the album was moved in before its deletion was forgotten: %v", again)
		}
		p.sweep()
	}
	store.clock.advance(2 * time.Hour)
	p.sweep()
	movingAgain = true
	expectOutcomes(t, p.moveAlbums(nil, moved), created)
	shown, err := p.album.GetAlbum(t.Context(), &albumv1.GetAlbumRequest{AlbumId: albumID})
	if err != nil || len(shown.GetPhotos()) != 3 || len(shown.GetComments()) != 4 {
		t.Errorf("the album is %v, %v", shown, err)
	}
	p.check()
}

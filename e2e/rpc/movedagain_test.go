package rpc_test

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/waybook/waybook/internal/id"
	"github.com/waybook/waybook/internal/storetest"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
)

// A sweep after the deletion would take the children that were just moved in.
func TestAnAlbumThatWasDeletedIsNotMovedInAgainUntilTheDeletionIsForgotten(t *testing.T) {
	t.Parallel()
	var p *parts
	movingAgain := false
	store := newBrittle(t)
	store.Engine = &storetest.Hooked{Engine: store.Engine, Write: func(_ context.Context, call storetest.Call, do func() error) error {
		if movingAgain && call.Collection == "albums" && call.Verb == "insert" {
			movingAgain = false
			p.Sweep()
		}
		return do()
	}}
	p = startPartsOn(t, store)
	p.Clock.Advance(time.Since(p.Clock.Now())) // identifiers are drawn by the clock of the machine
	owner := p.newUser("owner")
	made, err := p.Album.CreateAlbum(t.Context(), &albumv1.CreateAlbumRequest{OwnerId: owner, Title: "t", Category: 3, Location: taipei})
	albumID := got(t, made, err).GetAlbum().GetAlbumId()
	p.Clock.Advance(time.Second)
	_, err = p.Album.DeleteAlbum(t.Context(), &albumv1.DeleteAlbumRequest{ActorId: owner, AlbumId: albumID})
	must(0, err)(t)

	moved := fullAlbum(strconv.FormatInt(albumID, 10), owner, 100, owner)
	for _, passes := range []time.Duration{0, time.Hour, 22 * time.Hour} {
		store.clock.advance(passes)
		movingAgain = true
		again := p.moveAlbums(nil, moved)
		if problems := again[0].GetProblems(); len(problems) != 1 || problems[0].GetReason() != "DELETED" {
			t.Fatalf("the album was moved in before its deletion was forgotten: %v", again)
		}
		p.Sweep()
	}
	store.clock.advance(2 * time.Hour)
	p.Sweep()
	movingAgain = true
	expectOutcomes(t, p.moveAlbums(nil, moved), created)
	shown, err := p.Album.GetAlbum(t.Context(), &albumv1.GetAlbumRequest{AlbumId: albumID})
	if err != nil || len(shown.GetPhotos()) != 3 || len(shown.GetComments()) != 4 {
		t.Errorf("the album is %v, %v", shown, err)
	}
	p.check()
}

// Another Waybook, whose clock is ahead, has drawn the identifier of the photo.
func TestPhotosAreAddedAfterThoseThatAreMovedIn(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]func(p *parts, whole *albumv1.MovedAlbum){
		"with the album": func(*parts, *albumv1.MovedAlbum) {},
		"after the album": func(p *parts, whole *albumv1.MovedAlbum) {
			expectOutcomes(p.t, p.moveAlbums(nil, movedAlbum(whole.GetOldId(), whole.GetOwnerId())), created)
		},
		"in a part of the album": func(p *parts, whole *albumv1.MovedAlbum) {
			first := fullAlbum(whole.GetOldId(), whole.GetOwnerId(), 300)
			first.Photos, first.Continues = append(first.Photos, whole.GetPhotos()...), true
			expectOutcomes(p.t, p.moveAlbums(nil, first), created)
			whole.Part, whole.Photos = 1, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := startParts(t)
			p.Clock.Advance(time.Since(p.Clock.Now()) + 10*time.Minute)
			owner := p.newUser("owner")
			ahead := id.NewSource(func() time.Time { return time.Now().Add(5 * time.Minute) })
			drawn := must(ahead.Next(id.PlaceOf(owner), 0, 0))(t)
			whole := fullAlbum("7", owner, 100)
			whole.Photos = append(whole.Photos, &albumv1.MovedPhoto{OldId: strconv.FormatInt(drawn, 10), ThumbnailUrl: "x"})
			before(p, whole)
			moved := p.moveAlbums(updating, whole)
			if problems := moved[0].GetProblems(); len(problems) > 0 {
				t.Fatal(problems)
			}
			album := moved[0].GetId()
			last := drawn
			for range 3 {
				added := must(p.Album.AddPhoto(t.Context(), &albumv1.AddPhotoRequest{ActorId: owner, AlbumId: album, ThumbnailUrl: "y"}))(t)
				if added.GetPhoto().GetPhotoId() <= last {
					t.Errorf("photo %d was added after photo %d", added.GetPhoto().GetPhotoId(), last)
				}
				last = added.GetPhoto().GetPhotoId()
				must(p.Album.RemovePhoto(t.Context(), &albumv1.RemovePhotoRequest{ActorId: owner, AlbumId: album, PhotoId: last}))(t)
			}
			p.check()
		})
	}
}

// Another call moves the same album in without photos, before this one stores them.
func TestPhotosOfAnAlbumThatTwoCallsMoveInAreShown(t *testing.T) {
	t.Parallel()
	var p *parts
	moving := func() {}
	store := newBrittle(t)
	store.Engine = &storetest.Hooked{Engine: store.Engine, Write: func(_ context.Context, call storetest.Call, do func() error) error {
		if call.Collection == "album_comments" && call.Verb == "insert" {
			meanwhile := moving
			moving = func() {}
			meanwhile()
		}
		return do()
	}}
	p = startPartsOn(t, store)
	owner := p.newUser("owner")
	moving = func() { expectOutcomes(t, p.moveAlbums(nil, movedAlbum("7", owner)), created) }
	moved := p.moveAlbums(updating, fullAlbum("7", owner, 100))
	shown, err := p.Album.GetAlbum(t.Context(), &albumv1.GetAlbumRequest{AlbumId: moved[0].GetId()})
	if err != nil || len(shown.GetPhotos()) != 3 || len(shown.GetComments()) != 4 {
		t.Errorf("the album is %v, %v", shown, err)
	}
	p.check()
}

package rpc_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/waybook/waybook/internal/docstore/embedded"
	"github.com/waybook/waybook/internal/longform"
	"github.com/waybook/waybook/internal/storetest"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
)

// move is what the tests of crashes move in.
type move struct {
	albums []*albumv1.MovedAlbum
	blogs  []*blogv1.MovedBlog
}

func newMove(a, b int64) move {
	albums := []*albumv1.MovedAlbum{fullAlbum("1", a, 100, a, b), fullAlbum("2", b, 200), fullAlbum("x", a, 300, b)}
	albums[2].Photos[0].OldId = "y"
	quoting := fullBlog("2", b, 200)
	quoting.QuotedOldId = "1"
	return move{albums, []*blogv1.MovedBlog{fullBlog("1", a, 100, a, b), quoting}}
}

// changed returns the same contents, later.
func (m move) changed() move {
	albums := []*albumv1.MovedAlbum{}
	for _, each := range m.albums {
		changed := proto.CloneOf(each)
		changed.Title += "!"
		changed.Photos = append(changed.Photos[1:], &albumv1.MovedPhoto{OldId: each.GetPhotos()[0].GetOldId() + "0000", ThumbnailUrl: "late.jpg"})
		changed.Comments[1].Text = "changed"
		changed.RecommenderIds = changed.RecommenderIds[:len(changed.RecommenderIds)/2]
		albums = append(albums, changed)
	}
	return move{albums, m.blogs}
}

// run moves everything in.
func (p *parts) run(m move) error {
	_, err := p.Album.MoveInAlbums(p.t.Context(), &albumv1.MoveInAlbumsRequest{Options: updating, Albums: m.albums})
	if err != nil {
		return err
	}
	_, err = p.Blog.MoveInBlogs(p.t.Context(), &blogv1.MoveInBlogsRequest{Options: updating, Blogs: m.blogs})
	return err
}

// expectWholeOrNothing checks that nobody sees a part of the albums.
func (p *parts) expectWholeOrNothing(m move) {
	p.t.Helper()
	for n, album := range m.albums[:2] {
		reply, err := p.Album.GetAlbum(p.t.Context(), &albumv1.GetAlbumRequest{AlbumId: int64(n + 1)})
		if err == nil && (len(reply.GetPhotos()) != len(album.GetPhotos()) || len(reply.GetComments()) != len(album.GetComments()) ||
			reply.GetAlbum().GetScore() != int64(len(album.GetRecommenderIds()))+album.GetUnnamedScore()) {
			p.t.Errorf("a part of album %d is visible: %v", n+1, reply)
		}
	}
}

// expectFinished checks that the store holds exactly what was moved in.
func (p *parts) expectFinished(m move, counts map[string]int64) {
	p.t.Helper()
	expectOutcomes(p.t, p.moveAlbums(nil, m.albums...), unchanged, unchanged, unchanged)
	expectOutcomes(p.t, p.moveBlogs(nil, m.blogs...), unchanged, unchanged)
	p.Sweep()
	p.check()
	for collection, want := range counts {
		if n := p.store.count(p.t, collection); n != want {
			p.t.Errorf("%s has %d documents, want %d", collection, n, want)
		}
	}
	reply, err := p.Album.GetAlbum(p.t.Context(), &albumv1.GetAlbumRequest{AlbumId: 1})
	want := int64(len(m.albums[0].GetRecommenderIds())) + m.albums[0].GetUnnamedScore()
	if score := got(p.t, reply, err).GetAlbum().GetScore(); score != want {
		p.t.Errorf("album 1 has the score %d, want %d", score, want)
	}
}

// step is from how many writes a test of crashes tries one: an odd number, so that writes that happen and writes that
// do not take turns.
func step() int { return longform.Number(3, 1) }

// A call that crashes at any of its writes is finished by the next, and between them nobody sees a
// part of new content.
func TestAMoveThatCrashesIsFinishedByTheNext(t *testing.T) {
	t.Parallel()
	for writes, died := 0, true; died; writes += step() {
		died = false // a subtest does not run after a failure with -failfast
		outcome := storetest.Outcome(writes%2 == 0)
		t.Run(fmt.Sprintf("happened=%v, writes=%d", outcome, writes), func(t *testing.T) {
			engine := must(embedded.Open(t.Context(), filepath.Join(t.TempDir(), "store.db")))(t)
			p := startPartsOn(t, newBrittleOf(t, engine))
			m := newMove(p.newUser("a"), p.newUser("b"))
			store, mortal := storetest.NewMortal(engine, writes, outcome)
			crashing := startPartsOn(t, newBrittleOf(t, store))
			err := crashing.run(m)
			if died = mortal.Died(); died != (err != nil) {
				t.Fatalf("it died: %v; it failed: %v", died, err)
			}
			p.expectWholeOrNothing(m)
			got(t, 0, p.run(m))
			p.expectFinished(m, map[string]int64{
				"albums": 3, "album_photos": 9, "album_comments": 12, "album_recommendations": 3, "album_aliases": 3,
				"blogs": 2, "blog_comments": 6, "blog_ballots": 2, "blog_recommendations": 2, "blog_aliases": 2,
			})
		})
	}
}

// What changed in the old service after a crash is right, too: of content that nobody has seen, nothing
// stays that its record lacks.
func TestAMoveThatCrashesIsFinishedWithWhatChangedSince(t *testing.T) {
	t.Parallel()
	for writes, died := 0, true; died; writes += step() {
		died = false // a subtest does not run after a failure with -failfast
		t.Run(fmt.Sprint("writes=", writes), func(t *testing.T) {
			engine := must(embedded.Open(t.Context(), filepath.Join(t.TempDir(), "store.db")))(t)
			p := startPartsOn(t, newBrittleOf(t, engine))
			m := newMove(p.newUser("a"), p.newUser("b"))
			store, mortal := storetest.NewMortal(engine, writes, storetest.Happened)
			crashing := startPartsOn(t, newBrittleOf(t, store))
			_ = crashing.run(m)
			died = mortal.Died()
			got(t, 0, p.run(m.changed()))
			p.expectFinished(m.changed(), map[string]int64{"albums": 3, "album_photos": 9, "album_comments": 12, "blogs": 2})
		})
	}
}

func TestAnUpdateThatCrashesIsFinishedByTheNext(t *testing.T) {
	t.Parallel()
	for writes, died := 0, true; died; writes += step() {
		died = false // a subtest does not run after a failure with -failfast
		outcome := storetest.Outcome(writes%2 == 0)
		t.Run(fmt.Sprintf("happened=%v, writes=%d", outcome, writes), func(t *testing.T) {
			engine := must(embedded.Open(t.Context(), filepath.Join(t.TempDir(), "store.db")))(t)
			p := startPartsOn(t, newBrittleOf(t, engine))
			m := newMove(p.newUser("a"), p.newUser("b"))
			got(t, 0, p.run(m))
			store, mortal := storetest.NewMortal(engine, writes, outcome)
			crashing := startPartsOn(t, newBrittleOf(t, store))
			_ = crashing.run(m.changed())
			died = mortal.Died()
			p.Sweep() // counts the choices of crashed calls
			p.check()
			got(t, 0, p.run(m.changed()))
			p.expectFinished(m.changed(), map[string]int64{"albums": 3, "album_photos": 9, "album_comments": 12, "blogs": 2})
		})
	}
}

package rpc_test

import (
	"context"
	"testing"
	"time"

	"github.com/waybook/waybook/e2e/mongotest"
	"github.com/waybook/waybook/e2e/mongowire"
	"github.com/waybook/waybook/internal/longform"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	changev1 "github.com/waybook/waybook/proto/gen/waybook/change/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// A primary that is cut off believes for some seconds that it is one, while another takes writes.
func TestThroughAPrimaryThatWasLeftBehindNothingIsDecidedAndNoFollowerLosesAChange(t *testing.T) {
	t.Parallel()
	longform.Only(t)
	old := mongotest.StartServer(t, mongowire.Config{})
	next := mongotest.StartServer(t, mongowire.Config{Beside: old})
	database := mongotest.Database()
	behind := startPartsOn(t, newBrittleOverWire(t, old.URI(database)))
	ahead := startPartsOn(t, newBrittleOverWire(t, next.URI(database)))
	user := behind.newUser("a")
	token := behind.openSession(user)
	album := behind.newAlbum(user, "before")
	follower := &copyOfTitles{of: behind.waybook, titles: map[int64]string{}}
	follower.await(t, map[int64]string{album: "before"})

	rejoin := old.Isolate()
	retitle := func(p *parts, title string) error {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		return failed(p.Album.UpdateAlbum(ctx, &albumv1.UpdateAlbumRequest{ActorId: user, AlbumId: album, Title: &title}))
	}
	if err := failed(ahead.Account.CloseSession(t.Context(), &accountv1.CloseSessionRequest{UserId: user, Token: token})); err != nil {
		t.Fatal(err)
	}
	if err := retitle(ahead, "after"); err != nil {
		t.Fatal(err)
	}
	later := ahead.newAlbum(user, "later")
	if err := retitle(behind, "lost"); !isUnanswered(err) {
		t.Errorf("a write through the primary that was left behind: got %v", err)
	}
	for deadline := time.After(30 * time.Second); !isUnanswered(behind.isOpen(user, token)); {
		select {
		case <-deadline:
			t.Fatal("a session that was closed is still verified by the primary that was left behind")
		case <-time.After(50 * time.Millisecond):
		}
	}
	follower.poll(t)
	rejoin()
	follower.await(t, map[int64]string{album: "after", later: "later"})
}

// copyOfTitles follows the changes of albums.
type copyOfTitles struct {
	of     *waybook
	token  string
	titles map[int64]string
}

// poll reads what has changed. A call may fail while no majority answers.
func (c *copyOfTitles) poll(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	page, err := c.of.Change.ListChanges(ctx, &changev1.ListChangesRequest{Kind: typev1.Kind_KIND_ALBUM, PageToken: c.token})
	read := &albumv1.BatchGetAlbumsRequest{}
	for _, each := range page.GetChanges() {
		read.AlbumIds = append(read.AlbumIds, each.GetId())
	}
	var found *albumv1.BatchGetAlbumsResponse
	if err == nil && len(read.GetAlbumIds()) > 0 {
		found, err = c.of.Album.BatchGetAlbums(ctx, read)
	}
	switch {
	case isUnanswered(err):
		return
	case err != nil:
		t.Fatal(err)
	}
	for _, each := range found.GetAlbums() {
		c.titles[each.GetAlbumId()] = each.GetTitle()
	}
	c.token = page.GetNextPageToken()
}

// await polls until the copy has the titles that are wanted.
func (c *copyOfTitles) await(t *testing.T, want map[int64]string) {
	t.Helper()
	for deadline := time.After(30 * time.Second); !c.has(want); {
		select {
		case <-deadline:
			t.Fatalf("the copy of a follower has %v, want %v", c.titles, want)
		case <-time.After(20 * time.Millisecond):
			c.poll(t)
		}
	}
}

func (c *copyOfTitles) has(want map[int64]string) bool {
	for id, title := range want {
		if c.titles[id] != title {
			return false
		}
	}
	return true
}

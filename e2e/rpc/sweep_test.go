package rpc_test

import (
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
)

func TestASweepRemovesOnlyTheRemainsOfDeletedContent(t *testing.T) {
	p := startParts(t)
	ctx, owner := t.Context(), p.newUser("a")
	var albums, blogs, pois [2]int64
	for i := range 2 {
		albums[i], blogs[i], pois[i] = p.newAlbum(owner, "x"), p.newBlog(owner), p.newPoi(owner, "x")
		for _, err := range []error{
			failed(p.album.AddPhoto(ctx, &albumv1.AddPhotoRequest{ActorId: owner, AlbumId: albums[i], ThumbnailUrl: "x"})),
			failed(p.album.AddComment(ctx, &albumv1.AddCommentRequest{AuthorId: owner, AlbumId: albums[i], Text: "x"})),
			failed(p.blog.AddComment(ctx, &blogv1.AddCommentRequest{AuthorId: owner, BlogId: blogs[i], Text: "x"})),
			failed(p.blog.CastBallot(ctx, &blogv1.CastBallotRequest{VoterId: owner, BlogId: blogs[i], Choice: 1})),
			failed(p.poi.AddPhoto(ctx, &poiv1.AddPhotoRequest{ActorId: owner, PoiId: pois[i], PhotoUrl: "x"})),
			failed(p.poi.AddComment(ctx, &poiv1.AddCommentRequest{AuthorId: owner, PoiId: pois[i], Text: "x"})),
		} {
			got(t, 0, err)
		}
	}
	children := []string{"album_photos", "album_comments", "blog_comments", "blog_ballots", "poi_photos", "poi_comments"}
	bins := []string{"album_trash", "blog_trash", "poi_trash"}
	expect := func(when string, collections []string, want int64) {
		t.Helper()
		for _, collection := range collections {
			if n := p.store.count(t, collection); n != want {
				t.Errorf("%s: %d documents in %s, want %d", when, n, collection, want)
			}
		}
	}
	expect("before", children, 2)
	for _, err := range []error{
		failed(p.album.DeleteAlbum(ctx, &albumv1.DeleteAlbumRequest{ActorId: owner, AlbumId: albums[0]})),
		failed(p.blog.DeleteBlog(ctx, &blogv1.DeleteBlogRequest{ActorId: owner, BlogId: blogs[0]})),
		failed(p.poi.DeletePoi(ctx, &poiv1.DeletePoiRequest{ActorId: owner, PoiId: pois[0]})),
	} {
		got(t, 0, err)
	}
	p.sweep()
	expect("after a sweep", children, 1)
	expect("after a sweep", bins, 1)
	p.advance(time.Hour)
	p.sweep()
	expect("an hour later", children, 1)
	expect("an hour later", bins, 0)
	if left := p.getAlbum(albums[1]); len(left.GetPhotos()) != 1 || len(left.GetComments()) != 1 {
		t.Errorf("the other album is %v", left)
	}
	if votes := p.votes(blogs[1]); votes != [3]int64{1, 0, 0} {
		t.Errorf("the other entry has votes %v", votes)
	}
}

func TestASessionExpiresAndASweepRemovesIt(t *testing.T) {
	p := startParts(t)
	user := p.newUser("a")
	request := &accountv1.VerifySessionRequest{UserId: user, Token: must(p.account.OpenSession(t.Context(), &accountv1.OpenSessionRequest{UserId: user}))(t).GetToken()}
	p.advance(sessionTTL - time.Millisecond)
	if _, err := p.account.VerifySession(t.Context(), request); err != nil {
		t.Errorf("a millisecond before the end: %v", err)
	}
	p.sweep()
	if n := p.store.count(t, "sessions"); n != 1 {
		t.Errorf("the sweep left %d sessions, one is open", n)
	}
	p.advance(time.Millisecond)
	expectFault(t, failed(p.account.VerifySession(t.Context(), request)), codes.Unauthenticated, "LOGIN_REQUIRED")
	p.sweep()
	if n := p.store.count(t, "sessions"); n != 0 {
		t.Errorf("the sweep left %d sessions", n)
	}
}

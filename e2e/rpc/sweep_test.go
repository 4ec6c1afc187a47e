package rpc_test

import (
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

func TestASweepRemovesOnlyTheRemainsOfDeletedContent(t *testing.T) {
	p := startParts(t)
	owner := p.newUser("a")
	deleted, spared := map[string]int64{}, map[string]int64{}
	for _, k := range p.kinds() {
		for _, ids := range []map[string]int64{deleted, spared} {
			id := k.create(owner, "x")
			ids[k.name] = id
			must(k.send(t.Context(), "AddComment", fields{"author_id": owner, "id": id, "text": "x"}))(t)
			if k.hasPhotos() {
				must(k.send(t.Context(), "AddPhoto", fields{"actor_id": owner, "id": id, "photo": "x"}))(t)
			} else {
				must(k.send(t.Context(), "CastBallot", fields{"voter_id": owner, "id": id, "choice": int32(1)}))(t)
			}
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
	for _, k := range p.kinds() {
		must(k.send(t.Context(), "Delete", fields{"actor_id": owner, "id": deleted[k.name]}))(t)
	}
	p.sweep()
	expect("after a sweep", children, 1)
	expect("after a sweep", bins, 1)
	p.advance(time.Hour)
	p.sweep()
	expect("an hour later", children, 1)
	expect("an hour later", bins, 0)
	for _, k := range p.kinds() {
		left := k.get(spared[k.name])
		if len(readAll[proto.Message](left, "comments")) != 1 || k.hasPhotos() && len(readAll[proto.Message](left, "photos")) != 1 {
			t.Errorf("what was not deleted is %v", left)
		}
	}
	if votes := p.votes(spared["Blog"]); votes != [3]int64{1, 0, 0} {
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

package rpc_test

import (
	"slices"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

// votes returns the votes for the choices of an entry.
func (w *waybook) votes(blog int64) (numbers []int64) {
	w.t.Helper()
	for _, c := range w.getBlog(blog).GetBlog().GetVote().GetChoices() {
		numbers = append(numbers, c.GetVotes())
	}
	return numbers
}

func TestASweepRemovesOnlyTheRemainsOfDeletedContent(t *testing.T) {
	t.Parallel()
	onEachEngine(t, sweepsOnlyRemains)
}

func sweepsOnlyRemains(t *testing.T, p *parts) {
	owner := p.newUser("a")
	deleted, spared := map[string]int64{}, map[string]int64{}
	for _, k := range p.kinds() {
		for _, ids := range []map[string]int64{deleted, spared} {
			id := k.create(owner, "x")
			ids[k.name] = id
			must(k.send(t.Context(), "AddComment", fields{"author_id": owner, "id": id, "text": "x"}))(t)
			if k.hasPhotos() {
				must(k.send(t.Context(), "AddPhoto", fields{"actor_id": owner, "id": id, "url": "x"}))(t)
			} else {
				must(k.send(t.Context(), "CastBallot", fields{"voter_id": owner, "id": id, "choice": int32(1)}))(t)
			}
		}
	}
	children := []string{"album_photos", "album_comments", "blog_comments", "blog_ballots", "poi_photos", "poi_comments"}
	expect := func(when string, wantChildren, wantTombstones int64) {
		t.Helper()
		for _, collection := range children {
			if n := p.store.count(t, collection); n != wantChildren {
				t.Errorf("%s: %d documents in %s, want %d", when, n, collection, wantChildren)
			}
		}
		for _, collection := range []string{"albums", "blogs", "pois"} {
			if n := p.store.countTombstones(t, collection); n != wantTombstones {
				t.Errorf("%s: %d tombstones in %s, want %d", when, n, collection, wantTombstones)
			}
		}
	}
	expect("before", 2, 0)
	for _, k := range p.kinds() {
		must(k.send(t.Context(), "Delete", fields{"actor_id": owner, "id": deleted[k.name]}))(t)
	}
	p.Sweep()
	expect("after a sweep", 1, 1)
	// A source whose clock is behind may still draw the identifiers.
	p.store.clock.advance(23 * time.Hour)
	p.Sweep()
	expect("23 hours later", 1, 1)
	p.store.clock.advance(2 * time.Hour)
	p.Sweep()
	expect("25 hours later", 1, 0)
	for _, k := range p.kinds() {
		left := k.get(spared[k.name])
		if len(readAll[proto.Message](left, "comments")) != 1 || k.hasPhotos() && len(readAll[proto.Message](left, "photos")) != 1 {
			t.Errorf("what was not deleted is %v", left)
		}
	}
	if votes := p.votes(spared["Blog"]); !slices.Equal(votes, []int64{1, 0, 0}) {
		t.Errorf("the other entry has votes %v", votes)
	}
}

func TestASessionExpiresAndASweepRemovesIt(t *testing.T) {
	t.Parallel()
	p := startParts(t)
	user := p.newUser("a")
	request := &accountv1.VerifySessionRequest{UserId: user, Token: must(p.Account.OpenSession(t.Context(), &accountv1.OpenSessionRequest{UserId: user}))(t).GetToken()}
	p.Clock.Advance(sessionTTL - time.Millisecond)
	if _, err := p.Account.VerifySession(t.Context(), request); err != nil {
		t.Errorf("a millisecond before the end: %v", err)
	}
	p.Sweep()
	if n := p.store.count(t, "sessions"); n != 1 {
		t.Errorf("the sweep left %d sessions, one is open", n)
	}
	p.Clock.Advance(time.Millisecond)
	expectFault(t, failed(p.Account.VerifySession(t.Context(), request)), codes.Unauthenticated, "LOGIN_REQUIRED")
	p.Sweep()
	if n := p.store.count(t, "sessions"); n != 0 {
		t.Errorf("the sweep left %d sessions", n)
	}
}

package rpc_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/waybook/waybook/e2e/mongotest"
	"github.com/waybook/waybook/e2e/mongowire"
	"github.com/waybook/waybook/internal/content"
	"github.com/waybook/waybook/internal/content/integrity"
	"github.com/waybook/waybook/internal/id"
	"github.com/waybook/waybook/internal/longform"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// check looks for violated constraints in the store.
func (p *parts) check() {
	p.t.Helper()
	if findings := p.findings(integrity.Look); len(findings) > 0 {
		p.t.Errorf("a check found %+v", findings)
	}
}

func (p *parts) findings(mode integrity.Mode) (all []integrity.Finding) {
	p.t.Helper()
	for _, each := range p.Services {
		constrained, ok := each.(content.Service)
		if !ok {
			continue
		}
		for _, constraint := range constrained.Constraints() {
			findings, err := constraint.Check(p.t.Context(), mode, func(string, int64) {})
			if err != nil {
				p.t.Errorf("a check of %s: %v", constraint.Children, err)
			}
			all = append(all, findings...)
		}
	}
	return all
}

func TestAnAlbumMovesInWithAllThatBelongsToIt(t *testing.T) {
	t.Parallel()
	p := startParts(t)
	owner, friend := p.newUser("a"), p.newUser("b")
	results := p.moveAlbums(nil, fullAlbum("4711", owner, 100, friend, owner))
	expectOutcomes(t, results, created)
	if want := id.OfOld(4711, id.PlaceOf(owner)); results[0].GetId() != want {
		t.Errorf("it is %d, want %d", results[0].GetId(), want)
	}
	reply := must(p.Album.GetAlbum(t.Context(), &albumv1.GetAlbumRequest{AlbumId: 4711}))(t)
	album := reply.GetAlbum()
	if album.GetTitle() != "舊相簿 4711" || album.GetScore() != 9 || !proto.Equal(album.GetCreateTime(), longAgo(0)) || !proto.Equal(album.GetUpdateTime(), longAgo(5)) {
		t.Errorf("got %v", album)
	}
	if len(reply.GetPhotos()) != 3 || reply.GetPhotos()[2].GetDescription() != "photo 2" || reply.GetPhotos()[2].GetPhotoId() != id.OfOld(102, id.PlaceOf(owner)) {
		t.Errorf("photos %v", reply.GetPhotos())
	}
	if len(reply.GetComments()) != 4 {
		t.Fatalf("comments %v", reply.GetComments())
	}
	first, second := reply.GetComments()[0], reply.GetComments()[1]
	if first.GetAuthor().GetUserId() != 0 || first.GetAuthor().GetName() != "路人" || first.GetAuthor().GetIconUrl() != "guest.png" || first.GetReply().GetText() != "reply 0" {
		t.Errorf("the first comment is %v", first)
	}
	if second.GetAuthor().GetName() != "a" || second.GetReply() != nil || !proto.Equal(second.GetCreateTime(), longAgo(1)) {
		t.Errorf("the second comment is %v", second)
	}
	p.check()
	again := must(p.Album.Recommend(t.Context(), &albumv1.RecommendRequest{AlbumId: 4711, UserId: friend}))(t)
	if again.GetScore() != 9 {
		t.Errorf("a recommendation that was moved in counted again: %v", again)
	}
	withdrawn := must(p.Album.WithdrawRecommendation(t.Context(), &albumv1.WithdrawRecommendationRequest{AlbumId: 4711, UserId: friend}))(t)
	if withdrawn.GetScore() != 8 {
		t.Errorf("after a withdrawal the score is %v", withdrawn)
	}
	p.check()
}

// onEachEngine runs a test on an embedded store, and in the long form on MongoDB's wire protocol behind a mongos. The
// latter refuses commands on sharded collections that neither name a place nor say that they ask all.
func onEachEngine(t *testing.T, test func(*testing.T, *parts)) {
	t.Run("embedded", func(t *testing.T) { test(t, startParts(t)) })
	t.Run("mongos", func(t *testing.T) {
		longform.Only(t)
		server := mongotest.StartServer(t, mongowire.Config{Role: mongowire.Router, Shards: 3})
		store := newBrittleOverWire(t, server.URI(mongotest.Database()))
		store.clock = &advancing{}
		server.SetClock(store.clock.now)
		test(t, startPartsOn(t, store))
	})
}

func TestTheSameRecordsChangeNothing(t *testing.T) { onEachEngine(t, theSameRecordsChangeNothing) }

func theSameRecordsChangeNothing(t *testing.T, p *parts) {
	a, b := p.newUser("a"), p.newUser("b")
	albums := []*albumv1.MovedAlbum{fullAlbum("1", a, 100, b), fullAlbum("2", b, 200), fullAlbum("IMG-7", a, 300, a, b)}
	albums[2].Photos[1].OldId, albums[2].Comments[1].OldId = "DSC_1", "c-1"
	blogs := []*blogv1.MovedBlog{fullBlog("1", a, 100, a, b), movedBlog("2", b), fullBlog("x", b, 200, a)}
	pois := []*poiv1.MovedPoi{fullPoi("1", a, 100), movedPoi("2", b), fullPoi("y", b, 200)}
	for _, options := range []*typev1.MoveOptions{nil, nil, updating} {
		want := unchanged
		if p.store.count(t, "albums") == 0 {
			want = created
		}
		expectOutcomes(t, p.moveAlbums(options, albums...), want, want, want)
		expectOutcomes(t, p.moveBlogs(options, blogs...), want, want, want)
		expectOutcomes(t, p.movePois(options, pois...), want, want, want)
		for collection, n := range map[string]int64{
			"albums": 3, "album_photos": 9, "album_comments": 12, "album_recommendations": 3, "album_aliases": 3,
			"blogs": 3, "blog_comments": 6, "blog_ballots": 3, "blog_recommendations": 3, "blog_aliases": 3,
			"pois": 3, "poi_photos": 4, "poi_comments": 4, "poi_recommendations": 2, "poi_aliases": 3,
		} {
			if count := p.store.count(t, collection); count != n {
				t.Errorf("%s has %d documents, want %d", collection, count, n)
			}
		}
		p.check()
	}
}

func TestAnEntryMovesInWithItsVote(t *testing.T) {
	t.Parallel()
	p := startParts(t)
	a, b, c := p.newUser("a"), p.newUser("b"), p.newUser("c")
	expectOutcomes(t, p.moveBlogs(nil, fullBlog("5", a, 100, a, b)), created)
	blog := must(p.Blog.GetBlog(t.Context(), &blogv1.GetBlogRequest{BlogId: 5}))(t).GetBlog()
	if votes := p.votes(5); !slices.Equal(votes, []int64{11, 1, 1}) || blog.GetScore() != 2 || blog.GetReward() != 25 || blog.GetZoomLevel() != 14 {
		t.Errorf("votes %v in %v", votes, blog)
	}
	cast := must(p.Blog.CastBallot(t.Context(), &blogv1.CastBallotRequest{BlogId: 5, VoterId: c, Choice: 1}))(t)
	if cast.GetVote().GetChoices()[0].GetVotes() != 12 {
		t.Errorf("after a ballot: %v", cast)
	}
	expectFault(t, failed(p.Blog.CastBallot(t.Context(), &blogv1.CastBallotRequest{BlogId: 5, VoterId: b, Choice: 1})), codes.AlreadyExists, "ALREADY_VOTED")
	p.Sweep()
	if n := p.store.count(t, "rewards"); n != 0 {
		t.Errorf("%d rewards were granted again", n)
	}
	p.check()
}

func TestAQuoteIsCompletedWhenTheQuotedEntryIsThere(t *testing.T) {
	t.Parallel()
	p := startParts(t)
	a, b := p.newUser("a"), p.newUser("b")
	quoting := movedBlog("10", a)
	quoting.QuotedOldId = "20"
	results := p.moveBlogs(nil, quoting)
	expectOutcomes(t, results, created)
	if !results[0].GetIsQuoteMissing() {
		t.Error("the missing quote was not reported")
	}
	both := movedBlog("11", a)
	both.QuotedOldId = "20"
	results = p.moveBlogs(nil, both, movedBlog("20", b))
	expectOutcomes(t, results, created, created)
	if results[0].GetIsQuoteMissing() {
		t.Error("an entry of the same request is missing")
	}
	results = p.moveBlogs(nil, quoting)
	expectOutcomes(t, results, updated)
	for _, blogID := range []int64{10, 11} {
		reply := must(p.Blog.GetBlog(t.Context(), &blogv1.GetBlogRequest{BlogId: blogID}))(t)
		if quoted := reply.GetBlog().GetReplyBlogId(); quoted != id.OfOld(20, id.PlaceOf(b)) {
			t.Errorf("entry %d quotes %d", blogID, quoted)
		}
	}
	expectOutcomes(t, p.moveBlogs(nil, quoting), unchanged)
}

func TestAnUpdateMakesContentEqualToItsRecord(t *testing.T) {
	t.Parallel()
	onEachEngine(t, anUpdateMakesContentEqualToItsRecord)
}

func anUpdateMakesContentEqualToItsRecord(t *testing.T, p *parts) {
	a, b, c := p.newUser("a"), p.newUser("b"), p.newUser("c")
	expectOutcomes(t, p.moveAlbums(nil, fullAlbum("1", a, 100, a, b)), created)
	// What users have added since stays.
	must(p.Album.AddPhoto(t.Context(), &albumv1.AddPhotoRequest{ActorId: a, AlbumId: 1, ThumbnailUrl: "new.jpg"}))(t)
	must(p.Album.Recommend(t.Context(), &albumv1.RecommendRequest{AlbumId: 1, UserId: c}))(t)

	changed := fullAlbum("1", a, 100, a)
	changed.Title, changed.UnnamedScore = "新", 8
	changed.Photos = append(changed.Photos[:2], &albumv1.MovedPhoto{OldId: "150", ThumbnailUrl: "late.jpg"})
	changed.Photos[0].Description = "changed"
	changed.Comments = changed.Comments[1:]
	changed.Comments[0].Author = &typev1.MovedComment_Guest{Guest: &typev1.Guest{Name: "gone"}}
	expectOutcomes(t, p.moveAlbums(nil, changed), different)
	dry := &typev1.MoveOptions{Update: true, ValidateOnly: true}
	expectOutcomes(t, p.moveAlbums(dry, changed), updated)
	expectOutcomes(t, p.moveAlbums(nil, fullAlbum("1", a, 100, a, b)), different) // since its owner has added a photo
	expectOutcomes(t, p.moveAlbums(updating, changed), updated)
	expectOutcomes(t, p.moveAlbums(updating, changed), unchanged)
	p.check()
	reply, err := p.Album.GetAlbum(t.Context(), &albumv1.GetAlbumRequest{AlbumId: 1})
	var shown []string
	for _, photo := range got(t, reply, err).GetPhotos() {
		shown = append(shown, photo.GetThumbnailUrl()+photo.GetDescription())
	}
	if want := []string{"old/0.jpgchanged", "old/1.jpgphoto 1", "late.jpg", "new.jpg"}; !slices.Equal(shown, want) {
		t.Errorf("photos %q, want %q", shown, want)
	}
	if reply.GetAlbum().GetTitle() != "新" || reply.GetAlbum().GetScore() != 10 || len(reply.GetComments()) != 3 || reply.GetComments()[0].GetAuthor().GetName() != "gone" {
		t.Errorf("got %v", reply)
	}
}

func TestSplitContentIsVisibleWithItsLastRecord(t *testing.T) {
	t.Parallel()
	onEachEngine(t, splitContentIsVisibleWithItsLastRecord)
}

func splitContentIsVisibleWithItsLastRecord(t *testing.T, p *parts) {
	a, b := p.newUser("a"), p.newUser("b")
	first, second, last := fullAlbum("1", a, 100, a), fullAlbum("1", a, 200, b), fullAlbum("1", a, 300)
	first.Continues, second.Continues, second.Part, last.Part = true, true, 1, 2
	for range 2 {
		expectOutcomes(t, p.moveAlbums(nil, first), created)
	}
	expectFault(t, failed(p.Album.GetAlbum(t.Context(), &albumv1.GetAlbumRequest{AlbumId: 1})), codes.NotFound, "ALBUM_NOT_FOUND")
	// An operator runs store check --fix meanwhile.
	if findings := p.findings(integrity.Repair); len(findings) != 3 {
		t.Errorf("a check found %+v", findings)
	}
	// The last two come in one request.
	expectOutcomes(t, p.moveAlbums(nil, second, last), created, created)
	reply := must(p.Album.GetAlbum(t.Context(), &albumv1.GetAlbumRequest{AlbumId: 1}))(t)
	if len(reply.GetPhotos()) != 9 || len(reply.GetComments()) != 12 || reply.GetAlbum().GetScore() != 9 {
		t.Errorf("got %v", reply)
	}
	p.check()
	expectOutcomes(t, p.moveAlbums(updating, first, second, last), unchanged, unchanged, unchanged)
	p.check()
}

func TestRecordsAreRefusedOneByOne(t *testing.T) {
	t.Parallel()
	p := startParts(t)
	a, b := p.newUser("a"), p.newUser("b")
	expectOutcomes(t, p.moveAlbums(nil, fullAlbum("1", a, 100)), created)
	long := movedAlbum("2", a)
	long.Title = strings.Repeat("長", 201)
	nobody := movedAlbum("3", 999)
	foreign := movedAlbum("1", b)
	stolen := fullAlbum("5", a, 100)
	control := movedAlbum("6", a)
	control.Comments = []*typev1.MovedComment{{OldId: "7", Author: &typev1.MovedComment_AuthorId{AuthorId: a}, CreateTime: longAgo(0), Text: "\x00"}}
	results := p.moveAlbums(nil, long, nobody, foreign, movedAlbum("4", a), movedAlbum("4", a), stolen, control)
	for i, want := range []struct{ field, reason string }{
		{"title", "INVALID_PARAMETER"}, {"", "USER_NOT_FOUND"}, {"", "OWNER_CHANGED"}, {}, {"", "REPEATED"}, {}, {"comments[0].text", "INVALID_PARAMETER"},
	} {
		if want.reason != "" {
			expectProblem(t, results[i], want.field, want.reason)
			if results[i].GetOutcome() != refused {
				t.Errorf("record %d: %v", i, results[i])
			}
		}
	}
	expectOutcomes(t, results[3:4], created)
	if problems := results[5].GetProblems(); results[5].GetOutcome() != created || len(problems) != 7 ||
		problems[0].GetField() != "comments[0].old_id" || problems[6].GetField() != "photos[2].old_id" || problems[6].GetReason() != "ID_TAKEN" {
		t.Errorf("children under another album: %v", results[5])
	}
	expectOutcomes(t, p.moveAlbums(&typev1.MoveOptions{Widen: []typev1.Limit{typev1.Limit_LIMIT_TITLE}}, long), created)
	p.check()
}

func TestDeletedContentIsMovedInAgainOnlyByIntent(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(t *testing.T, p *parts) {
		a := p.newUser("a")
		albums := []*albumv1.MovedAlbum{fullAlbum("1", a, 100), fullAlbum("one", a, 200)}
		results := p.moveAlbums(nil, albums...)
		expectOutcomes(t, results, created, created)
		for _, each := range results {
			must(p.Album.DeleteAlbum(t.Context(), &albumv1.DeleteAlbumRequest{ActorId: a, AlbumId: each.GetId()}))(t)
		}
		// The deletion is kept for a nanosecond, and no source draws such identifiers.
		for _, passes := range []time.Duration{0, time.Minute, 10 * time.Minute, 90 * 24 * time.Hour} {
			for _, options := range []*typev1.MoveOptions{nil, updating, {ValidateOnly: true}} {
				for _, result := range p.moveAlbums(options, albums...) {
					expectProblem(t, result, "", "DELETED")
				}
			}
			p.store.clock.advance(passes)
			p.Sweep()
		}
		expectOutcomes(t, p.moveAlbums(&typev1.MoveOptions{Revive: true}, albums...), created, created)
		p.Sweep()
		expectOutcomes(t, p.moveAlbums(nil, albums...), unchanged, unchanged)
		p.check()
	})
}

func TestPhotosAndCommentsThatUsersRemovedComeBackOnlyByIntent(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(t *testing.T, p *parts) {
		a := p.newUser("a")
		album, entry, landmark := fullAlbum("1", a, 100), fullBlog("one", a, 200), fullPoi("3", a, 300)
		album.Photos[1].OldId, album.Comments[1].OldId = "DSC_1", "c-1"
		move := func(options *typev1.MoveOptions) (results []*typev1.MoveResult) {
			return slices.Concat(p.moveAlbums(options, album), p.moveBlogs(options, entry), p.movePois(options, landmark))
		}
		results := move(nil)
		expectOutcomes(t, results, created, created, created)
		albumID, blogID, poiID := results[0].GetId(), results[1].GetId(), results[2].GetId()
		shown := must(p.Album.GetAlbum(t.Context(), &albumv1.GetAlbumRequest{AlbumId: albumID}))(t)
		for n := range 2 {
			must(p.Album.RemovePhoto(t.Context(), &albumv1.RemovePhotoRequest{ActorId: a, AlbumId: albumID, PhotoId: shown.GetPhotos()[n].GetPhotoId()}))(t)
			must(p.Album.RemoveComment(t.Context(), &albumv1.RemoveCommentRequest{ActorId: a, AlbumId: albumID, CommentId: shown.GetComments()[n].GetCommentId()}))(t)
		}
		must(p.Blog.RemoveComment(t.Context(), &blogv1.RemoveCommentRequest{ActorId: a, BlogId: blogID, CommentId: 200}))(t)
		must(p.Poi.RemovePhoto(t.Context(), &poiv1.RemovePhotoRequest{ActorId: a, PoiId: poiID, PhotoId: 300}))(t)
		must(p.Poi.RemoveComment(t.Context(), &poiv1.RemoveCommentRequest{ActorId: a, PoiId: poiID, CommentId: 300}))(t)
		count := func() []int64 {
			var counts []int64
			for _, each := range []string{"album_photos", "album_comments", "blog_comments", "poi_photos", "poi_comments"} {
				counts = append(counts, p.store.count(t, each))
			}
			return counts
		}
		before := count()
		for _, options := range []*typev1.MoveOptions{nil, {Update: true, ValidateOnly: true}, updating, updating} {
			results := move(options)
			if deleted := results[0].GetDeleted(); deleted.GetPhotos() != 2 || deleted.GetComments() != 2 {
				t.Errorf("of the album were deleted: %v", deleted)
			}
			if deleted := results[2].GetDeleted(); deleted.GetPhotos() != 1 || deleted.GetComments() != 1 || results[1].GetDeleted().GetComments() != 1 {
				t.Errorf("of the landmark were deleted: %v, and of the entry %v", deleted, results[1].GetDeleted())
			}
			expectProblem(t, results[1], "comments[0]", "DELETED")
			if after := count(); !slices.Equal(after, before) {
				t.Errorf("there were %v, and after %v there are %v", before, options, after)
			}
		}
		for _, result := range move(updating) {
			if result.GetOutcome() != unchanged {
				t.Errorf("a second update: %v", result)
			}
		}
		reviving := &typev1.MoveOptions{Update: true, Revive: true}
		expectOutcomes(t, move(&typev1.MoveOptions{Update: true, Revive: true, ValidateOnly: true}), updated, updated, updated)
		expectOutcomes(t, move(reviving), updated, updated, updated)
		expectOutcomes(t, move(updating), unchanged, unchanged, unchanged)
		if after := count(); !slices.Equal(after, []int64{3, 4, 3, 2, 2}) {
			t.Errorf("after a revival there are %v", after)
		}
		p.check()
	})
}

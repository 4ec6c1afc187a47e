package rpc_test

import (
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/waybook/waybook/internal/platform/service"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
	"github.com/waybook/waybook/standalone/app"
)

const (
	isCreated = typev1.ChangeKind_CHANGE_KIND_CREATED
	isChanged = typev1.ChangeKind_CHANGE_KIND_CHANGED
	isDeleted = typev1.ChangeKind_CHANGE_KIND_DELETED
)

// catchUp returns the changes after a token until now, and the token behind them. It creates a
// resource and reads until it sees it.
func (f feed) catchUp(t *testing.T, token string, size int32) (all []change, next string) {
	t.Helper()
	for marker := f.create("marker"); ; {
		page := must(f.list(token, size, true))(t)
		if size > 0 && len(page.changes) > int(size) || page.next == "" {
			t.Fatalf("a page of %d has %d changes and the token %q", size, len(page.changes), page.next)
		}
		token = page.next
		for i, each := range page.changes {
			if each.id == marker {
				return append(all, page.changes[:i]...), token
			}
		}
		all = append(all, page.changes...)
	}
}

func settleFast(c *app.Config) { c.Changes = service.Changes{Settling: settling} }

func TestEachFeedHasWhatWasCreatedChangedAndDeleted(t *testing.T) {
	w := start(t, settleFast)
	owner := w.newUser("owner")
	for name, f := range w.feeds(t.Context(), owner) {
		t.Run(name, func(t *testing.T) {
			first, second := f.create("first"), f.create("second")
			all, token := f.catchUp(t, "", 1)
			kinds := map[int64]typev1.ChangeKind{}
			for _, each := range all {
				kinds[each.id] = each.kind
			}
			if kinds[first] != isCreated || kinds[second] != isCreated {
				t.Errorf("from nothing: %v", all)
			}
			third := f.create("third")
			for _, err := range []error{f.change(first, "changed"), f.remove(second), f.change(third, "new")} {
				got(t, 0, err)
			}
			for _, size := range []int32{0, 1, 2} {
				all, _ := f.catchUp(t, token, size)
				all = slices.DeleteFunc(all, func(c change) bool { return c.title == "marker" })
				byID := map[int64]change{}
				for _, each := range all {
					byID[each.id] = each
				}
				if len(byID) != 3 || len(all) != 3 {
					t.Fatalf("pages of %d: %v", size, all)
				}
				if c := byID[first]; c.kind != isChanged || c.title != "changed" || c.parts.GetContent() != 2 || c.revision < 2 {
					t.Errorf("the changed one: %v", c)
				}
				if c := byID[second]; c.kind != isDeleted || c.isShown || c.revision != 0 || c.parts != nil {
					t.Errorf("the deleted one: %v", c)
				}
				if c := byID[third]; c.kind != isCreated || c.title != "new" {
					t.Errorf("the new one: %v", c)
				}
			}
			page := must(f.list(token, 0, false))(t)
			if len(page.changes) == 0 || page.changes[0].isShown {
				t.Errorf("without resources: %v", page.changes)
			}
		})
	}
}

func TestAChangeTellsWhichPartChanged(t *testing.T) {
	w := start(t, settleFast)
	ctx, owner, other := t.Context(), w.newUser("owner"), w.newUser("other")
	feeds := w.feeds(ctx, owner)
	album, blog, poi := w.newAlbum(owner, "x"), w.newBlog(owner), w.newPoi(owner, "x")
	var albumPhoto, poiPhoto, albumComment, blogComment, poiComment int64
	tokens, had := map[string]string{}, map[string]*typev1.PartRevisions{}
	for _, step := range []struct {
		feed, name, part string
		call             func() error
	}{
		{"Album", "AddPhoto", "photos", func() error {
			r, err := w.album.AddPhoto(ctx, &albumv1.AddPhotoRequest{ActorId: owner, AlbumId: album, ThumbnailUrl: "x"})
			albumPhoto = r.GetPhoto().GetPhotoId()
			return err
		}},
		{"Album", "UpdatePhoto", "photos", func() error {
			return failed(w.album.UpdatePhoto(ctx, &albumv1.UpdatePhotoRequest{ActorId: owner, AlbumId: album, PhotoId: albumPhoto, Description: proto.String("y")}))
		}},
		{"Album", "RemovePhoto", "photos", func() error {
			return failed(w.album.RemovePhoto(ctx, &albumv1.RemovePhotoRequest{ActorId: owner, AlbumId: album, PhotoId: albumPhoto}))
		}},
		{"Album", "AddComment", "comments", func() error {
			r, err := w.album.AddComment(ctx, &albumv1.AddCommentRequest{AuthorId: other, AlbumId: album, Text: "x"})
			albumComment = r.GetComment().GetCommentId()
			return err
		}},
		{"Album", "ReplyToComment", "comments", func() error {
			return failed(w.album.ReplyToComment(ctx, &albumv1.ReplyToCommentRequest{ActorId: owner, AlbumId: album, CommentId: albumComment, Text: "x"}))
		}},
		{"Album", "RemoveComment", "comments", func() error {
			return failed(w.album.RemoveComment(ctx, &albumv1.RemoveCommentRequest{ActorId: owner, AlbumId: album, CommentId: albumComment}))
		}},
		{"Album", "Recommend", "numbers", func() error {
			return failed(w.album.Recommend(ctx, &albumv1.RecommendRequest{UserId: other, AlbumId: album}))
		}},
		{"Album", "WithdrawRecommendation", "numbers", func() error {
			return failed(w.album.WithdrawRecommendation(ctx, &albumv1.WithdrawRecommendationRequest{UserId: other, AlbumId: album}))
		}},
		{"Album", "UpdateAlbum", "content", func() error { return feeds["Album"].change(album, "y") }},
		{"Blog", "AddComment", "comments", func() error {
			r, err := w.blog.AddComment(ctx, &blogv1.AddCommentRequest{AuthorId: other, BlogId: blog, Text: "x"})
			blogComment = r.GetComment().GetCommentId()
			return err
		}},
		{"Blog", "ReplyToComment", "comments", func() error {
			return failed(w.blog.ReplyToComment(ctx, &blogv1.ReplyToCommentRequest{ActorId: owner, BlogId: blog, CommentId: blogComment, Text: "x"}))
		}},
		{"Blog", "CastBallot", "numbers", func() error {
			return failed(w.blog.CastBallot(ctx, &blogv1.CastBallotRequest{VoterId: other, BlogId: blog, Choice: 1}))
		}},
		{"Blog", "Recommend", "numbers", func() error {
			return failed(w.blog.Recommend(ctx, &blogv1.RecommendRequest{UserId: other, BlogId: blog}))
		}},
		{"Blog", "UpdateBlog", "content", func() error { return feeds["Blog"].change(blog, "y") }},
		{"Poi", "AddPhoto", "photos", func() error {
			r, err := w.poi.AddPhoto(ctx, &poiv1.AddPhotoRequest{ActorId: owner, PoiId: poi, PhotoUrl: "x"})
			poiPhoto = r.GetPhoto().GetPhotoId()
			return err
		}},
		{"Poi", "RemovePhoto", "photos", func() error {
			return failed(w.poi.RemovePhoto(ctx, &poiv1.RemovePhotoRequest{ActorId: owner, PoiId: poi, PhotoId: poiPhoto}))
		}},
		{"Poi", "AddComment", "comments", func() error {
			r, err := w.poi.AddComment(ctx, &poiv1.AddCommentRequest{AuthorId: other, PoiId: poi, Text: "x"})
			poiComment = r.GetComment().GetCommentId()
			return err
		}},
		{"Poi", "RemoveComment", "comments", func() error {
			return failed(w.poi.RemoveComment(ctx, &poiv1.RemoveCommentRequest{ActorId: owner, PoiId: poi, CommentId: poiComment}))
		}},
		{"Poi", "UpdatePoi", "content", func() error { return feeds["Poi"].change(poi, "y") }},
	} {
		f, id := feeds[step.feed], map[string]int64{"Album": album, "Blog": blog, "Poi": poi}[step.feed]
		find := func() {
			all, next := f.catchUp(t, tokens[step.feed], 0)
			tokens[step.feed] = next
			for _, each := range all {
				if each.id == id {
					had[step.feed] = each.parts
				}
			}
		}
		if had[step.feed] == nil {
			find()
		}
		before := partsOf(had[step.feed])
		got(t, 0, step.call())
		find()
		after := partsOf(had[step.feed])
		for part, revision := range after {
			if isRaised := revision > before[part]; isRaised != (part == step.part) {
				t.Errorf("%s %s: revisions %v after %v", step.feed, step.name, after, before)
				break
			}
		}
	}
}

func partsOf(parts *typev1.PartRevisions) map[string]int64 {
	return map[string]int64{
		"content": parts.GetContent(), "photos": parts.GetPhotos(), "comments": parts.GetComments(), "numbers": parts.GetNumbers(),
	}
}

func TestContentThatIsImportedOrMovedInIsInTheFeed(t *testing.T) {
	w := start(t, settleFast)
	ctx, owner := t.Context(), w.newUser("owner")
	feeds := w.feeds(ctx, owner)
	tokens := map[string]string{}
	for name, f := range feeds {
		_, tokens[name] = f.catchUp(t, "", 0)
	}
	albumID := must(w.album.MoveInAlbums(ctx, &albumv1.MoveInAlbumsRequest{Albums: []*albumv1.MovedAlbum{movedAlbum("1", owner)}}))(t).GetResults()[0].GetId()
	movedAgain := movedAlbum("1", owner)
	movedAgain.Comments = append(movedAgain.Comments, &typev1.MovedComment{OldId: "new", Author: &typev1.MovedComment_AuthorId{AuthorId: owner}, Text: "new", CreateTime: movedAgain.GetCreateTime()})
	must(w.poi.MoveInPois(ctx, &poiv1.MoveInPoisRequest{Pois: []*poiv1.MovedPoi{movedPoi("1", owner)}}))(t)
	imports, err := w.poi.ImportPois(ctx)
	got(t, 0, err)
	got(t, 0, errors.Join(imports.Send(batchOf(owner, importedPoi("a", "imported"))), imports.CloseSend()))
	if err := imports.RecvMsg(&poiv1.ImportPoisResponse{}); err != nil {
		t.Fatal(err)
	}
	all, token := feeds["Album"].catchUp(t, tokens["Album"], 0)
	if len(all) != 1 || all[0].id != albumID || all[0].kind != isCreated {
		t.Errorf("moved in: %v", all)
	}
	before := all[0].parts
	reply := must(w.album.MoveInAlbums(ctx, &albumv1.MoveInAlbumsRequest{
		Options: &typev1.MoveOptions{Update: true}, Albums: []*albumv1.MovedAlbum{movedAgain},
	}))(t)
	if result := reply.GetResults()[0]; result.GetOutcome() != typev1.MoveOutcome_MOVE_OUTCOME_UPDATED {
		t.Fatalf("moved in again: %v", result)
	}
	all, _ = feeds["Album"].catchUp(t, token, 0)
	if len(all) != 1 || all[0].kind != isChanged || all[0].parts.GetComments() <= before.GetComments() || all[0].parts.GetPhotos() != before.GetPhotos() {
		t.Errorf("moved in again: %v after %v", all, before)
	}
	all, _ = feeds["Poi"].catchUp(t, tokens["Poi"], 0)
	if len(all) != 2 || all[1].title != "imported" {
		t.Errorf("imported: %v", all)
	}
}

func TestATokenOfAnotherFeedIsRefusedAndAnOldOneHasToStartAnew(t *testing.T) {
	p := startParts(t)
	owner := p.newUser("owner")
	feeds := p.feeds(t.Context(), owner)
	tokens := map[string]string{}
	for name, f := range feeds {
		_, tokens[name] = f.catchUp(t, "", 0)
	}
	names := slices.Sorted(maps.Keys(feeds))
	for i, name := range names {
		f := feeds[name]
		for _, token := range []string{"x", tokens[names[(i+1)%len(names)]]} {
			expectFault(t, failed(f.list(token, 0, false)), codes.InvalidArgument, "INVALID_PARAMETER", "page_token")
		}
		expectFault(t, failed(f.list("", 1001, false)), codes.InvalidArgument, "INVALID_PARAMETER", "page_size")
		expectFault(t, failed(f.list("", -1, false)), codes.InvalidArgument, "INVALID_PARAMETER", "page_size")
		got(t, 0, f.remove(f.create("x")))
		p.sweep() // it keeps a deletion no longer than a nanosecond
		expectFault(t, failed(f.list(tokens[name], 0, false)), codes.FailedPrecondition, "START_ANEW")
		receive := must(f.watch(t.Context(), tokens[name]))(t)
		expectFault(t, failed(receive()), codes.FailedPrecondition, "START_ANEW")
		if page, err := f.list("", 0, false); err != nil || len(page.changes) == 0 {
			t.Errorf("%s anew: %v, %v", name, page, err)
		}
	}
}

func TestAWatchSendsWhatChangesAndEndsWithTheService(t *testing.T) {
	w, stop := startStoppable(t, settleFast)
	owner := w.newUser("owner")
	receives := map[string]func() (changePage, error){}
	for name, f := range w.feeds(t.Context(), owner) {
		receive := must(f.watch(t.Context(), ""))(t)
		next := until(t, receive, f.create("first"), isCreated)
		receive = must(f.watch(t.Context(), next))(t)
		until(t, receive, f.create("second"), isCreated)
		third := f.create("third")
		until(t, receive, third, isCreated)
		got(t, 0, f.remove(third))
		until(t, receive, third, isDeleted)
		receives[name] = receive
	}
	stop()
	for name, receive := range receives {
		err := error(nil)
		for err == nil {
			_, err = receive()
		}
		if !errors.Is(err, io.EOF) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// until receives batches until one has a change, and returns its token.
func until(t *testing.T, receive func() (changePage, error), id int64, kind typev1.ChangeKind) (next string) {
	t.Helper()
	for {
		batch := must(receive())(t)
		if batch.next == "" {
			t.Fatal("a batch has no token")
		}
		if slices.ContainsFunc(batch.changes, func(c change) bool { return c.id == id && c.kind == kind }) {
			return batch.next
		}
	}
}

func TestAFeedHasALimitedNumberOfWatches(t *testing.T) {
	const most = 100
	w := start(t, settleFast)
	ctx, cancel := context.WithCancel(t.Context())
	f := w.feeds(t.Context(), w.newUser("owner"))["Album"]
	_, token := f.catchUp(t, "", 0)
	for i := range most {
		receive := must(f.watch(ctx, token))(t)
		page, err := receive() // the first batch comes at once
		if got(t, page, err); page.next == "" {
			t.Fatalf("watch %d has no token", i)
		}
	}
	receive := must(f.watch(t.Context(), token))(t)
	expectFault(t, failed(receive()), codes.ResourceExhausted, "SERVICE_BUSY")
	cancel()
	for { // a place is free once a server has noticed
		receive := must(f.watch(t.Context(), token))(t)
		err := failed(receive())
		if err == nil {
			return
		}
		expectFault(t, err, codes.ResourceExhausted, "SERVICE_BUSY")
	}
}

package rpc_test

import (
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/waybook/waybook/internal/platform/service"
	"github.com/waybook/waybook/internal/waybooktest"
	moveinv1 "github.com/waybook/waybook/proto/gen/waybook/movein/v1"
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

var settleFast = waybooktest.Config(func(c *app.Config) { c.Changes = service.Changes{Settling: settling} })

func TestEachFeedHasWhatWasCreatedChangedAndDeleted(t *testing.T) {
	t.Parallel()
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
	t.Parallel()
	w := start(t, settleFast)
	owner, other := w.newUser("owner"), w.newUser("other")
	feeds := w.feeds(t.Context(), owner)
	for _, k := range w.kinds() {
		t.Run(k.service, func(t *testing.T) {
			var photo, comment int64
			steps := []struct {
				method, part string
				values       fields
			}{
				{"AddComment", "comments", fields{"author_id": other, "text": "x"}},
				{"ReplyToComment", "comments", fields{"actor_id": owner, "comment_id": &comment, "text": "x"}},
				{"RemoveComment", "comments", fields{"actor_id": owner, "comment_id": &comment}},
				{"Recommend", "numbers", fields{"user_id": other}},
				{"Withdraw", "numbers", fields{"user_id": other}},
				{"Update", "content", fields{"actor_id": owner, "title": "y"}},
				{"AddPhoto", "photos", fields{"actor_id": owner, "url": "x"}},
				{"UpdatePhoto", "photos", fields{"actor_id": owner, "photo_id": &photo, "description": "y"}},
				{"RemovePhoto", "photos", fields{"actor_id": owner, "photo_id": &photo}},
			}
			if !k.hasPhotos() {
				steps = append(steps[:6], struct {
					method, part string
					values       fields
				}{"CastBallot", "numbers", fields{"voter_id": other, "choice": int32(1)}})
			}
			id, token := k.create(owner, "x"), ""
			// revisions returns those of the content since the last call.
			revisions := func() (found map[string]int64) {
				all, next := feeds[k.name].catchUp(t, token, 0)
				token = next
				for _, each := range all {
					if each.id == id {
						found = partsOf(each.parts)
					}
				}
				return found
			}
			before := revisions()
			for _, step := range steps {
				etag := read[string](k.shown(id), "etag")
				reply := must(k.send(t.Context(), step.method, step.values.and(fields{"id": id})))(t)
				switch step.method {
				case "AddComment":
					comment = read[int64](reply, "comment.comment_id")
				case "AddPhoto":
					photo = read[int64](reply, "photo.photo_id")
				}
				// The etag has the update time, which tells of the owner's changes only (rule 4.6).
				isOwners := step.part == "content" || step.part == "photos"
				if now := read[string](k.shown(id), "etag"); (now != etag) != isOwners {
					t.Errorf("%s: the etag is %s after %s", step.method, now, etag)
				}
				after := revisions()
				for part, revision := range after {
					if isRaised := revision > before[part]; isRaised != (part == step.part) {
						t.Errorf("%s: revisions %v after %v", step.method, after, before)
						break
					}
				}
				if after == nil {
					t.Fatalf("%s is not in the feed", step.method)
				}
				before = after
			}
		})
	}
}

func partsOf(parts *typev1.PartRevisions) map[string]int64 {
	return map[string]int64{
		"content": parts.GetContent(), "photos": parts.GetPhotos(), "comments": parts.GetComments(), "numbers": parts.GetNumbers(),
	}
}

func TestContentThatIsImportedOrMovedInIsInTheFeed(t *testing.T) {
	t.Parallel()
	w := start(t, settleFast)
	ctx, owner := t.Context(), w.newUser("owner")
	feeds := w.feeds(ctx, owner)
	tokens := map[string]string{}
	for name, f := range feeds {
		_, tokens[name] = f.catchUp(t, "", 0)
	}
	records := whole("album", "1", owner, 1)
	albumID := w.moveRecords(records[0])[0].GetId()
	expectAll(t, w.moveRecords(whole("landmark", "1", owner, 1)[0]), inserted)
	must(w.importPois(ctx, batchOf(owner, importedPoi("a", "imported"))))(t)
	all, token := feeds["Album"].catchUp(t, tokens["Album"], 0)
	if len(all) != 1 || all[0].id != albumID || all[0].kind != isCreated {
		t.Errorf("moved in: %v", all)
	}
	for _, one := range []*moveinv1.Record{records[5], records[4], records[6]} {
		before := all[0].parts
		expectAll(t, w.moveRecords(one), inserted)
		if all, token = feeds["Album"].catchUp(t, token, 0); len(all) != 1 || all[0].kind != isChanged || all[0].parts.GetComments() <= before.GetComments() || all[0].parts.GetPhotos() != before.GetPhotos() {
			t.Fatalf("%v moved in: %v after %v", one, all, before)
		}
	}
	all, _ = feeds["Poi"].catchUp(t, tokens["Poi"], 0)
	if len(all) != 2 || all[1].title != "imported" {
		t.Errorf("imported: %v", all)
	}
}

func TestAFeedFromATimeHasWhatWasMadeAndDeletedSince(t *testing.T) {
	t.Parallel()
	p := startParts(t)
	owner := p.newUser("owner")
	for name, f := range p.feeds(t.Context(), owner) {
		old, gone := f.create("old"), f.create("gone")
		p.store.clock.advance(time.Minute)
		start := p.store.clock.now()
		got(t, 0, f.remove(gone))
		made := f.create("new")
		kinds := map[int64]typev1.ChangeKind{}
		page := must(f.since(start, ""))(t)
		for ; ; page = must(f.list(page.next, 0, false))(t) {
			for _, each := range page.changes {
				kinds[each.id] = each.kind
			}
			if kinds[made] != 0 {
				break
			}
		}
		if kinds[gone] != isDeleted || kinds[made] != isCreated || kinds[old] != 0 {
			t.Errorf("%s: since then: %v; %d was deleted, %d made, and %d is older", name, kinds, gone, made, old)
		}
		for _, err := range []error{failed(f.since(start, page.next)), failed(f.since(time.Unix(-1, 0), "")), failed(f.since(time.Unix(1<<32, 0), ""))} {
			expectFault(t, err, codes.InvalidArgument, "INVALID_PARAMETER", "start_time")
		}
	}
}

func TestATokenOfAnotherFeedIsRefusedAndAnOldOneHasToStartAnew(t *testing.T) {
	t.Parallel()
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
		must(f.list("", 1001, false))(t)
		expectFault(t, failed(f.list("", -1, false)), codes.InvalidArgument, "INVALID_PARAMETER", "page_size")
		got(t, 0, f.remove(f.create("x")))
		p.store.clock.advance(25 * time.Hour) // no source can draw the identifier
		p.Sweep()                             // it keeps a deletion no longer than a nanosecond
		expectFault(t, failed(f.list(tokens[name], 0, false)), codes.FailedPrecondition, "START_ANEW")
		receive := must(f.watch(t.Context(), tokens[name]))(t)
		expectFault(t, failed(receive()), codes.FailedPrecondition, "START_ANEW")
		if page, err := f.list("", 0, false); err != nil || len(page.changes) == 0 {
			t.Errorf("%s anew: %v, %v", name, page, err)
		}
	}
}

func TestAWatchSendsWhatChangesAndEndsWithTheService(t *testing.T) {
	t.Parallel()
	w := start(t, settleFast)
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
	w.Stop()
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
	t.Parallel()
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

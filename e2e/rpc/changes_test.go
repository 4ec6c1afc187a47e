package rpc_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/waybook/waybook/internal/platform/service"
	"github.com/waybook/waybook/internal/waybooktest"
	changev1 "github.com/waybook/waybook/proto/gen/waybook/change/v1"
	moveinv1 "github.com/waybook/waybook/proto/gen/waybook/movein/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
	"github.com/waybook/waybook/standalone/app"
)

const (
	isCreated = changev1.Change_TYPE_CREATED
	isChanged = changev1.Change_TYPE_CHANGED
	isDeleted = changev1.Change_TYPE_DELETED
)

var settleFast = waybooktest.Config(func(c *app.Config) { c.Changes = service.Changes{Settling: settling} })

func TestTheChangesOfEachKindHaveWhatWasCreatedChangedAndDeleted(t *testing.T) {
	t.Parallel()
	w := start(t, settleFast)
	owner := w.newUser("owner")
	for name, f := range w.feeds(t.Context(), owner) {
		t.Run(name, func(t *testing.T) {
			first, second := f.create("first"), f.create("second")
			all, token := f.catchUp(t, "", 1)
			if all[first] != isCreated || all[second] != isCreated {
				t.Errorf("from nothing: %v", all)
			}
			third := f.create("third")
			for _, err := range []error{f.change(first, "changed"), f.remove(second), f.change(third, "new")} {
				got(t, 0, err)
			}
			for _, size := range []int32{0, 1, 2} {
				want := changeTypes{first: isChanged, second: isDeleted, third: isCreated}
				if all, _ := f.catchUp(t, token, size); !maps.Equal(all, want) {
					t.Errorf("pages of %d: got %v, want %v", size, all, want)
				}
			}
		})
	}
}

func TestWhatBelongsToContentChangesIt(t *testing.T) {
	t.Parallel()
	w := start(t, settleFast)
	owner, other := w.newUser("owner"), w.newUser("other")
	feeds := w.feeds(t.Context(), owner)
	for _, k := range w.kinds() {
		t.Run(k.service, func(t *testing.T) {
			var photo, comment int64
			steps := []struct {
				method   string
				isOwners bool
				values   fields
			}{
				{"AddComment", false, fields{"author_id": other, "text": "x"}},
				{"ReplyToComment", false, fields{"actor_id": owner, "comment_id": &comment, "text": "x"}},
				{"RemoveComment", false, fields{"actor_id": owner, "comment_id": &comment}},
				{"Recommend", false, fields{"user_id": other}},
				{"Withdraw", false, fields{"user_id": other}},
				{"Update", true, fields{"actor_id": owner, "title": "y"}},
				{"AddPhoto", true, fields{"actor_id": owner, "url": "x"}},
				{"UpdatePhoto", true, fields{"actor_id": owner, "photo_id": &photo, "description": "y"}},
				{"RemovePhoto", true, fields{"actor_id": owner, "photo_id": &photo}},
			}
			if !k.hasPhotos() {
				steps = append(steps[:6], struct {
					method   string
					isOwners bool
					values   fields
				}{"CastBallot", false, fields{"voter_id": other, "choice": int32(1)}})
			}
			id := k.create(owner, "x")
			_, token := feeds[k.name].catchUp(t, "", 0)
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
				if now := read[string](k.shown(id), "etag"); (now != etag) != step.isOwners {
					t.Errorf("%s: the etag is %s after %s", step.method, now, etag)
				}
				var all changeTypes
				if all, token = feeds[k.name].catchUp(t, token, 0); !maps.Equal(all, changeTypes{id: isChanged}) {
					t.Errorf("%s: got %v", step.method, all)
				}
			}
		})
	}
}

func TestContentThatIsImportedOrMovedInIsListed(t *testing.T) {
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
	if !maps.Equal(all, changeTypes{albumID: isCreated}) {
		t.Errorf("moved in: %v", all)
	}
	for _, one := range []*moveinv1.Record{records[5], records[4], records[6]} {
		expectAll(t, w.moveRecords(one), inserted)
		if all, token = feeds["Album"].catchUp(t, token, 0); !maps.Equal(all, changeTypes{albumID: isChanged}) {
			t.Fatalf("%v moved in: %v", one, all)
		}
	}
	if all, _ = feeds["Poi"].catchUp(t, tokens["Poi"], 0); len(all) != 2 {
		t.Errorf("imported: %v", all)
	}
}

func TestChangesFromATimeAreThoseSince(t *testing.T) {
	t.Parallel()
	p := startParts(t)
	owner := p.newUser("owner")
	for name, f := range p.feeds(t.Context(), owner) {
		old, gone := f.create("old"), f.create("gone")
		p.store.clock.advance(time.Minute)
		start := p.store.clock.now()
		got(t, 0, f.remove(gone))
		made := f.create("new")
		page := must(f.since(start, ""))(t)
		all := changeTypes{}
		for _, each := range page.GetChanges() {
			all[each.GetId()] = each.GetType()
		}
		if all[gone] != isDeleted || all[made] != isCreated || all[old] != 0 {
			t.Errorf("%s: since then: %v; %d was deleted, %d made, and %d is older", name, all, gone, made, old)
		}
		for _, err := range []error{
			failed(f.since(start, page.GetNextPageToken())), failed(f.since(time.Unix(-1, 0), "")), failed(f.since(time.Unix(1<<32, 0), "")),
		} {
			expectFault(t, err, codes.InvalidArgument, "INVALID_PARAMETER", "start_time")
		}
	}
}

func TestATokenOfAnotherKindIsRefusedAndAnOldOneHasToStartAnew(t *testing.T) {
	t.Parallel()
	p := startParts(t)
	owner := p.newUser("owner")
	feeds := p.feeds(t.Context(), owner)
	tokens := map[string]string{}
	for name, f := range feeds {
		f.create("first")
		_, tokens[name] = f.catchUp(t, "", 0)
	}
	names := slices.Sorted(maps.Keys(feeds))
	for i, name := range names {
		f := feeds[name]
		for _, token := range []string{"x", tokens[names[(i+1)%len(names)]]} {
			expectFault(t, failed(f.list(token, 0)), codes.InvalidArgument, "INVALID_PARAMETER", "page_token")
		}
		must(f.list("", 1001))(t)
		expectFault(t, failed(f.list("", -1)), codes.InvalidArgument, "INVALID_PARAMETER", "page_size")
		got(t, 0, f.remove(f.create("x")))
		p.store.clock.advance(25 * time.Hour) // no source can draw the identifier
		p.Sweep()                             // it keeps a deletion no longer than a nanosecond
		expectFault(t, failed(f.list(tokens[name], 0)), codes.FailedPrecondition, "START_ANEW")
		if page, err := f.list("", 0); err != nil || len(page.GetChanges()) == 0 {
			t.Errorf("%s anew: %v, %v", name, page, err)
		}
	}
	unknown := p.feed(t.Context(), typev1.Kind_KIND_UNSPECIFIED)
	expectFault(t, failed(unknown.list("", 0)), codes.InvalidArgument, "INVALID_PARAMETER", "kind")
}

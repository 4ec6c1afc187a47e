package rpc_test

import (
	"context"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/waybook/waybook/e2e/mongotest"
	"github.com/waybook/waybook/e2e/mongowire"
	"github.com/waybook/waybook/internal/longform"
	"github.com/waybook/waybook/internal/platform/service"
	"github.com/waybook/waybook/internal/waybooktest"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
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

// feed lists the changes of a kind, and makes some.
type feed struct {
	kind typev1.Kind
	list func(token string, size int32) (*changev1.ListChangesResponse, error)
	// since is list with a start_time.
	since func(start time.Time, token string) (*changev1.ListChangesResponse, error)
	// create, change and remove write a resource with a title, or a name.
	create func(title string) int64
	change func(id int64, title string) error
	remove func(id int64) error
}

// changeTypes are the latest changes of resources, by their identifiers.
type changeTypes = map[int64]changev1.Change_Type

// catchUp returns the changes after a token until now, and a token after which nothing is listed again.
func (f feed) catchUp(t *testing.T, token string, size int32) (all changeTypes, next string) {
	t.Helper()
	all = changeTypes{}
	for isNew := true; isNew; time.Sleep(settling) {
		isNew = false
		for hasMore := true; hasMore; {
			page := must(f.list(token, size))(t)
			if size > 0 && len(page.GetChanges()) > int(size) || page.GetNextPageToken() == "" {
				t.Fatalf("a page of %d has %d changes and the token %q", size, len(page.GetChanges()), page.GetNextPageToken())
			}
			for _, each := range page.GetChanges() {
				all[each.GetId()], isNew = each.GetType(), true
			}
			token, hasMore = page.GetNextPageToken(), page.GetHasMore()
		}
	}
	return all, token
}

// feeds returns the feeds of all services.
func (w *waybook) feeds(ctx context.Context, owner int64) map[string]feed {
	users := w.feed(ctx, typev1.Kind_KIND_USER)
	users.create = w.newUser
	users.change = func(id int64, title string) error {
		return failed(w.Account.UpdateUser(ctx, &accountv1.UpdateUserRequest{UserId: id, Name: &title}))
	}
	users.remove = func(id int64) error {
		if err := failed(w.Account.UpdateUser(ctx, &accountv1.UpdateUserRequest{UserId: id, Disabled: new(true)})); err != nil {
			return err
		}
		return failed(w.Account.DeleteUser(ctx, &accountv1.DeleteUserRequest{UserId: id}))
	}
	all := map[string]feed{"User": users}
	for i, k := range w.kinds() {
		f := w.feed(ctx, []typev1.Kind{typev1.Kind_KIND_ALBUM, typev1.Kind_KIND_BLOG, typev1.Kind_KIND_POI}[i])
		f.create = func(title string) int64 { return k.create(owner, title) }
		f.change = func(id int64, title string) error {
			return failed(k.send(ctx, "Update", fields{"actor_id": owner, "id": id, "title": title}))
		}
		f.remove = func(id int64) error { return failed(k.send(ctx, "Delete", fields{"actor_id": owner, "id": id})) }
		all[k.name] = f
	}
	return all
}

// feed returns the feed of a kind without writes.
func (w *waybook) feed(ctx context.Context, kind typev1.Kind) feed {
	return feed{
		kind: kind,
		since: func(start time.Time, token string) (*changev1.ListChangesResponse, error) {
			return w.Change.ListChanges(ctx, &changev1.ListChangesRequest{Kind: kind, StartTime: timestamppb.New(start), PageToken: token})
		},
		list: func(token string, size int32) (*changev1.ListChangesResponse, error) {
			return w.Change.ListChanges(ctx, &changev1.ListChangesRequest{Kind: kind, PageToken: token, PageSize: size})
		},
	}
}

// onBothEngines runs a test on the embedded store, and in the long form on MongoDB's wire protocol.
func onBothEngines(t *testing.T, test func(t *testing.T, w *waybook)) {
	t.Run("embedded", func(t *testing.T) { test(t, start(t, settleFast)) })
	t.Run("mongo", func(t *testing.T) {
		longform.Only(t)
		server := mongotest.StartServer(t, mongowire.Config{})
		test(t, start(t, settleFast, waybooktest.OnMongoDB(server.URI(mongotest.Database()))))
	})
}

func TestAnUpdateThatChangesNothingChangesNothing(t *testing.T) {
	t.Parallel()
	onBothEngines(t, func(t *testing.T, w *waybook) {
		owner, other := w.newUser("a"), w.newUser("b")
		feeds := w.feeds(t.Context(), owner)
		for _, k := range w.kinds() {
			id := k.create(owner, "title")
			same := k.valid(owner, "title", nil)
			delete(same, "owner")
			delete(same, "vote")
			updates := []fields{same, {"title": "title"}, {}}
			photo := fields{"actor_id": owner, "id": id, "url": "https://a.example/1.jpg", "description": ""}
			switch k.name {
			case "Blog":
				updates = append(updates, fields{"reply_blog_id": int64(0)})
			case "Album":
				updates = append(updates, fields{"lat": taipei.GetLat()})
			}
			if k.hasPhotos() {
				reply, err := k.send(t.Context(), "AddPhoto", photo)
				photo["photo_id"] = read[int64](got(t, reply, err), "photo.photo_id")
			}
			comment := fields{"actor_id": owner, "id": id, "text": "thanks"}
			reply, err := k.send(t.Context(), "AddComment", fields{"author_id": owner, "id": id, "text": "fine"})
			comment["comment_id"] = read[int64](got(t, reply, err), "comment.comment_id")
			must(k.send(t.Context(), "ReplyToComment", comment))(t)
			shown := k.get(id)
			_, token := feeds[k.name].catchUp(t, "", 100)
			for _, update := range updates {
				must(k.send(t.Context(), "Update", update.and(fields{"actor_id": owner, "id": id})))(t)
			}
			expectFault(t, failed(k.send(t.Context(), "Update", same.and(fields{"actor_id": other, "id": id}))), codes.PermissionDenied, "NOT_OWNER")
			expectFault(t, failed(k.send(t.Context(), "Update", same.and(fields{"actor_id": owner, "id": id + 1}))), codes.NotFound, k.missing)
			if k.hasPhotos() {
				must(k.send(t.Context(), "UpdatePhoto", photo))(t)
			}
			must(k.send(t.Context(), "ReplyToComment", comment))(t)
			if diff := cmp.Diff(shown, k.get(id), protocmp.Transform()); diff != "" {
				t.Errorf("%s: (-want +got)\n%s", k.name, diff)
			}
			if changes, _ := feeds[k.name].catchUp(t, token, 100); len(changes) > 0 {
				t.Errorf("%s: %v are listed", k.name, changes)
			}
		}
		_, token := feeds["User"].catchUp(t, "", 100)
		must(w.Account.UpdateUser(t.Context(), &accountv1.UpdateUserRequest{UserId: owner, Name: new("a"), Disabled: new(false)}))(t)
		if changes, _ := feeds["User"].catchUp(t, token, 100); len(changes) > 0 {
			t.Errorf("users %v are listed", changes)
		}
	})
}

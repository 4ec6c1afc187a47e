package rpc_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/fieldmaskpb"

	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

func mask(paths ...string) *fieldmaskpb.FieldMask { return &fieldmaskpb.FieldMask{Paths: paths} }

// masked is an update with a mask, and what it changes or violates.
type masked struct {
	name         string
	paths        []string
	update, want fields
	violations   []string
}

// expectMasked makes updates of a resource, one after the other. call has the fields of each request, and
// path is that of the resource in the reply.
func (k kind) expectMasked(t *testing.T, method string, call fields, resource proto.Message, path string, updates []masked) {
	t.Helper()
	want := proto.Clone(resource)
	for _, each := range updates {
		t.Run(k.service+" "+path+": "+each.name, func(t *testing.T) {
			reply, err := k.send(t.Context(), method, call.and(each.update).and(fields{"update_mask": mask(each.paths...)}))
			if each.violations != nil {
				expectFault(t, err, codes.InvalidArgument, "INVALID_PARAMETER", each.violations...)
				return
			}
			updated := read[proto.Message](got(t, reply, err), path)
			k.set(want, each.want)
			for _, name := range []protoreflect.Name{"update_time", "etag"} {
				if changed := updated.ProtoReflect().Descriptor().Fields().ByName(name); changed != nil {
					updated.ProtoReflect().Clear(changed)
					want.ProtoReflect().Clear(changed)
				}
			}
			if diff := cmp.Diff(want, updated, protocmp.Transform()); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestAMaskChangesExactlyTheNamedFieldsOfContent(t *testing.T) {
	t.Parallel()
	w := start(t)
	owner := w.newUser("a")
	elsewhere := at(1, 2)
	all := fields{"title": "new", "category": 7, "location": elsewhere}
	leapDay, quoted := &typev1.Date{Year: 2028, Month: 2, Day: 29}, w.newBlog(owner)
	updates := map[string][]masked{
		"Album": {
			{"one of all", []string{"title"}, all, fields{"title": "new"}, nil},
			{"unnamed fields are ignored", []string{"title"}, fields{"title": "newer", "lat": 91.0, "category": 99}, fields{"title": "newer"}, nil},
			{"a part of the location", []string{"lat"}, all.and(fields{"lat": -3.0}), fields{"location": at(-3, taipei.GetLng())}, nil},
			{"a part that is not set", []string{"lng"}, nil, fields{"location": at(-3, 0)}, nil},
			{"all", []string{"*"}, all, all, nil},
			{"an empty mask", nil, fields{"title": "last"}, fields{"title": "last"}, nil},
			{"a latitude alone", nil, fields{"lat": 0.0}, fields{"location": at(0, elsewhere.GetLng())}, nil},
			{"a longitude alone", nil, fields{"lng": -180.0}, fields{"location": at(0, -180)}, nil},
			{"all without any", []string{"*"}, nil, nil, []string{"title", "category", "location"}},
			{"what is required", []string{"title", "location"}, nil, nil, []string{"title", "location"}},
			{"unknown paths", []string{"titel", "title", "location.lat", "album_id", ""}, all, nil, slices.Repeat([]string{"update_mask"}, 4)},
			{"all and one", []string{"title", "*"}, all, nil, []string{"update_mask"}},
			{"too many paths", slices.Repeat([]string{"title"}, 101), all, nil, []string{"update_mask"}},
			{"a control character", []string{"ti\x00tle"}, all, nil, []string{"update_mask"}},
			{"a location and a part", []string{"location", "lat"}, all.and(fields{"lat": 1.0}), nil, []string{"location"}},
			{"a wrong value", []string{"location"}, fields{"location": at(91, 0)}, nil, []string{"location.lat"}},
		},
		"Blog": {
			{"nothing", nil, nil, nil, nil},
			{"a type and a place", nil, fields{"category": 4, "location": at(-90, 0)}, fields{"category": 4, "location": at(-90, 0)}, nil},
			{"texts", nil, fields{"title": "新", "content": "\r\n"}, fields{"title": "新", "content": "\r\n"}, nil},
			{"a date", nil, fields{"post_date": leapDay}, fields{"post_date": leapDay}, nil},
			{"weather", nil, fields{"weather": int(blogv1.Weather_WEATHER_SNOW)}, fields{"weather": int(blogv1.Weather_WEATHER_SNOW)}, nil},
			{"a map", nil, fields{"zoom_level": int32(0), "map_type": int(blogv1.MapType_MAP_TYPE_HYBRID)}, fields{"zoom_level": int32(0), "map_type": int(blogv1.MapType_MAP_TYPE_HYBRID)}, nil},
			{"no quote", nil, fields{"reply_blog_id": int64(0)}, fields{"reply_blog_id": int64(0)}, nil},
			{"a quote", nil, fields{"reply_blog_id": quoted}, fields{"reply_blog_id": quoted}, nil},
			{"a quote is removed", []string{"reply_blog_id"}, nil, fields{"reply_blog_id": int64(0)}, nil},
			{"defaults", []string{"zoom_level", "map_type"}, nil, fields{"zoom_level": int32(14), "map_type": int(blogv1.MapType_MAP_TYPE_MAP)}, nil},
			{"zero is a value", []string{"zoom_level"}, fields{"zoom_level": int32(0)}, fields{"zoom_level": int32(0)}, nil},
			{"all without any", []string{"*"}, nil, nil, []string{"type", "location", "title", "content", "post_date", "weather"}},
		},
		"Poi": {
			{"a name and a category", nil, fields{"title": "z", "category": 4}, fields{"title": "z", "category": 4}, nil},
			{"the location", []string{"location"}, fields{"title": "y", "location": elsewhere}, fields{"location": elsewhere}, nil},
			{"all need a category", []string{"*"}, fields{"title": "y", "location": elsewhere}, nil, []string{"category"}},
		},
	}
	for _, k := range w.kinds() {
		values := fields{}
		if k.name == "Blog" {
			values = fields{"zoom_level": int32(3), "map_type": int(blogv1.MapType_MAP_TYPE_SATELLITE), "reply_blog_id": quoted}
		}
		id := k.createWith(owner, "x", values)
		k.expectMasked(t, "Update", fields{"actor_id": owner, "id": id}, k.shown(id), k.lower(), updates[k.name])
	}
	both := &albumv1.UpdateAlbumRequest{ActorId: owner, AlbumId: w.newAlbum(owner, "x"), Location: elsewhere, Lng: proto.Float64(1)}
	expectFault(t, failed(w.Album.UpdateAlbum(t.Context(), both)), codes.InvalidArgument, "INVALID_PARAMETER", "location")
}

func TestAMaskChangesExactlyTheNamedFieldsOfAPhoto(t *testing.T) {
	t.Parallel()
	w := start(t)
	owner := w.newUser("a")
	updates := []masked{
		{"the description", []string{"description"}, fields{"description": "e"}, fields{"description": "e"}, nil},
		{"the description is cleared", []string{"description"}, nil, fields{"description": ""}, nil},
		{"the address is required", []string{"*"}, fields{"description": "e"}, nil, []string{"url"}},
		{"an unknown path", []string{"photo_url"}, nil, nil, []string{"update_mask"}},
	}
	for _, k := range w.kinds() {
		if !k.hasPhotos() {
			continue
		}
		call := fields{"actor_id": owner, "id": k.create(owner, "x")}
		photo := read[proto.Message](must(k.send(t.Context(), "AddPhoto", call.and(fields{"url": "x", "description": "d"})))(t), "photo")
		k.expectMasked(t, "UpdatePhoto", call.and(fields{"photo_id": read[int64](photo, "photo_id")}), photo, "photo", updates)
	}
}

func TestAMaskChangesExactlyTheNamedFieldsOfAUser(t *testing.T) {
	t.Parallel()
	w := start(t)
	k := w.users()
	user := must(w.Account.CreateUser(t.Context(), &accountv1.CreateUserRequest{
		Name: "x", IconUrl: "y", Email: "x@waybook.example", Password: "a long password",
	}))(t).GetUser()
	changed := fields{"name": "z", "email": "z@waybook.example"}
	k.expectMasked(t, "UpdateUser", fields{"user_id": user.GetUserId()}, user, "user", []masked{
		{"the icon is cleared", []string{"icon_url"}, nil, fields{"icon_url": ""}, nil},
		{"disabled", []string{"disabled"}, fields{"disabled": true}, fields{"disabled": true}, nil},
		{"all keep the password", []string{"*"}, changed.and(fields{"password": "another password"}), changed.and(fields{"disabled": false}), nil},
		{"what cannot be removed", []string{"email", "password"}, nil, nil, []string{"email", "password"}},
		{"the user is not changed", []string{"user_id"}, nil, nil, []string{"update_mask"}},
	})
	w.expectLogin("z@waybook.example", "a long password", user.GetUserId())
}

func TestAChangeWithAnEtagIsMadeOnlyInTheStateThatWasRead(t *testing.T) {
	t.Parallel()
	onBothEngines(t, func(t *testing.T, w *waybook) {
		owner, other := w.newUser("a"), w.newUser("b")
		for _, k := range w.kinds() {
			t.Run(k.name, func(t *testing.T) {
				id := k.create(owner, "title")
				etag := func() string { return read[string](k.shown(id), "etag") }
				update := func(actor int64, etag string, changes fields) error {
					return failed(k.send(t.Context(), "Update", changes.and(fields{"actor_id": actor, "id": id, "etag": etag})))
				}
				first := etag()
				must(k.send(t.Context(), "AddComment", fields{"author_id": other, "id": id, "text": "x"}))(t)
				must(k.send(t.Context(), "Recommend", fields{"user_id": other, "id": id}))(t)
				if etag() != first {
					t.Error("others have changed the etag")
				}
				expectFault(t, update(other, first, fields{"title": "b"}), codes.PermissionDenied, "NOT_OWNER")
				reply, err := k.send(t.Context(), "Update", fields{"actor_id": owner, "id": id, "title": "b", "etag": first})
				if shown := read[string](got(t, reply, err), k.lower()+".etag"); shown != etag() || shown == first {
					t.Errorf("the reply has the etag %q after %q, and a read %q", shown, first, etag())
				}
				for _, stale := range []string{first, "nonsense", "0-", "-1-1", "zzzzzzzzzzzzzzzzzzz-1"} {
					for _, changes := range []fields{{"title": "b"}, {"title": "c"}, {}} {
						expectFault(t, update(owner, stale, changes), codes.Aborted, "ETAG_MISMATCH")
						expectFault(t, update(other, stale, changes), codes.PermissionDenied, "NOT_OWNER")
					}
					expectFault(t, failed(k.send(t.Context(), "Delete", fields{"actor_id": owner, "id": id, "etag": stale})), codes.Aborted, "ETAG_MISMATCH")
					expectFault(t, failed(k.send(t.Context(), "Delete", fields{"actor_id": other, "id": id, "etag": stale})), codes.PermissionDenied, "NOT_OWNER")
				}
				if k.name == "Album" {
					expectFault(t, update(owner, first, fields{"lat": 1.0}), codes.Aborted, "ETAG_MISMATCH")
					reply, err := k.send(t.Context(), "Update", fields{"actor_id": owner, "id": id, "lat": 1.0, "etag": etag()})
					if shown := read[string](got(t, reply, err), "album.etag"); shown != etag() {
						t.Errorf("the reply has the etag %q, a read %q", shown, etag())
					}
				}
				if k.hasPhotos() {
					k.expectEtagsOfPhotos(t, owner, other, id)
				}
				must(k.send(t.Context(), "Delete", fields{"actor_id": owner, "id": id, "etag": etag()}))(t)
				expectFault(t, update(owner, first, fields{"title": "c"}), codes.NotFound, k.missing)
			})
		}
	})
}

func (k kind) expectEtagsOfPhotos(t *testing.T, owner, other, id int64) {
	t.Helper()
	reply, err := k.send(t.Context(), "AddPhoto", fields{"actor_id": owner, "id": id, "url": "https://a.example/" + long(600)})
	photo, etag := read[int64](got(t, reply, err), "photo.photo_id"), read[string](reply, "photo.etag")
	update := func(actor int64, etag, description string) error {
		reply, err = k.send(t.Context(), "UpdatePhoto", fields{"actor_id": actor, "id": id, "photo_id": photo, "description": description, "etag": etag})
		return err
	}
	remove := func(actor int64, etag string) error {
		return failed(k.send(t.Context(), "RemovePhoto", fields{"actor_id": actor, "id": id, "photo_id": photo, "etag": etag}))
	}
	got(t, 0, update(owner, etag, "first"))
	changed := read[string](reply, "photo.etag")
	expectFault(t, update(owner, etag, "second"), codes.Aborted, "ETAG_MISMATCH")
	expectFault(t, update(other, changed, "second"), codes.PermissionDenied, "NOT_OWNER")
	expectFault(t, remove(owner, etag), codes.Aborted, "ETAG_MISMATCH")
	expectFault(t, remove(other, changed), codes.PermissionDenied, "NOT_OWNER")
	got(t, 0, remove(owner, changed))
	expectFault(t, remove(owner, changed), codes.NotFound, "PHOTO_NOT_FOUND")
}

func TestOfConcurrentChangesWithOneEtagOneIsMade(t *testing.T) {
	t.Parallel()
	onBothEngines(t, func(t *testing.T, w *waybook) {
		owner := w.newUser("a")
		for _, k := range w.kinds() {
			id := k.create(owner, "title")
			etag := read[string](k.shown(id), "etag")
			var made atomic.Int32
			var all sync.WaitGroup
			for _, title := range []string{"b", "c", "d", "e"} {
				all.Go(func() {
					switch err := failed(k.send(t.Context(), "Update", fields{"actor_id": owner, "id": id, "title": title, "etag": etag})); status.Code(err) {
					case codes.OK:
						made.Add(1)
					case codes.Aborted:
					default:
						t.Error(err)
					}
				})
			}
			all.Wait()
			if made.Load() != 1 {
				t.Errorf("%s: %d changes were made", k.name, made.Load())
			}
		}
	})
}

// creates returns all RPCs that take a request id, each under its own content. text distinguishes
// the results of two calls. Each call returns an id.
func (w *waybook) creates(owner int64) map[string]func(ctx context.Context, actor int64, requestID, text string) (int64, error) {
	all := map[string]func(context.Context, int64, string, string) (int64, error){
		"CreateUser": func(ctx context.Context, _ int64, requestID, text string) (int64, error) {
			r, err := w.Account.CreateUser(ctx, &accountv1.CreateUserRequest{RequestId: requestID, Name: text})
			return r.GetUser().GetUserId(), err
		},
	}
	for _, k := range w.kinds() {
		all["Create"+k.name] = func(ctx context.Context, actor int64, requestID, text string) (int64, error) {
			reply, err := k.send(ctx, "Create", k.valid(actor, text, fields{"request_id": requestID}))
			return k.idIn(reply), err
		}
		if !k.hasPhotos() {
			continue
		}
		content := k.create(owner, "x")
		all[k.service+" AddPhoto"] = func(ctx context.Context, actor int64, requestID, text string) (int64, error) {
			reply, err := k.send(ctx, "AddPhoto", fields{"request_id": requestID, "actor_id": actor, "id": content, "url": text})
			return read[int64](reply, "photo.photo_id"), err
		}
	}
	for _, thread := range w.items(owner) {
		all[thread.service+" AddComment"] = func(ctx context.Context, actor int64, requestID, text string) (int64, error) {
			r, err := thread.add(ctx, actor, requestID, text)
			return r.GetCommentId(), err
		}
	}
	return all
}

func TestARepeatedRequestReturnsTheFirstResult(t *testing.T) {
	t.Parallel()
	w := start(t)
	owner, another := w.newUser("a"), w.newUser("b")
	for name, create := range w.creates(owner) {
		t.Run(name, func(t *testing.T) {
			first := must(create(t.Context(), owner, requestID(1), "first"))(t)
			again := must(create(t.Context(), owner, requestID(1), "first"))(t)
			if again != first {
				t.Errorf("made %d, then %d", first, again)
			}
			anothers, err := create(t.Context(), another, requestID(1), "second")
			switch name {
			case "CreateUser": // a user has no owner
				expectFault(t, err, codes.AlreadyExists, "REQUEST_ID_REUSED")
			case "album AddPhoto", "poi AddPhoto":
				expectFault(t, err, codes.PermissionDenied, "NOT_OWNER")
			default:
				if got(t, anothers, err) == first {
					t.Error("another user got the first result")
				}
			}
			const lower = "00000000-0000-4000-8000-0000000000af"
			first = must(create(t.Context(), owner, lower, "first"))(t)
			if again := must(create(t.Context(), owner, strings.ToUpper(lower), "first"))(t); again != first {
				t.Errorf("made %d, then %d with the same request_id in capitals", first, again)
			}
			expectFault(t, failed(create(t.Context(), owner, requestID(1), "second")), codes.AlreadyExists, "REQUEST_ID_REUSED")
			other := must(create(t.Context(), owner, requestID(2), "first"))(t)
			if other == first {
				t.Error("another request returned the same item")
			}
			for range 2 {
				if id := must(create(t.Context(), owner, "", "first"))(t); id == first || id == other {
					t.Error("a request without id returned the same item")
				}
			}
		})
	}
}

func TestARepeatAfterTheDeletionIsRefusedUntilTheDeletionIsForgotten(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(t *testing.T, p *parts) {
		owner, ctx := p.newUser("a"), t.Context()
		creates, feeds, first := p.creates(owner), p.feeds(ctx, owner), map[string]int64{}
		for name, feed := range feeds {
			first[name] = must(creates["Create"+name](ctx, owner, requestID(1), "x"))(t)
			got(t, 0, feed.remove(first[name]))
		}

		for _, passes := range []time.Duration{0, time.Hour} {
			p.store.clock.advance(passes)
			for name := range feeds {
				for _, text := range []string{"x", "another"} {
					expectFault(t, failed(creates["Create"+name](ctx, owner, requestID(1), text)), codes.NotFound, "GONE")
				}
			}
			p.Sweep()
		}
		p.store.clock.advance(24 * time.Hour)
		p.Sweep()
		for name := range feeds {
			if again := must(creates["Create"+name](ctx, owner, requestID(1), "x"))(t); again == first[name] {
				t.Errorf("Create%s made %d again", name, again)
			}
		}
	})
}

func TestARepeatMayNameTheDefaults(t *testing.T) {
	t.Parallel()
	w := start(t)
	request := newBlogRequest(w.newUser("a"))
	request.RequestId = requestID(1)
	id := must(w.Blog.CreateBlog(t.Context(), request))(t).GetBlog().GetBlogId()
	request.ZoomLevel, request.MapType = proto.Int32(14), blogv1.MapType_MAP_TYPE_MAP
	if must(w.Blog.CreateBlog(t.Context(), request))(t).GetBlog().GetBlogId() != id {
		t.Error("made a second entry")
	}
	request.ZoomLevel = proto.Int32(15)
	expectFault(t, failed(w.Blog.CreateBlog(t.Context(), request)), codes.AlreadyExists, "REQUEST_ID_REUSED")
}

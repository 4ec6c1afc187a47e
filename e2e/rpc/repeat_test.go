package rpc_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
)

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

func TestARepeatAfterAnUpdateIsComparedWithTheFirstRequest(t *testing.T) {
	t.Parallel()
	w := start(t)
	owner := w.newUser("a")
	request := &albumv1.CreateAlbumRequest{RequestId: requestID(1), OwnerId: owner, Title: "first", Category: 1, Location: taipei}
	id := must(w.Album.CreateAlbum(t.Context(), request))(t).GetAlbum().GetAlbumId()
	must(w.Album.UpdateAlbum(t.Context(), &albumv1.UpdateAlbumRequest{ActorId: owner, AlbumId: id, Title: proto.String("second")}))(t)
	if a := must(w.Album.CreateAlbum(t.Context(), request))(t).GetAlbum(); a.GetAlbumId() != id || a.GetTitle() != "second" {
		t.Errorf("got %v", a)
	}
	request.Title = "second"
	expectFault(t, failed(w.Album.CreateAlbum(t.Context(), request)), codes.AlreadyExists, "REQUEST_ID_REUSED")
}

package rpc_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/id"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	commentv1 "github.com/waybook/waybook/proto/gen/waybook/comment/v1"
	photov1 "github.com/waybook/waybook/proto/gen/waybook/photo/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

func boxed(south, west, north, east float64) *typev1.Box {
	return &typev1.Box{South: south, West: west, North: north, East: east}
}

// world returns the box of all points.
func world() *typev1.Box { return boxed(-90, -180, 90, 180) }

// boxed returns the fields of a list of the content of a category in a box, with changes.
func (k kind) boxed(box *typev1.Box, category int, changes fields) fields {
	values := fields{"box": box, "category": category, "view": int(typev1.View_VIEW_SUMMARY)}
	if k.name == "Blog" {
		values["publication"] = int(blogv1.BlogPublication_BLOG_PUBLICATION_PUBLISHED)
	}
	return values.and(changes)
}

// inBox walks the content of a category in a box in pages of a size.
func (k kind) inBox(t *testing.T, box *typev1.Box, category int, size int32) (ids []int64) {
	t.Helper()
	for token := ""; ; {
		reply, err := k.send(t.Context(), "List", k.boxed(box, category, fields{"page_size": size, "page_token": token}))
		ids = append(ids, summaryIDs(readAll[*typev1.Summary](got(t, reply, err), "summaries"))...)
		if token = read[string](reply, "next_page_token"); token == "" {
			slices.Sort(ids)
			return ids
		}
	}
}

func TestAllContentInABoxIsThere(t *testing.T) {
	t.Parallel()
	w := start(t)
	for _, k := range w.kinds() {
		t.Run(k.service, func(t *testing.T) {
			owner := w.newUser("a")
			var all, east, first []int64
			for i := range 40 {
				lng := float64(i*9 - 180)
				id := k.createWith(owner, fmt.Sprint(i), fields{"category": 1 + i%2, "location": at(float64(i), lng)})
				all = append(all, id)
				if lng >= 170 || lng <= -170 {
					east = append(east, id)
				}
				if i%2 == 0 {
					first = append(first, id)
				}
			}
			for _, size := range []int32{0, 1, 7} {
				if ids := k.inBox(t, world(), 0, size); !slices.Equal(ids, all) {
					t.Errorf("in pages of %d: %d, want %d", size, ids, all)
				}
			}
			if ids := k.inBox(t, boxed(-90, 170, 90, -170), 0, 1); !slices.Equal(ids, east) {
				t.Errorf("across the antimeridian: %d, want %d", ids, east)
			}
			if ids := k.inBox(t, world(), 1, 5); !slices.Equal(ids, first) {
				t.Errorf("of a category: %d, want %d", ids, first)
			}
		})
	}
}

func TestATokenOfPublishedEntriesIsNoneOfAllEntries(t *testing.T) {
	t.Parallel()
	p := startParts(t)
	entries, author := p.kinds()[1], p.newUser("a")
	for range 2 {
		entries.createWith(author, "x", fields{"post_date": planned[0], "location": at(1, 2)})
	}
	request := &blogv1.SearchNearbyRequest{
		Circle:      &typev1.Circle{Center: at(1, 2), RadiusMeters: 10},
		Publication: blogv1.BlogPublication_BLOG_PUBLICATION_PUBLISHED, PageSize: 1,
	}
	request.PageToken = must(p.Blog.SearchNearby(t.Context(), request))(t).GetNextPageToken()
	must(p.Blog.SearchNearby(t.Context(), request))(t)
	request.Publication = blogv1.BlogPublication_BLOG_PUBLICATION_UNSPECIFIED
	expectFault(t, failed(p.Blog.SearchNearby(t.Context(), request)), codes.InvalidArgument, "INVALID_PARAMETER", "page_token")
}

// circle is the area of a search.
func circle(lat, lng, radius float64) fields {
	return fields{"circle": &typev1.Circle{Center: at(lat, lng), RadiusMeters: radius}}
}

func at(lat, lng float64) *typev1.Location { return &typev1.Location{Lat: lat, Lng: lng} }

func (k kind) nearby(search fields) page {
	return k.page("SearchNearby", search, k.lowers(), string(k.field("id")))
}

func TestSearchNearbyFollowsMovedAndDeletedContent(t *testing.T) {
	t.Parallel()
	w := start(t)
	owner := w.newUser("a")
	moves := map[string]fields{"Album": {"lat": -89.999, "lng": 5.0}, "Blog": {"location": at(-89.999, 5)}, "Poi": {"location": at(-89.999, 5)}}
	for _, k := range w.kinds() {
		id := k.create(owner, "x")
		expect := func(when string, here, there []int64) {
			t.Helper()
			if old, now := k.nearby(circle(25.034, 121.5645, 10)).all(t, 5), k.nearby(circle(-89.999, 5, 10)).all(t, 5); !slices.Equal(old, here) || !slices.Equal(now, there) {
				t.Errorf("%s %s: %d here, %d there", k.service, when, old, now)
			}
		}
		expect("before", []int64{id}, nil)
		must(k.send(t.Context(), "Update", moves[k.name].and(fields{"actor_id": owner, "id": id})))(t)
		expect("after the move", nil, []int64{id})
		must(k.send(t.Context(), "Delete", fields{"actor_id": owner, "id": id}))(t)
		expect("after the deletion", nil, nil)
	}
}

func TestSearchesOfPlacesFailAsTheContractsSay(t *testing.T) {
	t.Parallel()
	w := start(t)
	owner := w.newUser("a")
	for _, k := range w.kinds() {
		k.create(owner, "x")
		k.create(owner, "y")
		here := circle(25.034, 121.5645, 10)
		_, near, err := k.nearby(here)(t.Context(), 1, "")
		got(t, near, err)
		reply, err := k.send(t.Context(), "List", k.boxed(world(), 0, fields{"page_size": int32(1)}))
		in := read[string](got(t, reply, err), "next_page_token")
		if near == "" || in == "" {
			t.Fatal("there is no second page")
		}
		for name, test := range map[string]struct {
			verb, field string
			request     fields
		}{
			"box of a user":              {"List", "box", k.boxed(world(), 0, fields{"owner": owner})},
			"box not as summaries":       {"List", "box", k.boxed(world(), 0, fields{"view": 0})},
			"box off the map":            {"List", "box.east", k.boxed(boxed(0, 178, 1, 181), 0, nil)},
			"box without a number":       {"List", "box.west", k.boxed(boxed(0, math.NaN(), 1, 1), 0, nil)},
			"box from north to south":    {"List", "box", k.boxed(boxed(1, 0, 0, 1), 0, nil)},
			"box of no known category":   {"List", string(k.category), k.boxed(world(), 77, nil)},
			"token of another box":       {"List", "page_token", k.boxed(boxed(-90, -180, 90, 179), 0, fields{"page_token": in})},
			"token of a box cut short":   {"List", "page_token", k.boxed(world(), 0, fields{"page_token": in[1:]})},
			"no circle":                  {"SearchNearby", "circle", fields{}},
			"no center":                  {"SearchNearby", "circle.center", fields{"circle": &typev1.Circle{RadiusMeters: 1}}},
			"center off the map":         {"SearchNearby", "circle.center.lat", circle(91, 0, 1)},
			"negative radius":            {"SearchNearby", "circle.radius_meters", circle(0, 0, -1)},
			"radius without a number":    {"SearchNearby", "circle.radius_meters", circle(0, 0, math.NaN())},
			"too far":                    {"SearchNearby", "circle.radius_meters", circle(1, 178, 100_001)},
			"circle of unknown category": {"SearchNearby", string(k.category), here.and(fields{"category": 77})},
			"token of another circle":    {"SearchNearby", "page_token", circle(25.034, 121.5645, 11).and(fields{"page_token": near})},
			"token of all categories":    {"SearchNearby", "page_token", here.and(fields{"category": 1, "page_token": near})},
			"token of a circle cut":      {"SearchNearby", "page_token", here.and(fields{"page_token": near[1:]})},
			"token that is nonsense":     {"SearchNearby", "page_token", here.and(fields{"page_token": "中"})},
		} {
			t.Run(k.service+" "+name, func(t *testing.T) {
				expectFault(t, failed(k.send(t.Context(), test.verb, test.request)), codes.InvalidArgument, "INVALID_PARAMETER", test.field)
			})
		}
	}
}

// gathered is the reply of a BatchGet of any kind.
type gathered struct {
	ids, owners     []int64
	names           []string
	missing, unread []int64
}

// gather calls the BatchGet of a kind.
func (k kind) gather(ctx context.Context, ids ...int64) (g gathered, err error) {
	reply, err := k.send(ctx, "BatchGet", fields{"ids": ids})
	by := k.by()
	for _, each := range readAll[proto.Message](reply, k.lowers()) {
		g.ids, g.owners = append(g.ids, read[int64](each, string(k.field("id")))), append(g.owners, read[int64](each, by+".user_id"))
		g.names = append(g.names, read[string](each, by+".name"))
	}
	g.missing, g.unread = readAll[int64](reply, fmt.Sprintf("missing_%s_ids", k.service)), readAll[int64](reply, fmt.Sprintf("unread_%s_ids", k.service))
	return g, err
}

func TestABatchHasEachDocumentOnceInTheOrderOfTheRequestAndNamesTheMissing(t *testing.T) {
	t.Parallel()
	w := start(t)
	ann, ben := w.newUser("Ann"), w.newUser("Ben")
	w.moveAll(12, ann)
	moved := id.OfOld(12, id.PlaceOf(ann))
	const absent = int64(1 << 52)
	for _, k := range w.kinds() {
		field := string(k.field("ids"))
		t.Run(field, func(t *testing.T) {
			first, second, third := k.create(ann, "x"), k.create(ben, "x"), k.create(ann, "x")
			reply, err := k.gather(t.Context(), third, absent, second, third, 12, 13, first, moved, absent)
			want := []int64{third, second, reply.ids[2], first}
			if field != "poi_ids" {
				want[2] = moved
			}
			if got(t, 0, err); !slices.Equal(reply.ids, want) || !slices.Equal(reply.owners, []int64{ann, ben, ann, ann}) {
				t.Errorf("got %d of %d, want %d", reply.ids, reply.owners, want)
			}
			if names := strings.Join(reply.names, " "); names != "Ann Ben Ann Ann" {
				t.Errorf("the owners are %s", names)
			}
			if !slices.Equal(slices.DeleteFunc(reply.missing, func(id int64) bool { return id == moved }), []int64{absent, 13}) || len(reply.unread) > 0 {
				t.Errorf("missing %d, unread %d", reply.missing, reply.unread)
			}
			none, err := k.gather(t.Context(), absent)
			if got(t, 0, err); len(none.ids) > 0 || !slices.Equal(none.missing, []int64{absent}) {
				t.Errorf("of nothing: %+v", none)
			}
		})
	}
}

func TestABatchOfLongEntriesIsBoundedAndContinues(t *testing.T) {
	t.Parallel()
	w := start(t)
	author := w.newUser("a")
	var ids []int64
	for range 12 {
		request := newBlogRequest(author)
		request.Content = long(100_000)
		ids = append(ids, must(w.Blog.CreateBlog(t.Context(), request))(t).GetBlog().GetBlogId())
	}
	slices.Reverse(ids)
	found, left := []int64{}, append(ids, 1<<52)
	for calls := 1; len(left) > 0; calls++ {
		reply, err := w.Blog.BatchGetBlogs(t.Context(), &blogv1.BatchGetBlogsRequest{BlogIds: left})
		size := 0
		for _, b := range got(t, reply, err).GetBlogs() {
			found, size = append(found, b.GetBlogId()), size+len(b.GetContent())
		}
		if size > docstore.MaxBatchBytes || calls > 4 {
			t.Fatalf("call %d has %d bytes", calls, size)
		}
		if len(reply.GetMissingBlogIds()) > 0 != (calls == 4) {
			t.Errorf("call %d misses %d", calls, reply.GetMissingBlogIds())
		}
		left = reply.GetUnreadBlogIds()
	}
	slices.Sort(found)
	slices.Sort(ids)
	if !slices.Equal(found, ids) {
		t.Errorf("got %d, want %d", found, ids)
	}
}

func TestAReadMaskReturnsThePartsThatItNames(t *testing.T) {
	t.Parallel()
	w, ctx := start(t), t.Context()
	owner := w.newUser("a")
	album, blog, poi := w.newAlbum(owner, "x"), w.newBlog(owner), w.newPoi(owner, "x")
	must(w.Photo.AddPhoto(ctx, &photov1.AddPhotoRequest{ActorId: owner, Parent: &photov1.AddPhotoRequest_AlbumId{AlbumId: album}, Url: "x"}))(t)
	must(w.Comment.AddComment(ctx, &commentv1.AddCommentRequest{AuthorId: owner, Parent: &commentv1.AddCommentRequest_BlogId{BlogId: blog}, Text: "y"}))(t)
	whole := w.getAlbum(album)

	reply, err := w.Album.GetAlbum(ctx, &albumv1.GetAlbumRequest{AlbumId: album, ReadMask: mask("photos", "album.title", "album.owner.name")})
	want := &albumv1.GetAlbumResponse{Photos: whole.GetPhotos(), Album: &albumv1.Album{Title: "x"}}
	want.Album.Owner = whole.GetAlbum().GetOwner()
	want.Album.Owner.UserId, want.Album.Owner.IconUrl = 0, ""
	if diff := cmp.Diff(want, got(t, reply, err), protocmp.Transform()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	entry := must(w.Blog.GetBlog(ctx, &blogv1.GetBlogRequest{BlogId: blog, ReadMask: mask("comments")}))(t)
	if e := entry; e.GetBlog() != nil || len(e.GetComments()) != 1 || e.GetComments()[0].GetAuthor().GetName() != "a" {
		t.Errorf("got %v", e)
	}
	landmark := must(w.Poi.GetPoi(ctx, &poiv1.GetPoiRequest{PoiId: poi, ReadMask: mask("*")}))(t)
	if p := landmark.GetPoi(); p.GetName() != "x" || p.GetOwner().GetName() != "a" {
		t.Errorf("got %v", p)
	}
	for name, err := range map[string]error{
		"GetAlbum":    failed(w.Album.GetAlbum(ctx, &albumv1.GetAlbumRequest{AlbumId: album, ReadMask: mask("photo")})),
		"GetBlog":     failed(w.Blog.GetBlog(ctx, &blogv1.GetBlogRequest{BlogId: blog, ReadMask: mask("photos")})),
		"GetPoi":      failed(w.Poi.GetPoi(ctx, &poiv1.GetPoiRequest{PoiId: poi, ReadMask: mask("comments.text")})),
		"all and one": failed(w.Poi.GetPoi(ctx, &poiv1.GetPoiRequest{PoiId: poi, ReadMask: mask("*", "photos")})),
	} {
		t.Run(name, func(t *testing.T) { expectFault(t, err, codes.InvalidArgument, "INVALID_PARAMETER", "read_mask") })
	}
	gone := failed(w.Album.GetAlbum(ctx, &albumv1.GetAlbumRequest{AlbumId: album + 1, ReadMask: mask("photos")}))
	expectFault(t, gone, codes.NotFound, "ALBUM_NOT_FOUND")
}

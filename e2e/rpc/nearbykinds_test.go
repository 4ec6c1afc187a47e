package rpc_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// around is a search for albums or entries.
type around struct {
	circle   *typev1.Circle
	box      *typev1.Box
	category int32
	size     int32
	token    string
}

func nearTo(lat, lng, radius float64) around {
	return around{circle: &typev1.Circle{Center: &typev1.Location{Lat: lat, Lng: lng}, RadiusMeters: radius}}
}

// mapped is a kind of content on the map.
type mapped struct {
	field  string
	create func(owner int64, category int32, lat, lng float64) int64
	move   func(owner, id int64, lat, lng float64) error
	remove func(owner, id int64) error
	// search returns the ids, the distances and the next page token.
	search func(context.Context, around) (ids []int64, away []float64, next string, err error)
}

func (w *waybook) mapped() map[string]mapped {
	ctx := w.t.Context()
	return map[string]mapped{
		"albums": {
			field: "category",
			create: func(owner int64, category int32, lat, lng float64) int64 {
				return must(w.album.CreateAlbum(ctx, &albumv1.CreateAlbumRequest{
					OwnerId: owner, Title: "x", Category: albumv1.AlbumCategory(category), Location: &typev1.Location{Lat: lat, Lng: lng},
				}))(w.t).GetAlbum().GetAlbumId()
			},
			move: func(owner, id int64, lat, lng float64) error {
				return failed(w.album.UpdateAlbum(ctx, &albumv1.UpdateAlbumRequest{ActorId: owner, AlbumId: id, Lat: proto.Float64(lat), Lng: proto.Float64(lng)}))
			},
			remove: func(owner, id int64) error {
				return failed(w.album.DeleteAlbum(ctx, &albumv1.DeleteAlbumRequest{ActorId: owner, AlbumId: id}))
			},
			search: func(ctx context.Context, a around) (ids []int64, away []float64, next string, err error) {
				request := &albumv1.SearchNearbyRequest{Category: albumv1.AlbumCategory(a.category), PageSize: a.size, PageToken: a.token}
				if a.circle != nil {
					request.Area = &albumv1.SearchNearbyRequest_Circle{Circle: a.circle}
				} else if a.box != nil {
					request.Area = &albumv1.SearchNearbyRequest_Box{Box: a.box}
				}
				r, err := w.album.SearchNearby(ctx, request)
				for _, f := range r.GetAlbums() {
					ids, away = append(ids, f.GetAlbum().GetAlbumId()), append(away, f.GetDistanceMeters())
				}
				return ids, away, r.GetNextPageToken(), err
			},
		},
		"entries": {
			field: "type",
			create: func(owner int64, category int32, lat, lng float64) int64 {
				request := newBlogRequest(owner)
				request.Type, request.Location = blogv1.BlogType(category), &typev1.Location{Lat: lat, Lng: lng}
				return must(w.blog.CreateBlog(ctx, request))(w.t).GetBlog().GetBlogId()
			},
			move: func(owner, id int64, lat, lng float64) error {
				return failed(w.blog.UpdateBlog(ctx, &blogv1.UpdateBlogRequest{ActorId: owner, BlogId: id, Location: &typev1.Location{Lat: lat, Lng: lng}}))
			},
			remove: func(owner, id int64) error {
				return failed(w.blog.DeleteBlog(ctx, &blogv1.DeleteBlogRequest{ActorId: owner, BlogId: id}))
			},
			search: func(ctx context.Context, a around) (ids []int64, away []float64, next string, err error) {
				request := &blogv1.SearchNearbyRequest{Type: blogv1.BlogType(a.category), PageSize: a.size, PageToken: a.token}
				if a.circle != nil {
					request.Area = &blogv1.SearchNearbyRequest_Circle{Circle: a.circle}
				} else if a.box != nil {
					request.Area = &blogv1.SearchNearbyRequest_Box{Box: a.box}
				}
				r, err := w.blog.SearchNearby(ctx, request)
				for _, f := range r.GetBlogs() {
					ids, away = append(ids, f.GetBlogId()), append(away, f.GetDistanceMeters())
				}
				return ids, away, r.GetNextPageToken(), err
			},
		},
	}
}

// all returns the ids on all pages of a search.
func (m mapped) all(t *testing.T, a around, size int32) (ids []int64) {
	t.Helper()
	for a.size, a.token = size, ""; ; {
		page, away, next, err := m.search(t.Context(), a)
		if err != nil || !slices.IsSorted(away) || size > 0 && len(page) > int(size) {
			t.Fatalf("a page of %d: %d at %v, %v", size, page, away, err)
		}
		ids = append(ids, page...)
		if a.token = next; next == "" {
			return ids
		}
	}
}

func TestAlbumsAndEntriesAreFoundByTheirPlaceNearestFirst(t *testing.T) {
	w := start(t)
	ann, ben := w.newUser("a"), w.newUser("b")
	for name, kind := range w.mapped() {
		t.Run(name, func(t *testing.T) {
			east, west := kind.create(ann, 1, 0, -179.99), kind.create(ben, 2, 0, 179.98)
			line, lineToo := kind.create(ann, 1, 0, 180), kind.create(ben, 2, 0, -180)
			// Those of two owners that are created at the same time come in any order of their ids.
			one, two := min(line, lineToo), max(line, lineToo)
			pole := kind.create(ann, 1, 90, 17)
			far := kind.create(ben, 1, 0, 178)
			box := around{box: &typev1.Box{South: -1, West: 179, North: 1, East: -179}}
			ofTwo := box
			ofTwo.category = 2
			for what, test := range map[string]struct {
				search around
				want   []int64
			}{
				"across the antimeridian": {nearTo(0, 180, 10_000), []int64{one, two, east, west}},
				"a box":                   {box, []int64{one, two, east, west}},
				"a category":              {ofTwo, []int64{lineToo, west}},
				"the pole":                {nearTo(90, 0, 2000), []int64{pole}},
				"the sea":                 {nearTo(-30, -120, 100_000), nil},
			} {
				for _, size := range []int32{0, 1, 3} {
					if ids := kind.all(t, test.search, size); !slices.Equal(ids, test.want) {
						t.Errorf("%s in pages of %d: %d, want %d", what, size, ids, test.want)
					}
				}
			}
			_, away, _, err := kind.search(t.Context(), nearTo(0.5, 178, 100_000))
			if want := 6371008.8 * math.Pi / 360; got(t, 0, err) != 0 || len(away) != 1 || math.Abs(away[0]-want) > 1e-6 {
				t.Errorf("found at %v, want %v", away, want)
			}
			got(t, 0, kind.move(ben, far, -89.999, 5))
			if gone, come := kind.all(t, nearTo(0, 178, 10), 5), kind.all(t, nearTo(-89.999, 5, 10), 5); len(gone) != 0 || !slices.Equal(come, []int64{far}) {
				t.Errorf("after the move: %d, %d", gone, come)
			}
			got(t, 0, kind.remove(ben, far))
			if ids := kind.all(t, nearTo(-89.999, 5, 10), 5); len(ids) != 0 {
				t.Errorf("after the deletion: %d", ids)
			}
		})
	}
}

func TestASearchForAlbumsAndEntriesFailsAsTheContractSays(t *testing.T) {
	w := start(t)
	owner := w.newUser("a")
	for name, kind := range w.mapped() {
		kind.create(owner, 1, 25, 121)
		kind.create(owner, 1, 25, 121)
		first := nearTo(25, 121, 10)
		first.size = 1
		_, _, token, err := kind.search(t.Context(), first)
		if got(t, token, err) == "" {
			t.Fatal("there is no second page")
		}
		other, ofCategory := nearTo(25, 121, 11), nearTo(25, 121, 10)
		other.token, ofCategory.category, ofCategory.token = token, 1, token
		large, unknown := nearTo(25, 121, 10), nearTo(25, 121, 10)
		large.size, unknown.category = 1001, 77
		for what, test := range map[string]struct {
			search around
			field  string
		}{
			"no area":                   {around{}, "area"},
			"too far":                   {nearTo(0, 0, 100_001), "circle.radius_meters"},
			"no center":                 {around{circle: &typev1.Circle{}}, "circle.center"},
			"too wide a box":            {around{box: &typev1.Box{West: 178, North: 1, East: -176.9}}, "box"},
			"too large a page":          {large, "page_size"},
			"an unknown category":       {unknown, kind.field},
			"a token of another area":   {other, "page_token"},
			"a token of all categories": {ofCategory, "page_token"},
		} {
			t.Run(name+" "+what, func(t *testing.T) {
				_, _, _, err := kind.search(t.Context(), test.search)
				expectFault(t, err, codes.InvalidArgument, "INVALID_PARAMETER", test.field)
			})
		}
	}
}

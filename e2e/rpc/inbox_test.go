package rpc_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"google.golang.org/grpc/codes"

	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
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

func TestABoxFailsAsTheContractsSay(t *testing.T) {
	t.Parallel()
	w := start(t)
	for _, k := range w.kinds() {
		owner := w.newUser("a")
		k.create(owner, "x")
		k.create(owner, "y")
		reply, err := k.send(t.Context(), "List", k.boxed(world(), 0, fields{"page_size": int32(1)}))
		token := read[string](got(t, reply, err), "next_page_token")
		for name, test := range map[string]struct {
			request fields
			field   string
		}{
			"of a user":              {k.boxed(world(), 0, fields{"owner": owner}), "box"},
			"not as summaries":       {k.boxed(world(), 0, fields{"view": 0}), "box"},
			"an edge off the map":    {k.boxed(boxed(0, 178, 1, 181), 0, nil), "box.east"},
			"not a number":           {k.boxed(boxed(0, math.NaN(), 1, 1), 0, nil), "box.west"},
			"south above north":      {k.boxed(boxed(1, 0, 0, 1), 0, nil), "box"},
			"an unknown category":    {k.boxed(world(), 77, nil), string(k.category)},
			"a token of another box": {k.boxed(boxed(-90, -180, 90, 179), 0, fields{"page_token": token}), "page_token"},
			"a token cut short":      {k.boxed(world(), 0, fields{"page_token": token[1:]}), "page_token"},
		} {
			t.Run(k.service+" "+name, func(t *testing.T) {
				expectFault(t, failed(k.send(t.Context(), "List", test.request)), codes.InvalidArgument, "INVALID_PARAMETER", test.field)
			})
		}
	}
}

package blog

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/waybook/waybook/internal/content/nearby"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// placed is an entry at latitude 25 and a longitude. It is published if its day is 20260501 at the latest.
func placed(id int64, lng float64, on day) blog {
	return blog{ID: id, AuthorID: id, RequestKey: fmt.Sprint("#", id), Type: 1, Title: "x", Lat: 25, Lng: lng, Cell: nearby.CellOf(25, lng), PostDay: on}
}

func (f *fixture) store(blogs []blog) {
	f.t.Helper()
	for batch := range slices.Chunk(blogs, 5000) {
		if err := f.blogs.Documents.Insert(f.t.Context(), batch...); err != nil {
			f.t.Fatal(err)
		}
	}
}

// lists are those of published entries around 25, 121.
func (f *fixture) lists() map[string]func(size int32, token string) (ids []int64, next string) {
	return map[string]func(size int32, token string) ([]int64, string){
		"near": func(size int32, token string) (ids []int64, next string) {
			circle := &typev1.Circle{Center: &typev1.Location{Lat: 25, Lng: 121}, RadiusMeters: 1000}
			reply, err := f.SearchNearby(f.t.Context(), &blogv1.SearchNearbyRequest{
				Circle:      circle,
				Publication: blogv1.BlogPublication_BLOG_PUBLICATION_PUBLISHED, PageSize: size, PageToken: token,
			})
			if err != nil {
				f.t.Fatal(err)
			}
			for _, each := range reply.GetBlogs() {
				ids = append(ids, each.GetBlogId())
			}
			return ids, reply.GetNextPageToken()
		},
		"in a box": func(size int32, token string) (ids []int64, next string) {
			reply, err := f.ListBlogs(f.t.Context(), &blogv1.ListBlogsRequest{
				View: typev1.View_VIEW_SUMMARY, Publication: blogv1.BlogPublication_BLOG_PUBLICATION_PUBLISHED,
				Box: &typev1.Box{South: 24, West: 120, North: 26, East: 122}, PageSize: size, PageToken: token,
			})
			if err != nil {
				f.t.Fatal(err)
			}
			for _, each := range reply.GetSummaries() {
				ids = append(ids, each.GetId())
			}
			return ids, reply.GetNextPageToken()
		},
	}
}

func TestAPageOfPublishedEntriesIsFullAndTheLastHasNoToken(t *testing.T) {
	f := newFixture(t, Config{Zone: time.UTC})
	var blogs []blog
	for i := range int64(1500) {
		blogs = append(blogs, placed(i+1, 121+float64(max(0, i-500))*1e-6, 20260502))
	}
	blogs[700].PostDay, blogs[900].PostDay = 20260501, 20260501
	f.store(blogs)
	for name, list := range f.lists() {
		first, token := list(1, "")
		last, end := list(1, token)
		if len(first) != 1 || len(last) != 1 || first[0]+last[0] != 701+901 || token == "" || end != "" {
			t.Errorf("%s: %d, then %d, tokens %q and %q", name, first, last, token, end)
		}
	}
}

func TestACallThatFindsTooFewPublishedEntriesEndsWithAShortPage(t *testing.T) {
	f := newFixture(t, Config{Zone: time.UTC})
	var blogs []blog
	for i := range int64(45_000) {
		blogs = append(blogs, placed(i+1, 121+float64(i)*1e-7, 20260502))
	}
	f.store(append(blogs, placed(45_001, 121.005, 20260501), placed(45_002, 120.995, 20260501)))
	for name, list := range f.lists() {
		first, token := list(2, "")
		if len(first) == 2 || token == "" {
			t.Errorf("%s: %d, token %q", name, first, token)
		}
		found := first
		for calls := 1; token != ""; calls++ {
			if calls == 15 {
				t.Fatalf("%s: %d calls", name, calls)
			}
			var ids []int64
			ids, token = list(2, token)
			found = append(found, ids...)
		}
		if slices.Sort(found); !slices.Equal(found, []int64{45_001, 45_002}) {
			t.Errorf("%s: %d", name, found)
		}
	}
}

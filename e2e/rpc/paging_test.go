package rpc_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"google.golang.org/grpc/codes"

	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	photov1 "github.com/waybook/waybook/proto/gen/waybook/photo/v1"
)

// page requests one page and returns its ids and the next page token.
type page func(ctx context.Context, size int32, token string) ([]int64, string, error)

// all returns the ids on all pages of a size. Only the last may be short, and only that of an empty list is empty.
func (p page) all(t *testing.T, size int32) (all []int64) {
	t.Helper()
	for token := ""; ; {
		ids, next, err := p(t.Context(), size, token)
		got(t, 0, err)
		if size > 0 && len(ids) > int(size) || next != "" && (len(ids) == 0 || len(ids) < int(size)) || len(ids) == 0 && token != "" {
			t.Errorf("a page of %d has %d, and the next page token is %q", size, len(ids), next)
		}
		all = append(all, ids...)
		if token = next; token == "" {
			return all
		}
	}
}

// idsOf returns the ids of items.
func idsOf[T any](items []T, idOf func(T) int64) []int64 {
	ids := make([]int64, len(items))
	for i, item := range items {
		ids[i] = idOf(item)
	}
	return ids
}

// listed is the number of items in each list of w.pages.
const listed = 23

// pages returns all lists, each with listed items.
func (w *waybook) pages(owner int64) map[string]page {
	w.t.Helper()
	album, poi := w.newAlbum(owner, "0"), w.newPoi(owner, "0")
	w.newBlog(owner)
	threads := w.items(owner) // creates one more of each
	for i := range listed {
		if i < listed-3 {
			w.newPoi(owner, fmt.Sprint(i)) // ListPois has those of addChoices, too
		}
		if i < listed-2 {
			w.newAlbum(owner, fmt.Sprint(i))
			w.newBlog(owner)
		}
		must(w.Photo.AddPhoto(w.t.Context(), &photov1.AddPhotoRequest{ActorId: owner, Parent: &photov1.AddPhotoRequest_AlbumId{AlbumId: album}, Url: "x"}))(w.t)
		must(w.Photo.AddPhoto(w.t.Context(), &photov1.AddPhotoRequest{ActorId: owner, Parent: &photov1.AddPhotoRequest_PoiId{PoiId: poi}, Url: "x"}))(w.t)
		for _, thread := range threads {
			must(thread.add(w.t.Context(), owner, "", "x"))(w.t)
		}
	}
	kinds := w.kinds()
	albums, blogs, pois := kinds[0], kinds[1], kinds[2]
	all := map[string]page{
		"ListAlbums":       albums.page("List", fields{"owner": owner}, "albums", "album_id"),
		"ListBlogs":        blogs.page("List", fields{"owner": owner}, "blogs", "blog_id"),
		"ListPois":         pois.page("List", fields{"category": 1}, "pois", "poi_id"),
		"album ListPhotos": albums.page("ListPhotos", fields{"id": album}, "photos", "photo_id"),
		"poi ListPhotos":   pois.page("ListPhotos", fields{"id": poi}, "photos", "photo_id"),
	}
	w.addChoices(all)
	for _, thread := range threads {
		all[thread.service+" ListComments"] = thread.page("ListComments", fields{"id": thread.id}, "comments", "comment_id")
	}
	return all
}

// addChoices adds the lists of users who chose.
func (w *waybook) addChoices(to map[string]page) {
	w.t.Helper()
	items := w.items(w.newUser("owner"))
	blog := items[1]
	for i := range listed {
		user := w.newUser(fmt.Sprint(i))
		for _, item := range items {
			must(item.recommend(w.t.Context(), user, item.id))(w.t)
		}
		must(w.Blog.CastBallot(w.t.Context(), &blogv1.CastBallotRequest{VoterId: user, BlogId: blog.id, Choice: 1 + int32(i%3)}))(w.t)
	}
	for _, item := range items {
		to[item.service+" ListRecommenders"] = item.page("ListRecommenders", fields{"id": item.id}, "recommenders", "user_id")
	}
	to["ListBallots"] = blog.page("ListBallots", fields{"id": blog.id}, "ballots", "voter.user_id")
}

func TestPagesShowEverythingOnceInCreationOrder(t *testing.T) {
	t.Parallel()
	w := start(t)
	for name, page := range w.pages(w.newUser("a")) {
		t.Run(name, func(t *testing.T) {
			for _, size := range []int32{0, 1, 2, 7, listed - 1, listed, listed + 1, 100} {
				all := page.all(t, size)
				if len(all) != listed || !slices.IsSorted(all) || len(slices.Compact(slices.Clone(all))) != listed {
					t.Errorf("pages of %d show %v", size, all)
				}
			}
		})
	}
}

func TestATokenOfAnotherListIsRefused(t *testing.T) {
	t.Parallel()
	w := start(t)
	pages := w.pages(w.newUser("a"))
	tokens := map[string]string{"nonsense": "nonsense", "blank": " ", "long": fmt.Sprintf("%01000d", 0)}
	for name, page := range pages {
		_, next, err := page(t.Context(), 5, "")
		tokens["of "+name] = got(t, next, err)
	}
	for name, page := range pages {
		own := tokens["of "+name]
		for kind, token := range tokens {
			if kind != "of "+name {
				t.Run(name+" with "+kind, func(t *testing.T) {
					_, _, err := page(t.Context(), 5, token)
					expectFault(t, err, codes.InvalidArgument, "INVALID_PARAMETER", "page_token")
				})
			}
		}
		for kind, token := range map[string]string{"cut": own[:len(own)-2], "longer": own + "AA"} {
			t.Run(name+" with its own "+kind, func(t *testing.T) {
				_, _, err := page(t.Context(), 5, token)
				expectFault(t, err, codes.InvalidArgument, "INVALID_PARAMETER", "page_token")
			})
		}
		t.Run(name+" with too high a page_size", func(t *testing.T) {
			most, _, err := page(t.Context(), 1001, "")
			got(t, most, err)
			if least, _, err := page(t.Context(), 0, ""); err != nil || len(most) < len(least) {
				t.Errorf("%d items of at most %d, %d of the default, %v", len(most), 1001, len(least), err)
			}
			_, _, err = page(t.Context(), -1, "")
			expectFault(t, err, codes.InvalidArgument, "INVALID_PARAMETER", "page_size")
		})
	}
}

func TestALargePageSizeCountsAsTheLargest(t *testing.T) {
	t.Parallel()
	w := start(t)
	author := w.newUser("a")
	for range 101 {
		w.newBlog(author)
	}
	reply := must(w.Blog.ListBlogs(t.Context(), &blogv1.ListBlogsRequest{AuthorId: author, PageSize: 1 << 30}))(t)
	if len(reply.GetBlogs()) != 100 || reply.GetNextPageToken() == "" {
		t.Errorf("%d entries, and the token %q", len(reply.GetBlogs()), reply.GetNextPageToken())
	}
}

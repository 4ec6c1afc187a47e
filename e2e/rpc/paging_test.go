package rpc_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"google.golang.org/grpc/codes"

	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
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
	threads := w.items(owner)
	for i := range listed {
		for _, thread := range threads {
			if must(thread.add(w.t.Context(), owner, "", "x"))(w.t); thread.hasPhotos() {
				must(thread.send(w.t.Context(), "AddPhoto", fields{"actor_id": owner, "id": thread.id, "url": "x"}))(w.t)
			}
			if i < listed-2 || i < listed-1 && thread.name != "Poi" { // ListPois has that of addChoices, too
				thread.create(owner, fmt.Sprint(i))
			}
		}
	}
	kinds := w.kinds()
	albums, blogs, pois := kinds[0], kinds[1], kinds[2]
	all := map[string]page{
		"ListAlbums": albums.page("List", fields{"owner": owner}, "albums", "album_id"),
		"ListBlogs":  blogs.page("List", fields{"owner": owner}, "blogs", "blog_id"),
		"ListPois":   pois.page("List", fields{"category": 1}, "pois", "poi_id"),
	}
	w.addChoices(all)
	for _, thread := range threads {
		all[thread.service+" ListComments"] = thread.page("ListComments", fields{"id": thread.id}, "comments", "comment_id")
		all[thread.service+" ListCommentsByAuthor"] = thread.page(
			"ListCommentsByAuthor", fields{"author_id": owner, "kind": int(thread.of)}, "comments", "comment_id")
		if thread.hasPhotos() {
			all[thread.service+" ListPhotos"] = thread.page("ListPhotos", fields{"id": thread.id}, "photos", "photo_id")
		}
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

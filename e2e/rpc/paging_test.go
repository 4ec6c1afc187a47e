package rpc_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
)

// collect receives a stream to its end.
func collect[T any](stream grpc.ServerStreamingClient[T], err error) (batches []*T, _ error) {
	for err == nil {
		var batch *T
		if batch, err = stream.Recv(); err == nil {
			batches = append(batches, batch)
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return batches, err
}

// page requests one page and returns its ids and the next page token.
type page func(ctx context.Context, size int32, token string) ([]int64, string, error)

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
	threads := w.threads(owner) // creates one more of each
	for i := range listed {
		if i < listed-3 {
			w.newPoi(owner, fmt.Sprint(i)) // ListPois has those of addChoices, too
		}
		if i < listed-2 {
			w.newAlbum(owner, fmt.Sprint(i))
			w.newBlog(owner)
		}
		must(w.album.AddPhoto(w.t.Context(), &albumv1.AddPhotoRequest{ActorId: owner, AlbumId: album, ThumbnailUrl: "x"}))(w.t)
		must(w.poi.AddPhoto(w.t.Context(), &poiv1.AddPhotoRequest{ActorId: owner, PoiId: poi, PhotoUrl: "x"}))(w.t)
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
	for name, thread := range threads {
		all[name+" ListComments"] = thread.page("ListComments", fields{"id": thread.id}, "comments", "comment_id")
	}
	return all
}

// addChoices adds the lists of users who chose.
func (w *waybook) addChoices(to map[string]page) {
	w.t.Helper()
	items := w.recommendable()
	blog := items[1]
	for i := range listed {
		user := w.newUser(fmt.Sprint(i))
		for _, item := range items {
			must(item.recommend(w.t.Context(), user, item.id))(w.t)
		}
		must(w.blog.CastBallot(w.t.Context(), &blogv1.CastBallotRequest{VoterId: user, BlogId: blog.id, Choice: 1 + int32(i%3)}))(w.t)
	}
	for _, item := range items {
		to[item.service+" ListRecommenders"] = item.page("ListRecommenders", fields{"id": item.id}, "recommenders", "user_id")
	}
	to["ListBallots"] = blog.page("ListBallots", fields{"id": blog.id}, "ballots", "voter.user_id")
}

func TestPagesShowEverythingOnceInCreationOrder(t *testing.T) {
	w := start(t)
	for name, page := range w.pages(w.newUser("a")) {
		t.Run(name, func(t *testing.T) {
			for _, size := range []int32{0, 1, 2, 7, listed - 1, listed, listed + 1, 100} {
				var all []int64
				token := ""
				for {
					ids, next, err := page(t.Context(), size, token)
					if err != nil {
						t.Fatal(err)
					}
					if len(ids) == 0 || size > 0 && len(ids) > int(size) || next != "" && size > 0 && len(ids) < int(size) {
						t.Errorf("a page of %d has %d", size, len(ids))
					}
					all = append(all, ids...)
					if token = next; token == "" {
						break
					}
				}
				if len(all) != listed || !slices.IsSorted(all) || len(slices.Compact(slices.Clone(all))) != listed {
					t.Errorf("pages of %d show %v", size, all)
				}
			}
		})
	}
}

func TestATokenOfAnotherListIsRefused(t *testing.T) {
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
			_, _, err := page(t.Context(), 1001, "")
			expectFault(t, err, codes.InvalidArgument, "INVALID_PARAMETER", "page_size")
		})
	}
}

func TestAStreamHasTheItemsOfTheListInItsOrder(t *testing.T) {
	// More than two batches.
	const count = 1100
	w := start(t)
	owner := w.newUser("a")
	parallel(t, count, func(i int) error {
		_, err := w.album.CreateAlbum(t.Context(), &albumv1.CreateAlbumRequest{OwnerId: owner, Title: fmt.Sprint(i), Category: 1, Location: taipei})
		if err != nil {
			return err
		}
		_, err = w.poi.CreatePoi(t.Context(), &poiv1.CreatePoiRequest{OwnerId: owner, Name: fmt.Sprint(i), Category: 3, Location: taipei})
		return err
	})
	var want, all []string
	for token := ""; ; {
		r := must(w.album.ListAlbums(t.Context(), &albumv1.ListAlbumsRequest{OwnerId: owner, PageSize: 1000, PageToken: token}))(t)
		for _, a := range r.GetAlbums() {
			want = append(want, fmt.Sprint(a.GetAlbumId(), a.GetTitle()))
		}
		if token = r.GetNextPageToken(); token == "" {
			break
		}
	}
	albums := must(collect(w.album.StreamAlbums(t.Context(), &albumv1.StreamAlbumsRequest{OwnerId: owner})))(t)
	for _, batch := range albums {
		for _, a := range batch.GetAlbums() {
			all = append(all, fmt.Sprint(a.GetAlbumId(), a.GetTitle()))
		}
	}
	if !slices.Equal(all, want) || len(all) != count {
		t.Errorf("%d albums streamed, %d listed", len(all), len(want))
	}
	want, all = nil, nil
	for token := ""; ; {
		r := must(w.poi.ListPois(t.Context(), &poiv1.ListPoisRequest{Category: 3, PageSize: 1000, PageToken: token}))(t)
		for _, p := range r.GetPois() {
			want = append(want, fmt.Sprint(p.GetPoiId(), p.GetName()))
		}
		if token = r.GetNextPageToken(); token == "" {
			break
		}
	}
	pois := must(collect(w.poi.StreamPois(t.Context(), &poiv1.StreamPoisRequest{Category: 3})))(t)
	for _, batch := range pois {
		for _, p := range batch.GetPois() {
			all = append(all, fmt.Sprint(p.GetPoiId(), p.GetName()))
		}
	}
	if !slices.Equal(all, want) || len(all) != count {
		t.Errorf("%d landmarks streamed, %d listed", len(all), len(want))
	}
	empty := must(collect(w.poi.StreamPois(t.Context(), &poiv1.StreamPoisRequest{Category: 4})))(t)
	if len(empty) != 0 {
		t.Errorf("an empty category sends %v", empty)
	}
	idle := must(collect(w.album.StreamAlbums(t.Context(), &albumv1.StreamAlbumsRequest{OwnerId: w.newUser("b")})))(t)
	if len(idle) != 0 {
		t.Errorf("a user without albums has %v", idle)
	}
}

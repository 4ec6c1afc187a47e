//go:build linux

package faults

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/waybook/waybook/e2e/faults/history"
	contracts "github.com/waybook/waybook/internal/clients"
	"github.com/waybook/waybook/internal/waybooktest"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

const (
	// workers is the number of concurrent clients.
	workers = 5
	// voters is the number of users who recommend and vote.
	voters = 12
	// landmarks is the initial number of landmarks in the category.
	landmarks = 250
	choices   = 3
)

// contracts returns the gRPC clients of a fleet.
func (f *fleet) contracts() contracts.Clients {
	return contracts.Of(f.services["account"], f.services["album"], f.services["blog"], f.services["poi"])
}

// user is a user with an open session.
type user struct {
	id     int64
	cookie string
}

func (u user) list(kind string) history.List {
	return history.List{Kind: kind, Owner: fmt.Sprint(u.id)}
}

// category is the list of the landmarks.
var category = history.List{Kind: "poi", Owner: "category 1"}

// world is the data to read and write.
type world struct {
	contracts.Clients
	users  []user
	voters []int64
	// The things on which all users comment and which they recommend. Nobody changes them.
	shared map[string]shared

	mu sync.Mutex
	// known are the acknowledged things.
	known []history.Thing
}

// shared is an album, an entry or a landmark.
type shared struct {
	kind typev1.Kind
	id   int64
}

func (w *world) learn(thing history.Thing) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.known = append(w.known, thing)
}

func (w *world) things() []history.Thing {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.known[:len(w.known):len(w.known)]
}

// partsOf splits the name of a thing.
func partsOf(thing history.Thing) (kind, id string) {
	kind, id, _ = strings.Cut(string(thing), "/")
	return kind, id
}

var place = &typev1.Location{Lat: 25, Lng: 121}

// makeWorld creates users and the first things before any fault.
func makeWorld(t *testing.T, f *fleet, h *history.History) *world {
	t.Helper()
	w, ctx := &world{Clients: f.contracts()}, t.Context()
	newUser := func(name string) int64 {
		r, err := w.Account.CreateUser(ctx, &accountv1.CreateUserRequest{Name: name})
		return waybooktest.Must(r, err)(t).GetUser().GetUserId()
	}
	for n := range workers {
		id := newUser(fmt.Sprint("writer ", n))
		r, err := w.Account.OpenSession(ctx, &accountv1.OpenSessionRequest{UserId: id})
		w.users = append(w.users, user{id, fmt.Sprintf("id=%d; idrand=%s", id, waybooktest.Must(r, err)(t).GetToken())})
	}
	for n := range voters {
		w.voters = append(w.voters, newUser(fmt.Sprint("voter ", n)))
	}
	owner := newUser("owner")
	album, err := w.Album.CreateAlbum(ctx, &albumv1.CreateAlbumRequest{OwnerId: owner, Title: "all", Category: 1, Location: place})
	albumID := waybooktest.Must(album, err)(t).GetAlbum().GetAlbumId()
	blog, err := w.Blog.CreateBlog(ctx, &blogv1.CreateBlogRequest{
		AuthorId: owner, Type: 1, Location: place, Title: "all", Content: "x", Weather: 1,
		PostDate: &typev1.Date{Year: 2026, Month: 1, Day: 1}, Vote: &blogv1.NewVote{Description: "x", Choices: []string{"1", "2", "3"}},
	})
	w.shared = map[string]shared{
		"album": {typev1.Kind_KIND_ALBUM, albumID},
		"blog":  {typev1.Kind_KIND_BLOG, waybooktest.Must(blog, err)(t).GetBlog().GetBlogId()},
		"poi":   {typev1.Kind_KIND_POI, w.importLandmarks(ctx, t, owner, h)},
	}
	return w
}

// importLandmarks fills the category with a long list, and records it. It returns the first.
func (w *world) importLandmarks(ctx context.Context, t *testing.T, owner int64, h *history.History) int64 {
	t.Helper()
	batch := &poiv1.ImportPoisRequest{OwnerId: owner}
	for n := range landmarks {
		name := fmt.Sprint("landmark ", n)
		batch.Pois = append(batch.Pois, &poiv1.ImportedPoi{Key: name, Name: name, Category: 1, Location: place})
	}
	imported, err := w.Poi.ImportPois(ctx, batch)
	if made := waybooktest.Must(imported, err)(t).GetCreatedCount(); made != landmarks {
		t.Fatalf("created %d landmarks", made)
	}
	listed, err := w.Poi.ListPois(ctx, &poiv1.ListPoisRequest{Category: 1, PageSize: 1000})
	for _, p := range waybooktest.Must(listed, err)(t).GetPois() {
		h.Record(history.Add{Span: history.Span{End: h.Now()}, List: category, Value: p.GetName(), ID: p.GetPoiId()})
		w.learn(history.NameThing("poi", p.GetPoiId()))
	}
	return listed.GetPois()[0].GetPoiId()
}

// details derives the other fields of a thing from its value, so that a partial change is detected.
func details(value string) (category, latitude string) {
	_, text, _ := strings.Cut(value, "-")
	n, _ := strconv.Atoi(text)
	return strconv.Itoa(n%16 + 1), strconv.Itoa(n % 90)
}

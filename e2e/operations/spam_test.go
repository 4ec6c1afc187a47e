package operations_test

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/waybook/waybook/internal/waybooktest"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	commentv1 "github.com/waybook/waybook/proto/gen/waybook/comment/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// Fresh accounts flood one album as fast as they can.
func TestOneCommandEachHidesASpammerAndRemovesTheComments(t *testing.T) {
	t.Parallel()
	const accounts, each, perMinute = 10, 25, 20
	w := waybooktest.Start(t, waybooktest.Shipped)
	o := operator{t, w.GRPC}
	newUser := func(name string) int64 {
		return waybooktest.Must(w.Account.CreateUser(t.Context(), &accountv1.CreateUserRequest{Name: name}))(t).GetUser().GetUserId()
	}
	album := waybooktest.Must(w.Album.CreateAlbum(t.Context(), &albumv1.CreateAlbumRequest{
		OwnerId: newUser("owner"), Title: "x", Category: albumv1.AlbumCategory_ALBUM_CATEGORY_FOOD, Location: &typev1.Location{Lat: 25, Lng: 121},
	}))(t).GetAlbum().GetAlbumId()
	var spammers []string
	var stored, refused atomic.Int64
	var all sync.WaitGroup
	began := time.Now()
	for n := range accounts {
		spammer := newUser(fmt.Sprint("spammer ", n))
		spammers = append(spammers, fmt.Sprint(spammer))
		all.Go(func() {
			for range each {
				_, err := w.Comment.AddComment(t.Context(), &commentv1.AddCommentRequest{
					AuthorId: spammer, Parent: &commentv1.AddCommentRequest_AlbumId{AlbumId: album}, Text: strings.Repeat("買", 2000),
				})
				switch status.Code(err) {
				case codes.OK:
					stored.Add(1)
				case codes.ResourceExhausted:
					refused.Add(1)
				default:
					t.Errorf("a comment: %v", err)
				}
			}
		})
	}
	all.Wait()
	took := time.Since(began)
	t.Logf("%d comments were stored and %d refused in %v", stored.Load(), refused.Load(), took)
	most := accounts * (perMinute + perMinute*int64(took)/int64(time.Minute) + 1)
	if stored.Load() < accounts*perMinute || stored.Load() > most || stored.Load()+refused.Load() != accounts*each {
		t.Errorf("%d were stored and %d refused in %v; at most %d may be", stored.Load(), refused.Load(), took, most)
	}
	shown := func() (count int) {
		t.Helper()
		for token := ""; ; {
			page := waybooktest.Must(w.Comment.ListComments(t.Context(), &commentv1.ListCommentsRequest{
				Parent: &commentv1.ListCommentsRequest_AlbumId{AlbumId: album}, PageSize: 1000, PageToken: token,
			}))(t)
			count += len(page.GetComments())
			if token = page.GetNextPageToken(); token == "" {
				return count
			}
		}
	}
	if count := shown(); int64(count) != stored.Load() {
		t.Errorf("%d are shown", count)
	}
	for _, spammer := range spammers {
		o.run("", "user", "disable", "--hide", spammer).expect(0)
	}
	for since := time.Now(); shown() > 0; time.Sleep(100 * time.Millisecond) {
		if time.Since(since) > 30*time.Second {
			t.Fatal("comments of hidden users are shown after 30 seconds")
		}
	}
	removed := int64(0)
	for _, spammer := range spammers {
		var done struct {
			Count int64 `json:"removed_count"`
		}
		o.mustRead(&done, "user", "comments", spammer, "--remove", "--yes")
		removed += done.Count
		o.run("", "user", "enable", spammer).expect(0)
	}
	if removed != stored.Load() {
		t.Errorf("%d of %d were removed", removed, stored.Load())
	}
}

func TestAHiddenUserIsDeletedWithContentAndComments(t *testing.T) {
	t.Parallel()
	o := operator{t, startEmpty(t).GRPC}
	w := newOwner(t, o, 2)
	counts := w.counts()
	if shown := o.must("user", "disable", "--hide", w.user()); !strings.Contains(shown, "HIDDEN        true\n") {
		t.Errorf("hidden:\n%s", shown)
	}
	for _, line := range []string{"user delete " + w.user(), "user delete --content keep " + w.user(), "user export " + w.user() + " -"} {
		o.run("", strings.Fields(line)...).expect(4, "is hidden")
	}
	if shown := o.must("user", "disable", w.user()); !strings.Contains(shown, "HIDDEN        false\n") {
		t.Errorf("shown:\n%s", shown)
	}
	if now := w.counts(); now != counts {
		t.Errorf("it has %s, and had %s", now, counts)
	}
	o.run("", "user", "disable", "--hide", w.user()).expect(0)
	if out := o.must("user", "delete", "--content", "delete", w.user()); !strings.Contains(out, "2 albums, 1 entries, 1 landmarks") {
		t.Errorf("it printed %q", out)
	}
}

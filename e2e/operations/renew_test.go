package operations_test

import (
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/waybook/waybook/internal/waybooktest"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	"github.com/waybook/waybook/waybookctl/storekeeping"
)

func TestFollowersStartAnewAfterTheFeedsAreRenewedOnEachStore(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, s store) {
		s.fill()
		list := func(token string) (next string, changes int, err error) {
			s.serve(func(w *waybooktest.Waybook) {
				var page *albumv1.ListAlbumChangesResponse
				page, err = w.Album.ListAlbumChanges(t.Context(), &albumv1.ListAlbumChangesRequest{PageToken: token})
				next, changes = page.GetNextPageToken(), len(page.GetChanges())
			})
			return next, changes, err
		}
		token, all, err := list("")
		s.must(err)
		if _, _, err := list(token); err != nil {
			t.Errorf("after another start: %v", err)
		}
		renewed, err := storekeeping.RenewFeeds(t.Context(), s.options())
		if s.flags.MongoDBURI == "" {
			if err == nil || !strings.Contains(err.Error(), "renews its feeds itself") {
				t.Errorf("on an embedded store: %v", err)
			}
			return
		}
		s.must(err)
		if renewed == 0 {
			t.Error("there was no feed")
		}
		if _, _, err := list(token); status.Code(err) != codes.FailedPrecondition || !strings.Contains(err.Error(), "forgotten") {
			t.Errorf("with a token of before: %v", err)
		}
		if _, again, err := list(""); err != nil || again != all || all == 0 {
			t.Errorf("from nothing: %d changes, %v; %d before", again, err, all)
		}
	})
}

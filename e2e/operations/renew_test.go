package operations_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/waybook/waybook/internal/platform/service"
	"github.com/waybook/waybook/internal/waybooktest"
	changev1 "github.com/waybook/waybook/proto/gen/waybook/change/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
	"github.com/waybook/waybook/waybookctl/storekeeping"
)

func TestARenewalMakesNoStore(t *testing.T) {
	data := filepath.Join(t.TempDir(), "none")
	err := storekeeping.Renew(t.Context(), storekeeping.Options{Store: service.StoreFlags{Data: data}})
	if _, stat := os.Stat(data); !errors.Is(err, fs.ErrNotExist) || !errors.Is(stat, fs.ErrNotExist) {
		t.Errorf("got %v, and the folder: %v", err, stat)
	}
}

func TestFollowersStartAnewAfterAStoreIsRenewedOnEachStore(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, s store) {
		s.fill()
		list := func(token string) (next string, changes int, err error) {
			s.serve(func(w *waybooktest.Waybook) {
				var page *changev1.ListChangesResponse
				page, err = w.Change.ListChanges(t.Context(), &changev1.ListChangesRequest{Kind: typev1.Kind_KIND_ALBUM, PageToken: token})
				next, changes = page.GetNextPageToken(), len(page.GetChanges())
			})
			return next, changes, err
		}
		token, all, err := list("")
		s.must(err)
		if _, _, err := list(token); err != nil {
			t.Errorf("after another start: %v", err)
		}
		s.must(storekeeping.Renew(t.Context(), s.options()))
		if _, _, err := list(token); status.Code(err) != codes.FailedPrecondition || !strings.Contains(err.Error(), "forgotten") {
			t.Errorf("with a token of before: %v", err)
		}
		if _, again, err := list(""); err != nil || again != all || all == 0 {
			t.Errorf("from nothing: %d changes, %v; %d before", again, err, all)
		}
	})
}

package rpc_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/waybook/waybook/internal/docstore"
)

func TestEveryCallReportsABrokenStoreWithoutItsMessage(t *testing.T) {
	t.Parallel()
	p := startParts(t)
	user := p.newUser("a")
	calls := p.everyCall(user, p.newAlbum(user, "x"), p.newBlog(user), p.newPoi(user, "x"))
	for name, broken := range map[string]struct {
		cause  error
		code   codes.Code
		reason string
	}{
		"unavailable": {
			fmt.Errorf("%w: bolt: page 17 of /tmp/waybook.db", docstore.ErrUnavailable),
			codes.Unavailable, "STORE_UNAVAILABLE",
		},
		"conflict": {
			fmt.Errorf("%w: mongo: WriteConflict", docstore.ErrConflict),
			codes.Aborted, "CONFLICT",
		},
		"something else": {
			errors.New("bolt: page 17 of /tmp/waybook.db is torn"),
			codes.Internal, "INTERNAL",
		},
	} {
		p.store.fail(broken.cause)
		t.Run(name, func(t *testing.T) {
			for call, run := range calls {
				t.Run(call, func(t *testing.T) {
					t.Parallel() // some calls pause between their tries
					isOwners := []string{"album.DeleteAlbum", "photo.AddPhoto of album", "photo.AddPhoto of poi", "album.UpdateAlbum", "blog.UpdateBlog", "poi.UpdatePoi"}
					if name == "conflict" && slices.Contains(isOwners, call) { // the store says that another owns it
						expectFault(t, run(t.Context()), codes.PermissionDenied, "NOT_OWNER")
						return
					}
					expectFault(t, run(t.Context()), broken.code, broken.reason)
				})
			}
		})
	}
	// After the store works again, every call works too. Calls that delete run last.
	p.store.fail(nil)
	names := slices.SortedFunc(maps.Keys(calls), func(a, b string) int { return deletes(a) - deletes(b) })
	for _, call := range names {
		switch err := calls[call](t.Context()); status.Code(err) {
		case codes.OK, codes.NotFound, codes.Unauthenticated: // photo 1 and that session do not exist
		case codes.PermissionDenied:
			if call != "account.RegisterUser" { // nor does that invitation
				t.Errorf("%s: %v", call, err)
			}
		case codes.FailedPrecondition:
			if call != "photo.Upload" && call != "account.UploadIcon" { // this store has no place for files
				t.Errorf("%s: %v", call, err)
			}
		default:
			t.Errorf("%s: %v", call, err)
		}
	}
}

// deletes orders calls: it returns 1 for calls that delete content.
func deletes(call string) int {
	if strings.Contains(call, ".Delete") {
		return 1
	}
	return 0
}

package rpc_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/waybook/waybook/internal/docstore"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
)

func TestEveryMethodOfTheContractsIsTried(t *testing.T) {
	calls := new(waybook).everyCall(1, 1, 1, 1)
	for _, file := range []protoreflect.FileDescriptor{
		accountv1.File_waybook_account_v1_account_proto, albumv1.File_waybook_album_v1_album_proto,
		blogv1.File_waybook_blog_v1_blog_proto, poiv1.File_waybook_poi_v1_poi_proto,
	} {
		methods := file.Services().Get(0).Methods()
		for i := range methods.Len() {
			name := path.Base(path.Dir(path.Dir(file.Path()))) + "." + string(methods.Get(i).Name())
			if calls[name] == nil {
				t.Errorf("%s is not tried", name)
			}
			delete(calls, name)
		}
	}
	if len(calls) > 0 {
		t.Errorf("no contract has the methods %v", calls)
	}
}

func TestEveryCallReportsABrokenStoreWithoutItsMessage(t *testing.T) {
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
		for call, run := range calls {
			t.Run(name+" "+call, func(t *testing.T) {
				expectFault(t, run(t.Context()), broken.code, broken.reason)
			})
		}
	}
	// After the store works again, every call works too. Calls that delete run last.
	p.store.fail(nil)
	names := slices.SortedFunc(maps.Keys(calls), func(a, b string) int { return deletes(a) - deletes(b) })
	for _, call := range names {
		switch err := calls[call](t.Context()); status.Code(err) {
		case codes.OK, codes.NotFound, codes.Unauthenticated: // photo 1 and that session do not exist
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

func TestEveryCallHonoursTheCallersDeadline(t *testing.T) {
	w := start(t)
	user := w.newUser("a")
	calls := w.everyCall(user, w.newAlbum(user, "x"), w.newBlog(user), w.newPoi(user, "x"))
	for name, call := range calls {
		ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
		if code := status.Code(call(ctx)); code != codes.DeadlineExceeded {
			t.Errorf("%s after its deadline: %v", name, code)
		}
		cancel()
	}
}

package poi

import (
	"context"
	"log/slog"
	"path/filepath"
	"testing"

	"google.golang.org/grpc"

	"github.com/waybook/waybook/internal/content"
	"github.com/waybook/waybook/internal/content/profiles"
	"github.com/waybook/waybook/internal/docstore/embedded"
	"github.com/waybook/waybook/internal/docstore/observed"
	"github.com/waybook/waybook/internal/platform/service"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

// everybody is an account service that knows every user.
type everybody struct{ accountv1.AccountServiceClient }

func (everybody) BatchGetUsers(
	_ context.Context, request *accountv1.BatchGetUsersRequest, _ ...grpc.CallOption,
) (*accountv1.BatchGetUsersResponse, error) {
	reply := &accountv1.BatchGetUsersResponse{}
	for _, id := range request.GetUserIds() {
		reply.Users = append(reply.Users, &accountv1.User{UserId: id, Name: "x"})
	}
	return reply, nil
}

// newServer returns a service over an empty store.
func newServer(t testing.TB) *server {
	t.Helper()
	return newObservedServer(t, func(observed.Call) {})
}

// newObservedServer returns a service over an empty store, and reports the calls to the
// store.
func newObservedServer(t testing.TB, tell func(observed.Call)) *server {
	t.Helper()
	store, err := embedded.Open(t.Context(), filepath.Join(t.TempDir(), "store.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	deps := content.Deps{Deps: service.NewDeps(observed.Wrap(store, nil, tell), slog.New(slog.DiscardHandler))}
	deps.Profiles = profiles.NewDirectory(everybody{}, deps.Log)
	opened, err := New(t.Context(), deps)
	if err != nil {
		t.Fatal(err)
	}
	return opened.(*server)
}

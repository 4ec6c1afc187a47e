package rpc_test

import (
	"context"
	"fmt"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"

	"google.golang.org/grpc"

	"github.com/waybook/waybook/edge"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
)

// countedAccount counts the calls that several sessions share.
type countedAccount struct {
	accountv1.AccountServiceClient
	shared atomic.Int64
}

func (c *countedAccount) VerifySessions(
	ctx context.Context, request *accountv1.VerifySessionsRequest, options ...grpc.CallOption,
) (*accountv1.VerifySessionsResponse, error) {
	if len(request.GetSessions()) > 1 {
		c.shared.Add(1)
	}
	return c.AccountServiceClient.VerifySessions(ctx, request, options...)
}

// TestAClosedSessionWritesNothingWhileSessionsShareCalls lets people log in, write, log out and try to
// write again, all at the same time, through an edge that verifies their sessions with shared calls.
func TestAClosedSessionWritesNothingWhileSessionsShareCalls(t *testing.T) {
	t.Parallel()
	const people, rounds, mostRounds = 16, 4, 400
	w := start(t)
	account := &countedAccount{AccountServiceClient: w.Account}
	handler := w.EdgeWith(func(c *edge.Config) { c.Account, c.GathersSessions = account, true })
	add := func(user int64, token string) (reason string) {
		b := browserOf(t, handler, "192.0.2.1")
		b.Client = b.With(user, token)
		return b.send(url.Values{"func": {"addAlbum"}, "albumTitle": {"t"}, "category": {"1"}, "lat": {"25"}, "lng": {"121"}})
	}
	var all sync.WaitGroup
	for person := range people {
		user := w.newUser(fmt.Sprint(person))
		all.Go(func() {
			written := 0
			for round := 0; round < rounds || account.shared.Load() == 0 && round < mostRounds; round++ {
				opened, err := w.Account.OpenSession(t.Context(), &accountv1.OpenSessionRequest{UserId: user})
				if err != nil {
					t.Error(err)
					return
				}
				if reason := add(user, opened.GetToken()); reason != "" {
					t.Errorf("an open session gets %s", reason)
				}
				written++
				if _, err := w.Account.CloseSession(t.Context(), &accountv1.CloseSessionRequest{UserId: user, Token: opened.GetToken()}); err != nil {
					t.Error(err)
				}
				if reason := add(user, opened.GetToken()); reason != "LOGIN_REQUIRED" {
					t.Errorf("a closed session gets %q", reason)
				}
			}
			listed, err := w.Album.ListAlbums(t.Context(), &albumv1.ListAlbumsRequest{OwnerId: user, PageSize: mostRounds})
			if err != nil || len(listed.GetAlbums()) != written {
				t.Errorf("user %d has %d albums and error %v, want %d", user, len(listed.GetAlbums()), err, written)
			}
		})
	}
	all.Wait()
	if account.shared.Load() == 0 {
		t.Error("no call was shared")
	}
}

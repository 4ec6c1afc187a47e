package rpc_test

import (
	"fmt"
	"net/url"
	"sync"
	"testing"

	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
)

// TestAClosedSessionWritesNothing lets people log in, write, log out and try to write again, all at the same time.
func TestAClosedSessionWritesNothing(t *testing.T) {
	t.Parallel()
	const people, rounds = 16, 4
	w := start(t)
	add := func(user int64, token string) (reason string) {
		b := w.newBrowser(t, w.Account, "192.0.2.1")
		b.Client = b.With(user, token)
		return b.send(url.Values{"func": {"addAlbum"}, "albumTitle": {"t"}, "category": {"1"}, "lat": {"25"}, "lng": {"121"}})
	}
	var all sync.WaitGroup
	for person := range people {
		user := w.newUser(fmt.Sprint(person))
		all.Go(func() {
			for range rounds {
				opened, err := w.Account.OpenSession(t.Context(), &accountv1.OpenSessionRequest{UserId: user})
				if err != nil {
					t.Error(err)
					return
				}
				if reason := add(user, opened.GetToken()); reason != "" {
					t.Errorf("an open session gets %s", reason)
				}
				if _, err := w.Account.CloseSession(t.Context(), &accountv1.CloseSessionRequest{UserId: user, Token: opened.GetToken()}); err != nil {
					t.Error(err)
				}
				if reason := add(user, opened.GetToken()); reason != "LOGIN_REQUIRED" {
					t.Errorf("a closed session gets %q", reason)
				}
			}
			listed, err := w.Album.ListAlbums(t.Context(), &albumv1.ListAlbumsRequest{OwnerId: user, PageSize: 100})
			if err != nil || len(listed.GetAlbums()) != rounds {
				t.Errorf("user %d has %d albums and error %v, want %d", user, len(listed.GetAlbums()), err, rounds)
			}
		})
	}
	all.Wait()
}

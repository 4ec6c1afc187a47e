// Package demo fills an empty store with content to try Waybook on: a user with a
// session, an album, an entry, and real landmarks.
package demo

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/waybook/waybook/internal/clients"
	"github.com/waybook/waybook/internal/platform/audit"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
)

const (
	// passwordFile holds the demo user's password. It is written before anything is created.
	passwordFile = "demo-password"
	// cookieFile holds the demo user's cookie in the form of a Cookie header. It is written when
	// everything is created.
	cookieFile = "demo-cookie"
)

// Email is the address with which the demo user logs in.
const Email = "demo@waybook.example"

// Fill fills a store that has no users, and resumes after an interruption. Each create has a fixed
// request id, so nothing is created twice. Fill writes the demo user's password and cookie to
// files in dataDir that only their owner can read. It says so on out if there is something to
// fill.
func Fill(ctx context.Context, call clients.Clients, hasUsers func(context.Context) (bool, error), dataDir string,
	out io.Writer) error {
	isUsed, err := hasUsers(ctx)
	isBegun := exists(dataDir, passwordFile)
	if err != nil || isUsed && (!isBegun || exists(dataDir, cookieFile)) {
		return err
	}
	fmt.Fprintln(out, "Making demo content.")
	ctx = audit.Unrecorded(ctx)
	if err := os.MkdirAll(dataDir, 0o700); err != nil {
		return err
	}
	if !isBegun {
		if err := writeSecret(dataDir, passwordFile, rand.Text()); err != nil {
			return err
		}
	}
	password, err := os.ReadFile(filepath.Join(dataDir, passwordFile))
	if err != nil {
		return err
	}
	userID, err := (&filler{Clients: call, ctx: ctx}).fill(strings.TrimSpace(string(password)))
	if err != nil {
		return err
	}
	return writeCookie(ctx, call, dataDir, userID)
}

func exists(dataDir, name string) bool {
	_, err := os.Stat(filepath.Join(dataDir, name))
	return err == nil
}

// Shown is the demo content to show to a user.
type Shown struct {
	UserID int64
	// AlbumID is the user's first album; 0 if there is none.
	AlbumID int64
	// CookieFile is the absolute path of the demo user's cookie, and PasswordFile that of the
	// password. PasswordFile is empty if there is no such file.
	CookieFile, PasswordFile string
}

// Find returns the demo content, or nil if the store has none. It replaces a session that has
// ended.
func Find(ctx context.Context, call clients.Clients, dataDir string) (*Shown, error) {
	path, err := filepath.Abs(filepath.Join(dataDir, cookieFile))
	if err != nil {
		return nil, err
	}
	cookie, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var userID int64
	var token string
	if _, err := fmt.Sscanf(string(cookie), "id=%d; idrand=%s", &userID, &token); err != nil {
		return nil, fmt.Errorf("%s is not a cookie; delete it: %w", path, err)
	}
	_, err = call.Account.VerifySession(ctx, &accountv1.VerifySessionRequest{UserId: userID, Token: token})
	if status.Code(err) == codes.Unauthenticated {
		err = writeCookie(ctx, call, dataDir, userID)
	}
	if status.Code(err) == codes.NotFound {
		// The cookie belongs to another store.
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	albums, err := call.Album.ListAlbums(ctx, &albumv1.ListAlbumsRequest{OwnerId: userID, PageSize: 1})
	if err != nil {
		return nil, err
	}
	shown := &Shown{UserID: userID, CookieFile: path}
	if exists(dataDir, passwordFile) {
		shown.PasswordFile = filepath.Join(filepath.Dir(path), passwordFile)
	}
	if len(albums.GetAlbums()) > 0 {
		shown.AlbumID = albums.GetAlbums()[0].GetAlbumId()
	}
	return shown, nil
}

// writeCookie opens a session and writes its cookie.
func writeCookie(ctx context.Context, call clients.Clients, dataDir string, userID int64) error {
	opened, err := call.Account.OpenSession(ctx, &accountv1.OpenSessionRequest{UserId: userID})
	if err != nil {
		return err
	}
	return writeSecret(dataDir, cookieFile, fmt.Sprintf("id=%d; idrand=%s", userID, opened.GetToken()))
}

// writeSecret atomically writes a file of one line that only its owner can read.
func writeSecret(dataDir, name, line string) error {
	path := filepath.Join(dataDir, name)
	written := path + ".new"
	if err := os.WriteFile(written, []byte(line+"\n"), 0o600); err != nil { // #nosec G703 -- in the operator's own directory
		return err
	}
	return os.Rename(written, path)
}

package rpc_test

import (
	"context"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/waybook/waybook/e2e/mongotest"
	"github.com/waybook/waybook/internal/blob"
	"github.com/waybook/waybook/internal/blob/directory"
	"github.com/waybook/waybook/internal/blob/gridfs"
	"github.com/waybook/waybook/internal/docstore/mongo"
	"github.com/waybook/waybook/internal/longform"
	"github.com/waybook/waybook/internal/platform/service"
	"github.com/waybook/waybook/internal/waybooktest"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	photov1 "github.com/waybook/waybook/proto/gen/waybook/photo/v1"
)

// aged is a store of files whose clock a test advances.
type aged struct {
	blob.Store
	ahead atomic.Int64
}

func (a *aged) Now(ctx context.Context) (time.Time, error) {
	now, err := a.Store.Now(ctx)
	return now.Add(time.Duration(a.ahead.Load())), err
}

// files returns the names of all files.
func (a *aged) files(t *testing.T) (names []string) {
	t.Helper()
	for _, entry := range must(a.List(t.Context(), blob.Key{}, 1000))(t) {
		names = append(names, entry.Key.Name())
	}
	return names
}

func TestASweepDeletesTheFilesThatNoPhotoAndNoUserHas(t *testing.T) {
	t.Parallel()
	test := func(t *testing.T, store *brittle, open func(name string) (blob.Store, error)) {
		t.Helper()
		files, backups := map[string]*aged{}, &blob.Backups{}
		w := &waybook{waybooktest.StartOn(t, store, waybooktest.Deps(func(deps *service.Deps) {
			deps.Backups = backups
			deps.Files = func(_ context.Context, name string) (blob.Store, error) {
				opened, err := open(name)
				files[name] = &aged{Store: opened}
				return files[name], err
			}
		})), t}
		inAlbums, owner := files["album_photos"], w.newUser("owner")
		album := w.newAlbum(owner, "山")
		must(w.upload(ofAlbum(owner, album), jpegOf(t, 40, 30, 1)))(t)
		kept := inAlbums.files(t)
		must(w.Photo.AddPhoto(t.Context(), &photov1.AddPhotoRequest{
			ActorId: owner, Parent: &photov1.AddPhotoRequest_AlbumId{AlbumId: album}, Url: "elsewhere.jpg",
		}))(t)
		removed := must(w.upload(ofAlbum(owner, album), jpegOf(t, 40, 30, 2)))(t)
		must(w.Photo.RemovePhoto(t.Context(), &photov1.RemovePhotoRequest{
			ActorId: owner, Parent: &photov1.RemovePhotoRequest_AlbumId{AlbumId: album}, PhotoId: removed.GetPhotoId(),
		}))(t)
		orphan := blob.Key{File: 7, Kind: blob.Original}
		if err := inAlbums.Put(t.Context(), orphan, strings.NewReader("left by a crash")); err != nil {
			t.Fatal(err)
		}
		expect := func(when string, want int) {
			t.Helper()
			if has := inAlbums.files(t); len(has) != want {
				t.Fatalf("%s, there are %v", when, has)
			}
		}
		icons := files["users"]
		for shade := range uint8(3) {
			must(w.uploadIcon(&accountv1.UploadIconStart{ActorId: owner}, jpegOf(t, 40, 30, shade)))(t)
		}
		gone := w.newUser("gone")
		must(w.uploadIcon(&accountv1.UploadIconStart{ActorId: gone}, jpegOf(t, 40, 30, 4)))(t)
		must(w.Account.UpdateUser(t.Context(), &accountv1.UpdateUserRequest{UserId: gone, Disabled: proto.Bool(true)}))(t)
		must(w.Account.DeleteUser(t.Context(), &accountv1.DeleteUserRequest{UserId: gone}))(t)
		icon := must(w.Account.GetUser(t.Context(), &accountv1.GetUserRequest{UserId: owner}))(t).GetUser().GetIconUrl()
		expect("before a sweep", 7)
		w.Sweep()
		w.Clock.Advance(time.Hour)
		w.Sweep()
		expect("while all are young", 7)
		inAlbums.ahead.Store(int64(25 * time.Hour))
		icons.ahead.Store(int64(25 * time.Hour))
		w.Sweep()
		expect("on the same day", 7)
		end := backups.Begin()
		w.Clock.Advance(24 * time.Hour)
		w.Sweep()
		expect("during a backup", 7)
		if has := icons.files(t); len(has) != 4 {
			t.Errorf("during a backup, there are the icons %v", has)
		}
		end()
		w.Clock.Advance(time.Hour)
		w.Sweep()
		expect("after it", 3)
		if has := icons.files(t); len(has) != 1 {
			t.Errorf("after it, there are the icons %v", has)
		}
		must(w.Account.GetIcon(t.Context(), iconAt(t, icon)))(t)
		if has := inAlbums.files(t); strings.Join(has, " ") != strings.Join(kept, " ") {
			t.Errorf("there are %v, want %v", has, kept)
		}
	}
	t.Run("embedded", func(t *testing.T) {
		t.Parallel()
		data := t.TempDir()
		test(t, newBrittle(t), func(name string) (blob.Store, error) {
			opened, err := directory.Open(filepath.Join(data, "photos", name))
			t.Cleanup(func() { _ = opened.Close() })
			return opened, err
		})
	})
	t.Run("MongoDB", func(t *testing.T) {
		t.Parallel()
		longform.Only(t)
		store := newBrittleOverWire(t, mongotest.StartReplicaSet(t))
		test(t, store, func(name string) (blob.Store, error) {
			return gridfs.Open(t.Context(), store.Engine.(*mongo.Engine), name)
		})
	})
}

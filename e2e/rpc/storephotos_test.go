package rpc_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/waybook/waybook/e2e/mongotest"
	"github.com/waybook/waybook/e2e/mongowire"
	"github.com/waybook/waybook/internal/content/integrity"
	"github.com/waybook/waybook/internal/longform"
	"github.com/waybook/waybook/internal/platform/service"
	"github.com/waybook/waybook/internal/waybooktest"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	photov1 "github.com/waybook/waybook/proto/gen/waybook/photo/v1"
	"github.com/waybook/waybook/waybookctl/storekeeping"
)

// moved dumps a store with its photos and loads them into another one.
func moved(ctx context.Context, t *testing.T, from, to storekeeping.Options) {
	t.Helper()
	from.Photos, to.Photos = filepath.Join(t.TempDir(), "photos"), ""
	file := filepath.Join(t.TempDir(), "dump")
	must(storekeeping.Dump(ctx, from, file))(t)
	dump := must(storekeeping.OpenDump(ctx, to, file))(t)
	defer func() { _ = dump.Close() }()
	to.Photos = from.Photos
	must(dump.Load(ctx, to))(t)
}

// expectClean checks a store, and returns how many files have no photo.
func expectClean(t *testing.T, options storekeeping.Options, faults ...integrity.Kind) (unnamed int64) {
	t.Helper()
	report := must(storekeeping.Check(t.Context(), options, integrity.Look))(t)
	if len(report.Findings) != len(faults) {
		t.Fatalf("a check found %+v, want %v", report.Findings, faults)
	}
	for i, found := range report.Findings {
		if found.Kind != faults[i] || found.Count != 1 {
			t.Errorf("a check found %+v, want %v", found, faults[i])
		}
	}
	for _, each := range report.Collections {
		unnamed += each.UnnamedFiles
	}
	return unnamed
}

func TestPhotosMoveWithTheirStore(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	w := start(t, waybooktest.Flags("-data", data))
	owner, file := w.newUser("owner"), jpegOf(t, 40, 30, 1)
	album := w.newAlbum(owner, "山")
	photo := must(w.upload(ofAlbum(owner, album), file))(t)
	icon := iconAt(t, must(w.uploadIcon(&accountv1.UploadIconStart{ActorId: owner}, file))(t).GetIconUrl())
	w.Stop()
	first := storekeeping.Options{Store: service.StoreFlags{Data: data}}
	expectClean(t, first)
	test := func(t *testing.T, second storekeeping.Options, flags ...string) {
		t.Helper()
		moved(t.Context(), t, first, second)
		expectClean(t, second)
		w := start(t, waybooktest.Flags(flags...))
		original := inAlbum(album, photo.GetPhotoId(), photov1.PhotoSize_PHOTO_SIZE_ORIGINAL)
		original.ActorId = owner
		if _, content, err := w.download(original); err != nil || !bytes.Equal(content, file) {
			t.Errorf("the photo has %d bytes: %v", len(content), err)
		}
		must(w.Account.GetIcon(t.Context(), icon))(t)
		must(w.Account.UpdateProfile(t.Context(), &accountv1.UpdateProfileRequest{ActorId: owner, IconUrl: proto.String("")}))(t)
		must(w.Photo.RemovePhoto(t.Context(), &photov1.RemovePhotoRequest{
			ActorId: owner, Parent: &photov1.RemovePhotoRequest_AlbumId{AlbumId: album}, PhotoId: photo.GetPhotoId(),
		}))(t)
		w.Stop()
		if unnamed := expectClean(t, second); unnamed != 4 {
			t.Errorf("nothing names %d files, want 4", unnamed)
		}
	}
	t.Run("to an embedded store", func(t *testing.T) {
		other := t.TempDir()
		test(t, storekeeping.Options{Store: service.StoreFlags{Data: other}}, "-data", other)
	})
	t.Run("to a MongoDB", func(t *testing.T) {
		longform.Only(t)
		uri := mongotest.StartReplicaSet(t)
		test(t, storekeeping.Options{Store: service.StoreFlags{MongoDBURI: uri}}, "-mongodb-uri", uri)
	})
	t.Run("to a cluster", func(t *testing.T) {
		longform.Only(t)
		uri := mongotest.StartServer(t, mongowire.Config{Role: mongowire.Router, Shards: 3}).URI(mongotest.Database())
		second := storekeeping.Options{Store: service.StoreFlags{MongoDBURI: uri}}
		for range 2 {
			prepared := must(storekeeping.Prepare(t.Context(), second))(t)
			byFile := 0
			for _, each := range prepared.Collections {
				if each.Placement == "by file" {
					byFile++
				}
			}
			if byFile != 6 {
				t.Errorf("the collections are %+v", prepared.Collections)
			}
		}
		test(t, second, "-mongodb-uri", uri)
	})
	t.Run("without a file", func(t *testing.T) {
		for i, folder := range []string{"users", "album_photos"} {
			removed := false
			if err := filepath.WalkDir(filepath.Join(data, service.PhotosDirectory, folder), func(path string, entry fs.DirEntry, err error) error {
				if err == nil && !removed && !entry.IsDir() {
					removed, err = true, os.Remove(path)
				}
				return errors.Join(err)
			}); err != nil {
				t.Fatal(err)
			}
			expectClean(t, first, slices.Repeat([]integrity.Kind{storekeeping.MissingFile}, i+1)...)
		}
	})
}

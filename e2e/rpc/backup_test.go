package rpc_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/waybook/waybook/e2e/mongotest"
	"github.com/waybook/waybook/internal/longform"
	"github.com/waybook/waybook/internal/platform/service"
	"github.com/waybook/waybook/internal/progress"
	"github.com/waybook/waybook/internal/waybooktest"
	photov1 "github.com/waybook/waybook/proto/gen/waybook/photo/v1"
	storev1 "github.com/waybook/waybook/proto/gen/waybook/store/v1"
	"github.com/waybook/waybook/waybookctl/storekeeping"
)

func TestARestoredBackupHasThePhotos(t *testing.T) {
	t.Parallel()
	w := start(t)
	owner, file := w.newUser("owner"), jpegOf(t, 400, 300, 1)
	album := w.newAlbum(owner, "山")
	photo := must(w.upload(ofAlbum(owner, album), file))(t)
	var backup bytes.Buffer
	made, unrecorded, err := storekeeping.Backup(t.Context(), storev1.NewStoreServiceClient(w.Connection), &backup, time.Now(), progress.New(io.Discard))
	if err != nil || unrecorded != nil || made.Photos.Files != 3 {
		t.Fatalf("got %+v, %v, %v", made, unrecorded, err)
	}
	packed := backup.Bytes()
	data := filepath.Join(t.TempDir(), "new")
	options := storekeeping.Options{Store: service.StoreFlags{Data: data}}
	restore := func(from []byte) error {
		_, err := storekeeping.Restore(t.Context(), options, storekeeping.Source{Name: "backup", Reader: bytes.NewReader(from)}, time.Now(), progress.New(io.Discard))
		return err
	}
	damaged := bytes.Clone(packed)
	damaged[bytes.Index(damaged, file)+len(file)/2]++
	if err := restore(damaged); err == nil {
		t.Fatal("a photo was damaged, and the backup is restored")
	}
	if err := os.RemoveAll(data); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := restore(packed); err != nil {
			t.Fatal(err)
		}
	}
	restored := start(t, waybooktest.Flags("-data", data))
	original := inAlbum(album, photo.GetPhotoId(), photov1.PhotoSize_PHOTO_SIZE_ORIGINAL)
	original.ActorId = owner
	if _, content, err := restored.download(original); err != nil || !bytes.Equal(content, file) {
		t.Errorf("the photo has %d bytes: %v", len(content), err)
	}
}

func TestAMongoDBIsNotBackedUp(t *testing.T) {
	t.Parallel()
	longform.Only(t)
	w := start(t, waybooktest.OnMongoDB(mongotest.StartReplicaSet(t)))
	expectFault(t, failed(collect(storev1.NewStoreServiceClient(w.Connection).Backup(t.Context(), &storev1.BackupRequest{}))),
		codes.FailedPrecondition, "STORE_NOT_EMBEDDED")
}

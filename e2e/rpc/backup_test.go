package rpc_test

import (
	"bytes"
	"crypto/sha256"
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
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	photov1 "github.com/waybook/waybook/proto/gen/waybook/photo/v1"
	storev1 "github.com/waybook/waybook/proto/gen/waybook/store/v1"
	"github.com/waybook/waybook/waybookctl/storekeeping"
)

func TestABackupIsAStoreFileOfTheMomentWhenItBegan(t *testing.T) {
	t.Parallel()
	w := start(t)
	before := w.newUser("before")
	stream, err := storev1.NewStoreServiceClient(w.Connection).Backup(t.Context(), &storev1.BackupRequest{})
	if err != nil {
		t.Fatal(err)
	}
	size := must(stream.Recv())(t).GetSizeBytes()
	after := w.newUser("after")
	parts, err := collect(stream, nil)
	if err != nil || len(parts) < 2 {
		t.Fatalf("%d messages: %v", len(parts), err)
	}
	var file bytes.Buffer
	for _, part := range parts[:len(parts)-2] {
		file.Write(part.GetChunk())
	}
	sum := sha256.Sum256(file.Bytes())
	if end := parts[len(parts)-2]; !bytes.Equal(end.GetSha256(), sum[:]) || int64(file.Len()) != size {
		t.Errorf("announced %d bytes, got %d with the end %v", size, file.Len(), end)
	}
	data := t.TempDir()
	if err := os.WriteFile(filepath.Join(data, "waybook.db"), file.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	restored := start(t, waybooktest.Flags("-data", data))
	if _, err := restored.Account.GetUser(t.Context(), &accountv1.GetUserRequest{UserId: before}); err != nil {
		t.Error(err)
	}
	expectFault(t, failed(restored.Account.GetUser(t.Context(), &accountv1.GetUserRequest{UserId: after})), codes.NotFound, "USER_NOT_FOUND")
}

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

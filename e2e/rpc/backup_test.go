package rpc_test

import (
	"bytes"
	"crypto/sha256"
	"os"
	"path/filepath"
	"testing"

	"google.golang.org/grpc/codes"

	"github.com/waybook/waybook/e2e/mongotest"
	"github.com/waybook/waybook/internal/longform"
	"github.com/waybook/waybook/internal/waybooktest"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	storev1 "github.com/waybook/waybook/proto/gen/waybook/store/v1"
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
	for _, part := range parts[:len(parts)-1] {
		file.Write(part.GetChunk())
	}
	sum := sha256.Sum256(file.Bytes())
	if end := parts[len(parts)-1]; !bytes.Equal(end.GetSha256(), sum[:]) || int64(file.Len()) != size {
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

func TestAMongoDBIsNotBackedUp(t *testing.T) {
	t.Parallel()
	longform.Only(t)
	w := start(t, waybooktest.OnMongoDB(mongotest.StartReplicaSet(t)))
	expectFault(t, failed(collect(storev1.NewStoreServiceClient(w.Connection).Backup(t.Context(), &storev1.BackupRequest{}))),
		codes.FailedPrecondition, "STORE_NOT_EMBEDDED")
}

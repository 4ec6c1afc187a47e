package storekeeping

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"google.golang.org/grpc"

	storev1 "github.com/waybook/waybook/proto/gen/waybook/store/v1"
	"github.com/waybook/waybook/waybookctl/atomicfile"
)

// BackedUp describes a backup.
type BackedUp struct {
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
	// Unconfirmed is why the service did not record the backup, so that its metric does not
	// show it. It is nil if the service did.
	Unconfirmed error `json:"-"`
}

// Backup writes a copy of the embedded store of a running program to a file, which appears only
// when it is complete, verified and synced. The file is a store file. Then it confirms the backup
// to the program. progress receives how many of the bytes have arrived.
func Backup(ctx context.Context, client storev1.StoreServiceClient, path string, progress func(arrived, size int64)) (BackedUp, error) {
	done, err := copyTo(ctx, client, path, progress)
	if err != nil {
		return done, err
	}
	sum, err := hex.DecodeString(done.SHA256)
	if err == nil {
		_, err = client.ConfirmBackup(ctx, &storev1.ConfirmBackupRequest{Sha256: sum})
	}
	done.Unconfirmed = err
	return done, nil
}

func copyTo(ctx context.Context, client storev1.StoreServiceClient, path string, progress func(arrived, size int64)) (done BackedUp, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends the stream if the file cannot be written
	stream, err := client.Backup(ctx, &storev1.BackupRequest{})
	if err != nil {
		return done, err
	}
	first, err := stream.Recv()
	if err != nil {
		return done, err
	}
	if first.GetStart() == nil {
		return done, errors.New("the backup does not begin with its size")
	}
	size := first.GetStart().GetSizeBytes()
	err = atomicfile.Write(path, dumpPermissions, func(file io.Writer) (err error) {
		done, err = receive(stream, file, size, progress)
		return err
	})
	return done, err
}

// receive writes the chunks of a backup and verifies it.
func receive(stream grpc.ServerStreamingClient[storev1.BackupResponse], file io.Writer, size int64, progress func(arrived, size int64)) (BackedUp, error) {
	sum, arrived := sha256.New(), int64(0)
	for {
		part, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return BackedUp{}, fmt.Errorf("the backup is incomplete: it has %d of %d bytes", arrived, size)
		}
		if err != nil {
			return BackedUp{}, err
		}
		if end := part.GetEnd(); end != nil {
			if arrived != size || !bytes.Equal(sum.Sum(nil), end.GetSha256()) {
				return BackedUp{}, fmt.Errorf("the backup was changed on its way: it has %d of %d bytes and the SHA-256 %x, not %x", arrived, size, sum.Sum(nil), end.GetSha256())
			}
			return BackedUp{Bytes: size, SHA256: hex.EncodeToString(end.GetSha256())}, nil
		}
		_, _ = sum.Write(part.GetChunk()) // never fails
		if _, err := file.Write(part.GetChunk()); err != nil {
			return BackedUp{}, err
		}
		arrived += int64(len(part.GetChunk()))
		progress(arrived, size)
	}
}

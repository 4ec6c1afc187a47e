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
	"github.com/waybook/waybook/waybookctl/backupplace"
)

// BackedUp describes a backup.
type BackedUp struct {
	// Bytes and SHA256 are those of the store file, before any encryption.
	Bytes     int64  `json:"bytes"`
	SHA256    string `json:"sha256"`
	Encrypted bool   `json:"encrypted"`
	// Unconfirmed is why the service did not record the backup, so that its metric does not
	// show it. It is nil if the service did.
	Unconfirmed error `json:"-"`
}

// Target is where a backup goes.
type Target struct {
	// Write passes a writer to write, and keeps what it wrote if it succeeds.
	Write func(write func(io.Writer) error) error
	// Open opens what was kept, to verify it. It is nil if that cannot be read again.
	Open func() (backupplace.File, error)
	// Remove removes what was kept and is not what was written.
	Remove func() error
	Keys   backupplace.Keys
}

// TargetIn returns a file of a place as a target.
func TargetIn(ctx context.Context, place backupplace.Place, name string, keys backupplace.Keys) Target {
	return Target{
		Write:  func(write func(io.Writer) error) error { return place.Write(ctx, name, write) },
		Open:   func() (backupplace.File, error) { return place.Open(ctx, name) },
		Remove: func() error { return place.Remove(context.WithoutCancel(ctx), name) },
		Keys:   keys,
	}
}

// Backup writes a copy of the embedded store of a running program to a target, verified and, with a
// recipient, encrypted. It reads the target again and compares it, what is encrypted too if the keys can
// decrypt it. Then it confirms the backup to the program. progress receives how many of the bytes have
// arrived.
func Backup(ctx context.Context, client storev1.StoreServiceClient, to Target, progress func(arrived, size int64)) (BackedUp, error) {
	done, err := copyTo(ctx, client, to, progress)
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

func copyTo(ctx context.Context, client storev1.StoreServiceClient, to Target, progress func(arrived, size int64)) (done BackedUp, err error) {
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
	kept := sha256.New()
	if err := to.Write(func(file io.Writer) error {
		return to.Keys.Encrypt(io.MultiWriter(kept, file), func(file io.Writer) (err error) {
			done, err = receive(stream, file, size, progress)
			return err
		})
	}); err != nil {
		return done, err
	}
	done.Encrypted = to.Keys.Encrypts()
	if to.Open == nil {
		return done, nil
	}
	if err := verify(ctx, to, kept.Sum(nil), done.SHA256); err != nil {
		return done, errors.Join(err, to.Remove())
	}
	return done, nil
}

// verify reads a target again. It has the checksum kept, and the file in it the other one.
func verify(ctx context.Context, to Target, kept []byte, sum string) (err error) {
	file, err := to.Open()
	if err != nil {
		return fmt.Errorf("the backup was written, and can't be read again: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	whole, inside := sha256.New(), sha256.New()
	read := io.TeeReader(&watched{ctx: ctx, from: file, progress: func(int64) {}}, whole)
	if to.Keys.Encrypts() && to.Keys.Decrypts() {
		decrypted, err := to.Keys.Decrypt(read)
		if err == nil {
			_, err = io.Copy(inside, decrypted)
		}
		if err != nil {
			return fmt.Errorf("the backup was written, and can't be decrypted: %w", err)
		}
		if got := hex.EncodeToString(inside.Sum(nil)); got != sum {
			return fmt.Errorf("the backup was written, and differs when it is decrypted: its SHA-256 is %s, not %s", got, sum)
		}
	}
	if _, err := io.Copy(io.Discard, read); err != nil {
		return fmt.Errorf("the backup was written, and can't be read again: %w", err)
	}
	if !bytes.Equal(whole.Sum(nil), kept) {
		return fmt.Errorf("the backup was written, and differs when it is read again: its SHA-256 is %x, not %x", whole.Sum(nil), kept)
	}
	return nil
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

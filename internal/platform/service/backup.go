package service

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

	"github.com/waybook/waybook/internal/blob"
	"github.com/waybook/waybook/internal/docstore/embedded"
	"github.com/waybook/waybook/internal/platform/apierror"
	storev1 "github.com/waybook/waybook/proto/gen/waybook/store/v1"
)

// stallTimeout is how long a reader may take for a message of a backup. Until the backup
// ends, the store can't use the pages that it frees.
const stallTimeout = 15 * time.Second

// Source is a store that can be copied while it is in use.
type Source interface {
	// Backup writes a copy of the store as it is at one moment. begin receives its size in
	// bytes before the first write.
	Backup(ctx context.Context, to io.Writer, begin func(bytes int64) error) error
	// RecordBackup records that a backup that began at a moment was sent.
	RecordBackup(began time.Time) error
}

// Copied is what StoreService copies.
type Copied struct {
	// Source is nil for a MongoDB.
	Source
	// Files has the stores of the files that its documents name, by name. Backups keeps the files
	// meanwhile.
	Files   map[string]blob.Store
	Backups *blob.Backups
}

// storeServer implements StoreService.
type storeServer struct {
	storev1.UnimplementedStoreServiceServer

	source  Copied
	stall   time.Duration
	now     func() time.Time
	running chan struct{} // a semaphore of one, held while the source is read
}

func newStoreServer(source Copied) *storeServer {
	return &storeServer{source: source, stall: stallTimeout, now: time.Now, running: make(chan struct{}, 1)}
}

// Backup streams a copy of the store, and records it after the last message.
func (s *storeServer) Backup(_ *storev1.BackupRequest,
	stream grpc.ServerStreamingServer[storev1.BackupResponse]) error {
	if s.source.Source == nil {
		return apierror.New(codes.FailedPrecondition, "STORE_NOT_EMBEDDED",
			"the store is not a file; back it up with the tools of its database")
	}
	select {
	case s.running <- struct{}{}:
	default:
		return apierror.New(codes.ResourceExhausted, "BACKUP_RUNNING",
			"another backup of this store is running; retry after it")
	}
	defer s.source.Backups.Begin()()
	began := s.now()
	if err := s.send(stream); err != nil {
		return err
	}
	if err := s.sendFiles(stream); err != nil {
		return err
	}
	if err := s.source.RecordBackup(began); err != nil {
		return fmt.Errorf("record a backup: %w", err)
	}
	return nil
}

// send sends the messages of a backup. A goroutine reads the source, and ends when the reader
// stalls: so the reader can hold the stream, until its connection ends, but not the store.
func (s *storeServer) send(stream grpc.ServerStreamingServer[storev1.BackupResponse]) error {
	from, to := io.Pipe()
	sizes, sum := make(chan int64, 1), sha256.New()
	var failure error
	var reading sync.WaitGroup
	reading.Go(func() {
		failure = s.source.Backup(stream.Context(), io.MultiWriter(sum, to),
			func(size int64) error { sizes <- size; return nil })
		<-s.running
		close(sizes)
		_ = to.Close() // never fails
	})
	defer func() {
		_ = from.Close() // never fails
		reading.Wait()
	}()
	out := chunks(func(part *storev1.BackupResponse) error {
		stalled := time.AfterFunc(s.stall, func() {
			_ = to.CloseWithError(apierror.New(codes.DeadlineExceeded, "READER_STALLED",
				"the reader took no data for %v; the backup has ended", s.stall))
		})
		defer stalled.Stop()
		return stream.Send(part)
	})
	if size, hasBegun := <-sizes; hasBegun {
		if err := out(&storev1.BackupResponse{Part: &storev1.BackupResponse_SizeBytes{SizeBytes: size}}); err != nil {
			return err
		}
	}
	if _, err := io.CopyBuffer(out, from, make([]byte, 256<<10)); err != nil {
		return err
	}
	if reading.Wait(); failure != nil {
		return failure
	}
	return out(&storev1.BackupResponse{Part: &storev1.BackupResponse_Sha256{Sha256: sum.Sum(nil)}})
}

// sendFiles sends the files. Those of the documents in the copy stay, because no sweep begins
// meanwhile; others may come and go.
func (s *storeServer) sendFiles(stream grpc.ServerStreamingServer[storev1.BackupResponse]) error {
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(s.source.Files)) {
		for entry, err := range blob.All(stream.Context(), s.source.Files[name]) {
			if err == nil && !entry.IsUnfinished {
				err = sendFile(stream, sum, name, s.source.Files[name], entry.Key)
			}
			if err != nil {
				return fmt.Errorf("back up the files of %s: %w", name, err)
			}
		}
	}
	return stream.Send(&storev1.BackupResponse{Part: &storev1.BackupResponse_Sha256{Sha256: sum.Sum(nil)}})
}

func sendFile(
	stream grpc.ServerStreamingServer[storev1.BackupResponse], sum io.Writer, collection string, store blob.Store,
	key blob.Key,
) (err error) {
	file, err := store.Open(stream.Context(), key)
	if errors.Is(err, blob.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	member := &storev1.BackupFile{Name: collection + "/" + key.Name(), SizeBytes: file.Size()}
	if _, err := io.WriteString(sum, member.GetName()); err != nil {
		return err
	}
	if err := stream.Send(&storev1.BackupResponse{Part: &storev1.BackupResponse_File{File: member}}); err != nil {
		return err
	}
	_, err = io.CopyBuffer(io.MultiWriter(sum, chunks(stream.Send)), struct{ io.Reader }{file}, make([]byte, 256<<10))
	return err
}

// chunks sends what is written as messages.
type chunks func(*storev1.BackupResponse) error

// Write sends a chunk, a copy: gRPC may use a message after it was sent.
func (c chunks) Write(piece []byte) (int, error) {
	return len(piece), c(&storev1.BackupResponse{Part: &storev1.BackupResponse_Chunk{Chunk: bytes.Clone(piece)}})
}

// lastBackupName is a file beside the embedded store, written when the last complete backup began.
// It survives a restart, and a script that takes snapshots of the volume can touch it.
const lastBackupName = "last-backup"

// embeddedSource is the source of backups of an embedded store.
type embeddedSource struct {
	*embedded.Engine
	directory string
}

// RecordBackup sets the moment of the last backup.
func (s embeddedSource) RecordBackup(began time.Time) error {
	path := filepath.Join(s.directory, lastBackupName)
	return errors.Join(os.WriteFile(path, nil, 0o600), os.Chtimes(path, began, began))
}

// lastBackup returns when the last backup began as a Unix time in seconds; 0 if there is none.
func (s embeddedSource) lastBackup() float64 {
	info, err := os.Stat(filepath.Join(s.directory, lastBackupName))
	if err != nil {
		return 0
	}
	return float64(info.ModTime().UnixMilli()) / 1000
}

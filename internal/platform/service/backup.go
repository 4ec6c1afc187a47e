package service

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

	"github.com/waybook/waybook/internal/docstore/embedded"
	"github.com/waybook/waybook/internal/platform/apierror"
	"github.com/waybook/waybook/internal/platform/process"
	storev1 "github.com/waybook/waybook/proto/gen/waybook/store/v1"
)

// stallTimeout is how long the reader of a backup may take for a chunk. Until the backup
// ends, the store can't use the pages that it frees.
const stallTimeout = 15 * time.Second

// Source is a store that can be copied while it is in use.
type Source interface {
	// Backup writes a copy of the store as it is at one moment. begin receives its size in
	// bytes before the first write.
	Backup(ctx context.Context, to io.Writer, begin func(bytes int64) error) error
	// RecordBackup records that a complete backup exists that began at a moment.
	RecordBackup(began time.Time) error
	// RecordRehearsal records that a backup was restored somewhere else.
	RecordRehearsal(ended time.Time) error
}

// storeServer implements StoreService.
type storeServer struct {
	storev1.UnimplementedStoreServiceServer

	source Source
	stall  time.Duration
	now    func() time.Time
	// running is a semaphore of one, held while the source is read.
	running chan struct{}
	// last is the last backup that was read to its end; nil if there was none.
	last atomic.Pointer[copied]
}

// copied is a backup that was read to its end.
type copied struct {
	began time.Time
	sum   []byte
}

// newStoreServer returns the service of a store. source is nil for a MongoDB.
func newStoreServer(source Source) *storeServer {
	return &storeServer{source: source, stall: stallTimeout, now: time.Now, running: make(chan struct{}, 1)}
}

// Backup streams a copy of the store. The source is read in a goroutine of its own, which
// gives up when the stream takes nothing for too long. So a reader that stops can hold the
// stream, until its connection ends, but not the store.
func (s *storeServer) Backup(_ *storev1.BackupRequest, stream grpc.ServerStreamingServer[storev1.BackupResponse]) error {
	if s.source == nil {
		return errNotEmbedded()
	}
	select {
	case s.running <- struct{}{}:
	default:
		return apierror.New(codes.ResourceExhausted, "BACKUP_RUNNING", "another backup of this store is running; retry after it")
	}
	ctx, cancel := context.WithCancel(stream.Context())
	running := &copying{ctx: ctx, stall: s.stall, parts: make(chan *storev1.BackupResponse)}
	done := make(chan error, 1)
	began := s.now()
	go func() {
		defer close(running.parts)
		err := running.run(s.source, func(sum []byte) { s.last.Store(&copied{began, sum}) })
		<-s.running
		done <- err
	}()
	for part := range running.parts {
		if err := stream.Send(part); err != nil {
			cancel()
			return errors.Join(err, ignoreCanceled(<-done))
		}
	}
	cancel()
	return <-done
}

// ConfirmBackup records the moment when the last backup began.
func (s *storeServer) ConfirmBackup(_ context.Context, request *storev1.ConfirmBackupRequest) (*storev1.ConfirmBackupResponse, error) {
	last := s.last.Load()
	if last == nil || !bytes.Equal(last.sum, request.GetSha256()) {
		return nil, apierror.New(codes.FailedPrecondition, "BACKUP_UNKNOWN", "this is not the last backup that this process sent")
	}
	if err := s.source.RecordBackup(last.began); err != nil {
		return nil, fmt.Errorf("record a backup: %w", err)
	}
	return &storev1.ConfirmBackupResponse{}, nil
}

// ConfirmRehearsal records that a backup was restored now.
func (s *storeServer) ConfirmRehearsal(context.Context, *storev1.ConfirmRehearsalRequest) (*storev1.ConfirmRehearsalResponse, error) {
	if s.source == nil {
		return nil, errNotEmbedded()
	}
	if err := s.source.RecordRehearsal(s.now()); err != nil {
		return nil, fmt.Errorf("record a rehearsal: %w", err)
	}
	return &storev1.ConfirmRehearsalResponse{}, nil
}

func errNotEmbedded() error {
	return apierror.New(codes.FailedPrecondition, "STORE_NOT_EMBEDDED", "the store is not a file; back it up with the tools of its database")
}

func ignoreCanceled(err error) error {
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// copying turns a copy of a store into the messages of a backup.
type copying struct {
	ctx   context.Context
	stall time.Duration
	parts chan *storev1.BackupResponse
}

// run hands over all messages. It calls finished with the checksum before the last one,
// because the reader may confirm the backup as soon as it has that message.
func (c *copying) run(source Source, finished func(sum []byte)) error {
	sum := sha256.New()
	err := source.Backup(c.ctx, io.MultiWriter(sum, c), func(size int64) error {
		return c.hand(&storev1.BackupResponse{Part: &storev1.BackupResponse_Start{Start: &storev1.BackupStart{SizeBytes: size}}})
	})
	if err != nil {
		return err
	}
	total := sum.Sum(nil)
	finished(total)
	return c.hand(&storev1.BackupResponse{Part: &storev1.BackupResponse_End{End: &storev1.BackupEnd{Sha256: total}}})
}

// Write hands over a chunk. The source uses its buffer again, so the chunk is a copy.
func (c *copying) Write(piece []byte) (int, error) {
	return len(piece), c.hand(&storev1.BackupResponse{Part: &storev1.BackupResponse_Chunk{Chunk: bytes.Clone(piece)}})
}

// hand waits until the stream takes a message.
func (c *copying) hand(part *storev1.BackupResponse) error {
	timer := time.NewTimer(c.stall)
	defer timer.Stop()
	select {
	case c.parts <- part:
		return nil
	case <-c.ctx.Done():
		return c.ctx.Err()
	case <-timer.C:
		return apierror.New(codes.DeadlineExceeded, "READER_STALLED", "the reader took no data for %v; the backup has ended", c.stall)
	}
}

// The names of files beside the embedded store. The modification time of a file is the moment when
// the last complete backup began, or when a backup was restored last. A file survives a restart, and a
// script that backs up in another way, such as by a snapshot of the volume, can touch it.
const (
	lastBackupName    = "last-backup"
	lastRehearsalName = "last-rehearsal"
)

// embeddedSource is the source of backups of an embedded store.
type embeddedSource struct {
	*embedded.Engine
	directory string
}

// RecordBackup sets the moment of the last backup.
func (s embeddedSource) RecordBackup(began time.Time) error { return s.record(lastBackupName, began) }

// RecordRehearsal sets the moment of the last restore of a backup.
func (s embeddedSource) RecordRehearsal(ended time.Time) error {
	return s.record(lastRehearsalName, ended)
}

func (s embeddedSource) record(name string, moment time.Time) error {
	path := filepath.Join(s.directory, name)
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(file.Close(), os.Chtimes(path, moment, moment))
}

// recorded returns a function that returns a recorded moment as a Unix time in seconds; 0 if there is
// none, or if it cannot be read.
func (s embeddedSource) recorded(name string) func() float64 {
	return func() float64 {
		info, err := os.Stat(filepath.Join(s.directory, name))
		if err != nil {
			return 0
		}
		return float64(info.ModTime().UnixMilli()) / 1000
	}
}

func (s embeddedSource) count(metrics *process.Metrics) {
	metrics.GaugeFunc("waybook_store_last_backup_timestamp_seconds",
		"Begin of the last complete backup of the embedded store as a Unix time; 0 if there is none.", s.recorded(lastBackupName))
	metrics.GaugeFunc("waybook_store_last_rehearsal_timestamp_seconds",
		"Time of the last rehearsal that restored a backup of the embedded store as a Unix time; 0 if there is none.", s.recorded(lastRehearsalName))
}

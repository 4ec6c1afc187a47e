package storekeeping

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

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
func Backup(ctx context.Context, client storev1.StoreServiceClient, path string, stdout io.Writer, progress func(arrived, size int64)) (BackedUp, error) {
	done, err := copyTo(ctx, client, path, stdout, progress)
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

func copyTo(ctx context.Context, client storev1.StoreServiceClient, path string, stdout io.Writer, progress func(arrived, size int64)) (done BackedUp, err error) {
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
	err = atomicfile.WriteTo(stdout, path, dumpPermissions, func(file io.Writer) (err error) {
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

const (
	// backupTime is the layout of the time in the name of a backup, in UTC. Names of the
	// same service sort by it.
	backupTime      = "20060102T150405Z"
	backupExtension = ".db"
	// unfinishedExtension ends the name of a file that package atomicfile has not finished.
	unfinishedExtension = ".part"
)

// Rotation is a directory of backups of one store, of which the newest are kept.
type Rotation struct {
	directory, prefix string
	keep              int
}

// NewRotation returns the rotation of the backups of a service in a directory. keep is how
// many of them stay, at least 1. Services may share the directory. Account is the service of
// standalone too, so its backups are named waybook-TIME.db.
func NewRotation(directory, service string, keep int) Rotation {
	prefix := "waybook-"
	if service != "account" {
		prefix += service + "-"
	}
	return Rotation{directory, prefix, keep}
}

// Path returns the path of a backup that begins now. It creates the directory if it does not
// exist.
func (r Rotation) Path(now time.Time) (string, error) {
	if err := os.MkdirAll(r.directory, 0o700); err != nil {
		return "", err
	}
	return filepath.Join(r.directory, r.prefix+now.UTC().Format(backupTime)+backupExtension), nil
}

// Newest returns the path of the newest backup. Errors: fs.ErrNotExist.
func (r Rotation) Newest() (string, error) {
	complete, _, err := r.list()
	if err != nil {
		return "", err
	}
	if len(complete) == 0 {
		return "", fmt.Errorf("%s has no file %s%s%s: %w", r.directory, r.prefix, backupTime, backupExtension, fs.ErrNotExist)
	}
	return filepath.Join(r.directory, complete[len(complete)-1]), nil
}

// Prune removes the oldest backups until the kept number remains, and what earlier backups
// left unfinished. It never removes the backup at path, which has just been written, even if
// the clock was set back. It returns the names of the removed files.
func (r Rotation) Prune(path string) (removed []string, err error) {
	complete, unfinished, err := r.list()
	if err != nil {
		return nil, err
	}
	written := filepath.Base(path)
	others := slices.DeleteFunc(complete, func(name string) bool { return name == written })
	condemned := others[:max(0, len(others)-(r.keep-1))]
	for _, name := range unfinished {
		if name < written { // a later one may still be written
			condemned = append(condemned, name)
		}
	}
	for _, name := range condemned {
		if err := os.Remove(filepath.Join(r.directory, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return removed, err
		}
		removed = append(removed, name)
	}
	return removed, nil
}

// list returns the names of the backups and of the unfinished ones, the oldest first.
func (r Rotation) list() (complete, unfinished []string, err error) {
	entries, err := os.ReadDir(r.directory) // sorted by name
	if err != nil {
		return nil, nil, err
	}
	for _, entry := range entries {
		rest, isOurs := strings.CutPrefix(entry.Name(), r.prefix)
		moment, ending, _ := strings.Cut(rest, ".")
		if _, err := time.Parse(backupTime, moment); err != nil || !isOurs || !entry.Type().IsRegular() {
			continue
		}
		switch ending = "." + ending; {
		case ending == backupExtension:
			complete = append(complete, entry.Name())
		case strings.HasPrefix(ending, backupExtension+".") && strings.HasSuffix(ending, unfinishedExtension):
			unfinished = append(unfinished, entry.Name())
		}
	}
	return complete, unfinished, nil
}

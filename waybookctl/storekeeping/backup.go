package storekeeping

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc"

	"github.com/waybook/waybook/internal/platform/buildinfo"
	"github.com/waybook/waybook/internal/platform/service"
	"github.com/waybook/waybook/internal/progress"
	storev1 "github.com/waybook/waybook/proto/gen/waybook/store/v1"
)

// A backup is a tar file of the store, the files of photos, and the manifest: only then are the
// checksums known.
const (
	backupFormat   = 1
	storeMember    = "waybook.db"
	photosMembers  = service.PhotosDirectory + "/"
	manifestMember = "manifest.json"
)

// Manifest describes a backup. Its JSON is a member of the backup.
type Manifest struct {
	Format int `json:"format"`
	// Began is when the backup began, and Waybook the version of waybookctl that wrote it.
	Began   time.Time `json:"began"`
	Waybook string    `json:"waybook"`
	// Bytes and SHA256 are those of the store.
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
	Photos Photos `json:"photos"`
}

// Photos are the files of photos in a backup.
type Photos struct {
	Files int64 `json:"files"`
	Bytes int64 `json:"bytes"`
	// SHA256 is that of the names and the contents of all, one after the other.
	SHA256 string `json:"sha256"`
}

// Backup writes a backup of the embedded store of a running program. If it fails, what it wrote is
// no backup. unrecorded is why the program did not record a complete backup, so that its metric
// does not show it.
func Backup(ctx context.Context, client storev1.StoreServiceClient, to io.Writer, now time.Time,
	report progress.Reporter) (done Manifest, unrecorded, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends the stream if the file cannot be written
	stream, err := client.Backup(ctx, &storev1.BackupRequest{})
	if err != nil {
		return done, nil, err
	}
	first, err := stream.Recv()
	if err != nil {
		return done, nil, err
	}
	size := first.GetSizeBytes()
	report.Start("receiving", progress.Bytes, size)
	defer report.Finish()
	done, err = pack(to, now, size, func(store io.Writer) ([]byte, error) { return receive(stream, store, report) },
		func(members *photoWriter) error { return receivePhotos(stream, members) })
	if err != nil {
		return done, nil, err
	}
	if _, err := stream.Recv(); !errors.Is(err, io.EOF) {
		unrecorded = err
	}
	return done, unrecorded, nil
}

// Pack writes a backup of a store of some size, which write writes and whose SHA-256 it returns,
// without photos.
func Pack(to io.Writer, began time.Time, size int64,
	write func(store io.Writer) (sum []byte, err error)) (Manifest, error) {
	return pack(to, began, size, write, func(*photoWriter) error { return nil })
}

// photoWriter writes the files of photos.
type photoWriter struct {
	archive *tar.Writer
	time    time.Time
	sum     hash.Hash
	Photos
}

// begin begins a file. Write appends to it.
func (p *photoWriter) begin(name string, size int64) error {
	p.Files, p.Bytes = p.Files+1, p.Bytes+size
	_, _ = io.WriteString(p.sum, name) // never fails
	return p.archive.WriteHeader(&tar.Header{Name: photosMembers + name, Mode: 0o600, Size: size, ModTime: p.time})
}

func (p *photoWriter) Write(piece []byte) (int, error) {
	return io.MultiWriter(p.sum, p.archive).Write(piece)
}

func pack(
	to io.Writer, began time.Time, size int64, write func(store io.Writer) (sum []byte, err error),
	photos func(*photoWriter) error,
) (Manifest, error) {
	packed := Manifest{Format: backupFormat, Began: began.UTC().Truncate(time.Second),
		Waybook: buildinfo.Read().Version, Bytes: size}
	archive, sum := tar.NewWriter(to), sha256.New()
	if err := archive.WriteHeader(&tar.Header{Name: storeMember, Mode: 0o600, Size: size,
		ModTime: packed.Began}); err != nil {
		return packed, err
	}
	want, err := write(io.MultiWriter(archive, sum))
	if err != nil {
		return packed, err
	}
	if !bytes.Equal(sum.Sum(nil), want) {
		return packed, fmt.Errorf("the store was changed on its way: its SHA-256 is %x, not %x", sum.Sum(nil), want)
	}
	if err := archive.Flush(); err != nil {
		return packed, err
	}
	packed.SHA256 = hex.EncodeToString(want)
	members := &photoWriter{archive: archive, time: packed.Began, sum: sha256.New()}
	if err := photos(members); err != nil {
		return packed, err
	}
	packed.Photos = members.Photos
	packed.Photos.SHA256 = hex.EncodeToString(members.sum.Sum(nil))
	text, err := json.MarshalIndent(packed, "", "  ")
	if err == nil {
		err = archive.WriteHeader(&tar.Header{Name: manifestMember, Mode: 0o600, Size: int64(len(text)),
			ModTime: packed.Began})
	}
	if err == nil {
		_, err = archive.Write(text)
	}
	return packed, errors.Join(err, archive.Close())
}

// receive writes the chunks of a backup, and returns the checksum that follows them.
func receive(stream grpc.ServerStreamingClient[storev1.BackupResponse], store io.Writer,
	report progress.Reporter) ([]byte, error) {
	for arrived := int64(0); ; report.Reach(arrived) {
		part, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("the backup is incomplete: it ended after %d bytes", arrived)
		}
		if err != nil {
			return nil, err
		}
		if sum := part.GetSha256(); sum != nil {
			return sum, nil
		}
		n, err := store.Write(part.GetChunk())
		if err != nil {
			return nil, err
		}
		arrived += int64(n)
	}
}

// receivePhotos writes the files of photos in a stream until the checksum that follows them.
func receivePhotos(stream grpc.ServerStreamingClient[storev1.BackupResponse], to *photoWriter) error {
	for {
		part, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return fmt.Errorf("the backup is incomplete: it ended after %d files of photos", to.Files)
		}
		if err != nil {
			return err
		}
		if want := part.GetSha256(); want != nil {
			if got := to.sum.Sum(nil); !bytes.Equal(got, want) {
				return fmt.Errorf("the photos were changed on their way: their SHA-256 is %x, not %x", got, want)
			}
			return nil
		}
		if file := part.GetFile(); file != nil {
			err = to.begin(file.GetName(), file.GetSizeBytes())
		} else {
			_, err = to.Write(part.GetChunk())
		}
		if err != nil {
			return err
		}
	}
}

// backupTime is the layout of the time in the name of a backup, in UTC. Names of the same service
// sort by it.
const backupTime = "20060102T150405Z"

// BackupName returns the name of a backup that begins now. Account is the service of standalone
// too.
func BackupName(service string, now time.Time) string {
	return backupPrefix(service) + now.UTC().Format(backupTime) + ".tar"
}

func backupPrefix(service string) string {
	return strings.TrimSuffix("waybook-"+service+"-", "account-")
}

// backupsIn returns the names of the backups of a service in a directory, and of those that a
// crash left unfinished, the oldest first.
func backupsIn(directory, service string) (complete, unfinished []string, err error) {
	names := regexp.MustCompile(`^` + backupPrefix(service) + `\d{8}T\d{6}Z\.tar(\.[0-9a-f]{8}\.part)?$`)
	entries, err := os.ReadDir(directory) // sorted by name
	for _, entry := range entries {
		switch found := names.FindStringSubmatch(entry.Name()); {
		case found == nil || !entry.Type().IsRegular():
		case found[1] == "":
			complete = append(complete, entry.Name())
		default:
			unfinished = append(unfinished, entry.Name())
		}
	}
	return complete, unfinished, err
}

// NewestBackup returns the path of the newest backup of account, or of standalone, in a directory.
// Errors: fs.ErrNotExist.
func NewestBackup(directory string) (string, error) {
	complete, _, err := backupsIn(directory, "account")
	if err == nil && len(complete) == 0 {
		err = fmt.Errorf("there is no backup %s: %w", filepath.Join(directory, "waybook-TIME.tar"), fs.ErrNotExist)
	}
	if err != nil {
		return "", err
	}
	return filepath.Join(directory, complete[len(complete)-1]), nil
}

// Prune removes the oldest backups of a service in a directory until it has as many as it keeps,
// and what crashes left before the backup that was just written. That one stays even if the clock
// was set back. It returns the names of the removed files.
func Prune(directory, service, written string, keep int) (removed []string, err error) {
	complete, unfinished, err := backupsIn(directory, service)
	if err != nil {
		return nil, err
	}
	others := slices.DeleteFunc(complete, func(name string) bool { return name == written })
	// it may still be written
	unfinished = slices.DeleteFunc(unfinished, func(name string) bool { return name > written })
	for _, name := range append(others[:max(0, len(others)-keep+1)], unfinished...) {
		if err := os.Remove(filepath.Join(directory, name)); err != nil {
			return removed, err
		}
		removed = append(removed, name)
	}
	return removed, nil
}

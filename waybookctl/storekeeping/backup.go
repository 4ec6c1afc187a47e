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
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc"

	storev1 "github.com/waybook/waybook/proto/gen/waybook/store/v1"
	"github.com/waybook/waybook/waybookctl/backupplace"
	"github.com/waybook/waybook/waybookctl/progress"
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
// decrypt it. Then it confirms the backup to the program.
func Backup(ctx context.Context, client storev1.StoreServiceClient, to Target, report progress.Reporter) (BackedUp, error) {
	done, err := copyTo(ctx, client, to, report)
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

func copyTo(ctx context.Context, client storev1.StoreServiceClient, to Target, report progress.Reporter) (done BackedUp, err error) {
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
			done, err = receive(stream, file, size, report)
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
	read := io.TeeReader(&progress.Reader{Context: ctx, From: file, Reach: func(int64) {}}, whole)
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
func receive(stream grpc.ServerStreamingClient[storev1.BackupResponse], file io.Writer, size int64, report progress.Reporter) (BackedUp, error) {
	report.Start("receiving", progress.Bytes, size)
	defer report.Finish()
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
		report.Reach(arrived)
	}
}

const (
	// backupTime is the layout of the time in the name of a backup, in UTC. Names of the
	// same service sort by it.
	backupTime         = "20060102T150405Z"
	namePrefix         = "waybook-"
	backupExtension    = ".db"
	encryptedExtension = ".age"
	// unfinishedExtension ends the name of a file that package atomicfile has not finished.
	unfinishedExtension = ".part"
)

// Retention says which backups stay: those that Count or Age keeps. Without either all stay.
type Retention struct {
	// Count keeps the newest.
	Count int
	// Age keeps those that are younger.
	Age time.Duration
}

// Rotation is the backups of one store in a place.
type Rotation struct {
	place  backupplace.Place
	prefix string
}

// NewRotation returns the backups of a service in a place, which services may share. Account is
// the service of standalone too, so its backups are named waybook-TIME.db.
func NewRotation(place backupplace.Place, service string) Rotation {
	prefix := namePrefix
	if service != "account" {
		prefix += service + "-"
	}
	return Rotation{place, prefix}
}

// Name returns the name of a backup that begins now.
func (r Rotation) Name(now time.Time, isEncrypted bool) string {
	name := r.prefix + now.UTC().Format(backupTime) + backupExtension
	if isEncrypted {
		name += encryptedExtension
	}
	return name
}

// IsBackup reports whether a name is that of a backup of some service.
func IsBackup(name string) bool {
	return strings.HasPrefix(name, namePrefix) && (strings.HasSuffix(name, backupExtension) || strings.HasSuffix(name, encryptedExtension))
}

// Newest returns the name of the newest backup. Errors: fs.ErrNotExist.
func (r Rotation) Newest(ctx context.Context) (string, error) {
	complete, _, err := r.list(ctx)
	if err != nil {
		return "", err
	}
	if len(complete) == 0 {
		return "", fmt.Errorf("there is no backup %sTIME%s: %w", r.place.Of(r.prefix), backupExtension, fs.ErrNotExist)
	}
	return complete[len(complete)-1], nil
}

// Prune removes the backups that nothing keeps, and what earlier backups left unfinished. It never
// removes the one of a name, which has just been written, even if the clock was set back. It returns
// the names of the removed files.
func (r Rotation) Prune(ctx context.Context, written string, keep Retention, now time.Time) (removed []string, err error) {
	complete, unfinished, err := r.list(ctx)
	if err != nil {
		return nil, err
	}
	others := slices.DeleteFunc(complete, func(name string) bool { return name == written })
	if keep == (Retention{}) {
		others = nil
	}
	condemned := slices.DeleteFunc(others[:max(0, len(others)-max(0, keep.Count-1))], func(name string) bool {
		return keep.Age > 0 && now.Sub(r.began(name)) < keep.Age
	})
	for _, name := range unfinished {
		if name < written { // a later one may still be written
			condemned = append(condemned, name)
		}
	}
	for _, name := range condemned {
		if err := r.place.Remove(ctx, name); err != nil {
			return removed, err
		}
		removed = append(removed, name)
	}
	return removed, nil
}

// began returns the moment in the name of a backup; the zero time if it is none.
func (r Rotation) began(name string) time.Time {
	moment, _, _ := strings.Cut(strings.TrimPrefix(name, r.prefix), ".")
	began, err := time.Parse(backupTime, moment)
	if err != nil {
		return time.Time{}
	}
	return began
}

// list returns the names of the backups and of the unfinished ones, the oldest first.
func (r Rotation) list(ctx context.Context) (complete, unfinished []string, err error) {
	names, err := r.place.List(ctx, r.prefix)
	if err != nil {
		return nil, nil, err
	}
	for _, name := range names {
		if r.began(name).IsZero() {
			continue
		}
		_, ending, _ := strings.Cut(name, ".")
		switch ending = "." + ending; {
		case ending == backupExtension, ending == backupExtension+encryptedExtension:
			complete = append(complete, name)
		case strings.HasPrefix(ending, backupExtension+".") && strings.HasSuffix(ending, unfinishedExtension):
			unfinished = append(unfinished, name)
		}
	}
	return complete, unfinished, nil
}

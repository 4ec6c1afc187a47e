// Package upload receives pictures that users send, makes the smaller pictures of them, and stores
// their files. It does not know what they are for.
//
// A file on its way is a temporary one, and never whole in memory. A decode waits until its memory
// is free.
package upload

import (
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/waybook/waybook/internal/blob"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/picture"
	"github.com/waybook/waybook/internal/platform/admission"
	"github.com/waybook/waybook/internal/platform/apierror"
	"github.com/waybook/waybook/internal/platform/process"
)

const (
	// maxFiles is how many files are on their way at a time, which bounds the temporary files. As
	// many again wait.
	maxFiles = 64
	// longestWait is how long a file waits to begin, and a picture for its memory.
	longestWait = 30 * time.Second
	// maxDraws bounds how many identifiers Put tries.
	maxDraws = 64
	// cleanupTimeout bounds the deletion of files that nothing will name.
	cleanupTimeout = 5 * time.Second
)

// MaxBytesFlag is the name of the flag of Flags.MaxBytes.
const MaxBytesFlag = "max-photo-bytes"

// Flags are the limits of uploads.
type Flags struct {
	// MaxBytes is the largest size of a file; 0 if there are no uploads.
	MaxBytes int64
	// Memory is how much memory decodes take at a time; 0 for a default.
	Memory int64
	// Folder has the temporary files; "" is that of the system.
	Folder string
}

const (
	defaultMaxBytes = 20 << 20
	// defaultMemory decodes all but the largest pictures of cameras.
	defaultMemory = 512 << 20
	// unknownMemory is the memory of a machine that does not tell it.
	unknownMemory = 4 * defaultMemory
)

func (f *Flags) Register(flags *flag.FlagSet) {
	flags.Int64Var(&f.MaxBytes, MaxBytesFlag, defaultMaxBytes,
		"largest size of an uploaded photo in `bytes`; 0 refuses uploads")
	flags.Int64Var(&f.Memory, "photo-memory", 0,
		"memory in `bytes` for the photos that are decoded at a time; others wait; "+
			"0 for a quarter of the machine's memory, at most 512 MiB")
}

func (f Flags) Check() error {
	if f.MaxBytes < 0 || f.Memory < 0 {
		return fmt.Errorf("-%s and -photo-memory must not be negative", MaxBytesFlag)
	}
	return nil
}

// temporary is the pattern of the names of temporary files.
const temporary = "waybook-upload-*"

// Clear makes a folder for temporary files, and deletes those of a process that was killed.
func Clear(folder string) error {
	const ownersOnly = 0o700
	if err := os.MkdirAll(folder, ownersOnly); err != nil {
		return err
	}
	left, err := filepath.Glob(filepath.Join(folder, temporary))
	for _, path := range left {
		err = errors.Join(err, os.Remove(path))
	}
	return err
}

// Receiver receives files. It may be used concurrently. A nil Receiver refuses all.
type Receiver struct {
	folder                 string
	maxBytes               int64
	files, decodes, memory *admission.Gate
}

// New returns a receiver, or nil if there are no uploads. Its limits are in the metrics.
func New(flags Flags, metrics *process.Metrics) *Receiver {
	if flags.MaxBytes == 0 {
		return nil
	}
	memory := flags.Memory
	if memory == 0 {
		memory = min(defaultMemory, machineMemory()/4)
	}
	r := &Receiver{
		folder:   flags.Folder,
		maxBytes: flags.MaxBytes,
		files:    admission.New(admission.Limits{Slots: maxFiles, Queue: maxFiles, Wait: longestWait}),
		// Half of the processors decode, so that other calls find one.
		decodes: admission.New(admission.Limits{Slots: int64(max(1, runtime.GOMAXPROCS(0)/2)), Queue: maxFiles,
			Wait: longestWait}),
		memory: admission.New(admission.Limits{Slots: memory, Queue: maxFiles, Wait: longestWait}),
	}
	metrics.CountGate("uploads", r.files)
	metrics.CountGate("photo decodes", r.decodes)
	metrics.CountGate("photo memory", r.memory)
	return r
}

// Off is the error of an upload where there are none.
func Off(format string, args ...any) error {
	return apierror.New(codes.FailedPrecondition, "UPLOADS_OFF", format, args...)
}

// File is a received file. One goroutine may use it at a time.
type File struct {
	Size   int64
	SHA256 [sha256.Size]byte
	// Format, Width and Height are those of the upright picture, once it is made.
	Format        picture.Format
	Width, Height int

	receiver *Receiver
	parts    map[blob.Kind]*os.File
}

// Receive receives a file in pieces that next returns until io.EOF. The caller closes it. Errors:
// UPLOADS_OFF, PHOTO_TOO_LARGE, admission.ErrFull, and those of next.
func (r *Receiver) Receive(ctx context.Context, next func() ([]byte, error)) (_ *File, err error) {
	if r == nil {
		return nil, Off("this server takes no photos (-%s)", MaxBytesFlag)
	}
	if err := r.files.Enter(ctx, 1); err != nil {
		return nil, err
	}
	f := &File{receiver: r, parts: map[blob.Kind]*os.File{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close())
		}
	}()
	original, err := f.create(blob.Original)
	if err != nil {
		return nil, err
	}
	sum := sha256.New()
	for {
		piece, err := next()
		if errors.Is(err, io.EOF) {
			sum.Sum(f.SHA256[:0])
			return f, nil
		}
		if err != nil {
			return nil, err
		}
		if f.Size += int64(len(piece)); f.Size > r.maxBytes {
			return nil, apierror.New(codes.InvalidArgument, "PHOTO_TOO_LARGE", "A photo has at most %s.",
				sizeText(r.maxBytes))
		}
		_, _ = sum.Write(piece) // never fails
		if _, err := original.Write(piece); err != nil {
			return nil, err
		}
	}
}

// sizeText returns a size for people.
func sizeText(size int64) string {
	const mebibyte = 1 << 20
	if size%mebibyte == 0 {
		return fmt.Sprintf("%d MiB", size/mebibyte)
	}
	return fmt.Sprintf("%d bytes", size)
}

// create makes the temporary file of a part. It has no name where a file without one can be used.
func (f *File) create(kind blob.Kind) (*os.File, error) {
	part, err := os.CreateTemp(f.receiver.folder, temporary)
	if err != nil {
		return nil, err
	}
	f.parts[kind] = part
	if runtime.GOOS == "windows" {
		return part, nil
	}
	return part, os.Remove(part.Name())
}

// Close removes the temporary files.
func (f *File) Close() (err error) {
	for _, part := range f.parts {
		err = errors.Join(err, part.Close())
		if runtime.GOOS == "windows" {
			err = errors.Join(err, os.Remove(part.Name()))
		}
	}
	f.receiver.files.Leave(1)
	return err
}

// Make makes the view and the thumbnail. Errors: PHOTO_NOT_SUPPORTED, PHOTO_TOO_LARGE,
// PHOTO_DAMAGED, admission.ErrFull.
func (f *File) Make(ctx context.Context) error {
	err := f.make(ctx)
	refusal, isRefused := errors.AsType[*picture.Refusal](err)
	switch {
	case !isRefused:
		return err
	case refusal.Reason == picture.NotSupported:
		return apierror.New(codes.InvalidArgument, "PHOTO_NOT_SUPPORTED", "%s", refusal.Message)
	case refusal.Reason == picture.TooLarge:
		return apierror.New(codes.InvalidArgument, "PHOTO_TOO_LARGE", "%s", refusal.Message)
	}
	return apierror.New(codes.InvalidArgument, "PHOTO_DAMAGED", "%s", refusal.Message)
}

func (f *File) make(ctx context.Context) error {
	memory := f.receiver.memory
	inspected, err := picture.Inspect(ctx, io.NewSectionReader(f.parts[blob.Original], 0, f.Size), memory.Limit())
	if err != nil {
		return err
	}
	view, err := f.create(blob.View)
	if err != nil {
		return err
	}
	thumbnail, err := f.create(blob.Thumbnail)
	if err != nil {
		return err
	}
	if err := f.receiver.decodes.Enter(ctx, 1); err != nil {
		return err
	}
	defer f.receiver.decodes.Leave(1)
	if err := memory.Enter(ctx, inspected.Memory); err != nil {
		return err
	}
	defer memory.Leave(inspected.Memory)
	f.Format, f.Width, f.Height = inspected.Format, inspected.Width, inspected.Height
	return inspected.Make(ctx, view, thumbnail)
}

// Put stores some of the files, those that Make made too, under an identifier of draw that no
// others have, and returns it. If it fails, it leaves none, or some that a blob.Sweep deletes.
func (f *File) Put(ctx context.Context, store blob.Store, draw docstore.Draw,
	kinds ...blob.Kind) (file int64, err error) {
	for taken := range maxDraws {
		if file, err = draw(file, taken); err != nil {
			return 0, err
		}
		if err = f.putAll(ctx, store, file, kinds); !errors.Is(err, blob.ErrExists) {
			return file, err
		}
	}
	return 0, err
}

func (f *File) putAll(ctx context.Context, store blob.Store, file int64, kinds []blob.Kind) error {
	for i, kind := range kinds {
		part := f.parts[kind]
		_, err := part.Seek(0, io.SeekStart)
		if err == nil {
			err = store.Put(ctx, blob.Key{File: file, Kind: kind}, part)
		}
		if err != nil {
			return errors.Join(err, Delete(ctx, store, file, kinds[:i]...))
		}
	}
	return nil
}

// Delete deletes files that nothing names, also if the call has ended. The next blob.Sweep deletes
// those that it cannot.
func Delete(ctx context.Context, store blob.Store, file int64, kinds ...blob.Kind) (err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTimeout)
	defer cancel()
	for _, kind := range kinds {
		err = errors.Join(err, store.Delete(ctx, blob.Key{File: file, Kind: kind}))
	}
	return err
}

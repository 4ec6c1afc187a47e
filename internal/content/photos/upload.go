package photos

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

	"github.com/waybook/waybook/internal/blob"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/id"
	"github.com/waybook/waybook/internal/parent"
	"github.com/waybook/waybook/internal/picture"
	"github.com/waybook/waybook/internal/platform/apierror"
	"github.com/waybook/waybook/internal/platform/service"
	"github.com/waybook/waybook/internal/upload"
	photov1 "github.com/waybook/waybook/proto/gen/waybook/photo/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

const (
	// uploadTime bounds an upload, and silence is how long its caller may send nothing.
	uploadTime, silence = 10 * time.Minute, 30 * time.Second
	// chunkBytes is the largest chunk of the contract.
	chunkBytes = 256 << 10
)

// Files are the files of uploaded photos. A sweep deletes those of removed photos.
type Files struct {
	// Store is nil if there are none.
	Store blob.Store
	// Receiver receives new ones; nil if there are no uploads.
	Receiver *upload.Receiver
	// IDs generates the identifiers of files. That of a photo is not known before its files are stored.
	IDs *id.Source
	// Kind is the kind of what the photos belong to.
	Kind typev1.Kind
	// PublicURL is the address of the site, without a slash at its end. Without it, landmarks take no uploads.
	PublicURL string
}

// kinds are the files of a photo. A photo is stored after them, so each one has its files.
var kinds = []blob.Kind{blob.Original, blob.View, blob.Thumbnail}

// address returns where clients find a photo.
func (f *Files) address(p *Photo) string {
	switch {
	case p.File == 0:
		return p.URL
	case f.Kind == typev1.Kind_KIND_ALBUM:
		return fmt.Sprintf("upload/album/%d/%d-thumb.jpg", p.ParentID, p.ID)
	}
	return fmt.Sprintf("%s/upload/poi/%d/%d-view.jpg", f.PublicURL, p.ParentID, p.ID)
}

// check returns the error of an upload where there are none.
func (f *Files) check() error {
	switch {
	case f.Store == nil:
		return upload.Off("this server has no place for photos")
	case f.Kind == typev1.Kind_KIND_POI && f.PublicURL == "":
		return upload.Off("this server does not know the address of its site, with which that of a landmark's photo begins (-%s)",
			PublicURLFlag)
	}
	return nil
}

// formats are the formats of originals, and contentTypes their media types.
var (
	formats = map[picture.Format]photov1.PhotoFormat{
		picture.JPEG: photov1.PhotoFormat_PHOTO_FORMAT_JPEG, picture.PNG: photov1.PhotoFormat_PHOTO_FORMAT_PNG,
		picture.WebP: photov1.PhotoFormat_PHOTO_FORMAT_WEBP, picture.GIF: photov1.PhotoFormat_PHOTO_FORMAT_GIF,
	}
	contentTypes = map[photov1.PhotoFormat]string{
		photov1.PhotoFormat_PHOTO_FORMAT_JPEG: "image/jpeg", photov1.PhotoFormat_PHOTO_FORMAT_PNG: "image/png",
		photov1.PhotoFormat_PHOTO_FORMAT_WEBP: "image/webp", photov1.PhotoFormat_PHOTO_FORMAT_GIF: "image/gif",
	}
)

func (s *Set[P]) Upload(stream grpc.ClientStreamingServer[photov1.UploadRequest, photov1.UploadResponse]) error {
	first, err := stream.Recv()
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	start := first.GetStart()
	if start == nil {
		return unexpected("start", "must be the first message")
	}
	ctx, cancel := context.WithTimeout(stream.Context(), uploadTime)
	defer cancel()
	added, err := s.upload(ctx, start, chunksOf(ctx, stream))
	if err != nil {
		return err
	}
	return stream.SendAndClose(&photov1.UploadResponse{Photo: s.show(ctx, added)})
}

func unexpected(field, message string) error {
	return apierror.Invalid("INVALID_PARAMETER", apierror.Violation{Field: field, Message: message})
}

// received is a message of a stream, or its end.
type received struct {
	message *photov1.UploadRequest
	err     error
}

// chunksOf returns a function that returns the next chunk of a stream, or io.EOF. It does not wait longer than silence.
// The goroutine that reads the stream ends with it.
func chunksOf(
	ctx context.Context, stream grpc.ClientStreamingServer[photov1.UploadRequest, photov1.UploadResponse],
) func() ([]byte, error) {
	next := make(chan received)
	read := func() {
		for {
			message, err := stream.Recv()
			select {
			case next <- received{message, err}:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}
	var begin sync.Once
	return func() ([]byte, error) {
		begin.Do(func() { go read() })
		patience := time.NewTimer(silence)
		defer patience.Stop()
		select {
		case r := <-next:
			if r.message.GetStart() != nil {
				return nil, unexpected("start", "must be the first message only")
			}
			return r.message.GetChunk(), r.err
		case <-patience.C:
			return nil, apierror.New(codes.DeadlineExceeded, "SENDER_STALLED", "the sender sent nothing for %v", silence)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// upload adds a photo. A repeated request costs no decode.
func (s *Set[P]) upload(
	ctx context.Context, start *photov1.UploadStart, next func() ([]byte, error),
) (added Photo, err error) {
	_, parentID := parent.Of(start)
	if _, err := s.Parents.GetBy(ctx, start.GetActorId(), parentID); err != nil {
		return added, err
	}
	if err := s.Files.check(); err != nil {
		return added, err
	}
	file, err := s.Files.Receiver.Receive(ctx, next)
	if err != nil {
		return added, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	asked := docstore.Request{
		By: byRequest().First(parentID), ID: start.GetRequestId(),
		Digest: service.Digest(start) ^ int64(binary.LittleEndian.Uint64(file.SHA256[:])), // #nosec G115 -- a hash
	}
	if earlier, isRepeated, err := docstore.Answered(ctx, s.Children, asked); err != nil || isRepeated {
		return earlier, err
	}
	if err := file.Make(ctx); err != nil {
		return added, err
	}
	stored, err := file.Put(ctx, s.Files.Store, func(after int64, taken int) (int64, error) {
		return s.Files.IDs.Next(id.PlaceOf(parentID), after, taken)
	}, kinds...)
	if err != nil {
		return added, err
	}
	added, err = s.Add(ctx, start.GetActorId(), parentID, asked, nil, func(id int64, requestKey string) Photo {
		return Photo{
			ID: id, ParentID: parentID, RequestKey: requestKey, Description: start.GetDescription(),
			File: stored, Format: int32(formats[file.Format]), Size: file.Size,
			Width: int32(file.Width), Height: int32(file.Height), // #nosec G115 -- Inspect limits them
		}
	})
	if added.ID == 0 && isRefused(err) || err == nil && added.File != stored {
		// The sweep would delete them too.
		_ = upload.Delete(ctx, s.Files.Store, stored, kinds...)
	}
	return added, err
}

// isRefused reports whether an addition that returned no photo has certainly failed.
func isRefused(err error) bool {
	_, isRule := errors.AsType[*apierror.Error](err)
	return isRule || errors.Is(err, docstore.ErrRequestReused) || errors.Is(err, docstore.ErrGone)
}

// sizes are the files that callers ask for.
var sizes = map[photov1.PhotoSize]blob.Kind{
	photov1.PhotoSize_PHOTO_SIZE_ORIGINAL: blob.Original, photov1.PhotoSize_PHOTO_SIZE_VIEW: blob.View,
	photov1.PhotoSize_PHOTO_SIZE_THUMBNAIL: blob.Thumbnail,
}

func (s *Set[P]) Download(
	request *photov1.DownloadRequest, stream grpc.ServerStreamingServer[photov1.DownloadResponse],
) (err error) {
	ctx := stream.Context()
	_, parentID := parent.Of(request)
	var photo Photo
	err = s.Parents.Together(func() error {
		if request.GetSize() == photov1.PhotoSize_PHOTO_SIZE_ORIGINAL {
			_, err := s.Parents.GetBy(ctx, request.GetActorId(), parentID)
			return err
		}
		return s.Parents.Require(ctx, parentID)
	}, func() (err error) {
		photo, err = s.Get(ctx, parentID, request.GetPhotoId())
		return err
	})
	if err != nil {
		return err
	}
	if photo.File == 0 || s.Files.Store == nil {
		return s.NoChild(request.GetPhotoId())
	}
	file, err := s.Files.Store.Open(ctx, blob.Key{File: photo.File, Kind: sizes[request.GetSize()]})
	if err != nil {
		return fmt.Errorf("photo %d: %w", photo.ID, err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if request.GetOffset() > file.Size() {
		refused := apierror.Invalid("INVALID_PARAMETER",
			apierror.Violation{Field: "offset", Message: fmt.Sprintf("must be at most %d", file.Size())})
		refused.Kind = codes.OutOfRange
		return refused
	}
	if _, err := file.Seek(request.GetOffset(), io.SeekStart); err != nil {
		return err
	}
	shown := &photov1.DownloadFile{ContentType: "image/jpeg", SizeBytes: file.Size()}
	if request.GetSize() == photov1.PhotoSize_PHOTO_SIZE_ORIGINAL {
		shown.ContentType = cmp.Or(contentTypes[photov1.PhotoFormat(photo.Format)], "application/octet-stream")
	}
	if err := stream.Send(&photov1.DownloadResponse{Part: &photov1.DownloadResponse_File{File: shown}}); err != nil {
		return err
	}
	return send(stream, file, file.Size()-request.GetOffset())
}

// send sends what is left of a file. Each chunk has memory of its own: gRPC may use a message after it was sent.
func send(stream grpc.ServerStreamingServer[photov1.DownloadResponse], file io.Reader, left int64) error {
	for left > 0 {
		chunk := make([]byte, min(left, chunkBytes))
		if _, err := io.ReadFull(file, chunk); err != nil {
			return err
		}
		if err := stream.Send(&photov1.DownloadResponse{Part: &photov1.DownloadResponse_Chunk{Chunk: chunk}}); err != nil {
			return err
		}
		left -= int64(len(chunk))
	}
	return nil
}

package photos

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
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

// chunkBytes is the largest chunk of the contract.
const chunkBytes = 256 << 10

// Files are the files of uploaded photos. A sweep deletes those of removed photos.
type Files struct {
	// Store is nil if there are none.
	Store blob.Store
	// Receiver receives new ones; nil if there are no uploads.
	Receiver *upload.Receiver
	// IDs generates the identifiers of files. That of a photo is not known before its files are
	// stored.
	IDs *id.Source
	// Kind is the kind of what the photos belong to.
	Kind typev1.Kind
	// PublicURL is the address of the site, without a slash at its end. Without it, landmarks take
	// no uploads.
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
		return upload.Off("this server does not know the address of its site, with which that of a landmark's photo "+
			"begins (-%s)",
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
	return upload.Serve(stream, func(
		ctx context.Context, start *photov1.UploadStart, next func() ([]byte, error),
	) (*photov1.UploadResponse, error) {
		added, err := s.upload(ctx, start, next)
		if err != nil {
			return nil, err
		}
		return &photov1.UploadResponse{Photo: s.show(ctx, added)}, nil
	})
}

// upload adds a photo, or gives one its files. A repeated request costs no decode.
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
	moved := start.GetPhotoId()
	if moved != 0 {
		if there, err := s.Get(ctx, parentID, moved); err != nil || there.File != 0 {
			return there, err
		}
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
	if moved == 0 {
		if earlier, isRepeated, err := docstore.Answered(ctx, s.Children, asked); err != nil || isRepeated {
			return earlier, err
		}
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
	fill := func(p Photo) Photo {
		p.File, p.Format, p.Size = stored, int32(formats[file.Format]), file.Size
		p.Width, p.Height = int32(file.Width), int32(file.Height) // #nosec G115 -- Inspect limits them
		return p
	}
	if moved != 0 {
		added, err = s.complete(ctx, parentID, moved, fill)
	} else {
		added, err = s.Add(ctx, start.GetActorId(), parentID, asked, nil, func(id int64, requestKey string) Photo {
			return fill(Photo{ID: id, ParentID: parentID, RequestKey: requestKey, Description: start.GetDescription()})
		})
	}
	if added.ID == 0 && isRefused(err) || err == nil && added.File != stored {
		// The sweep would delete them too.
		_ = upload.Delete(ctx, s.Files.Store, stored, kinds...)
	}
	return added, err
}

// complete gives a photo its files, if it has none. The time when the owner changed the parent
// stays.
func (s *Set[P]) complete(ctx context.Context, parentID, photoID int64,
	fill func(Photo) Photo) (photo Photo, err error) {
	began := time.Now()
	if err := s.Parents.Touch(ctx, parentID, nil); err != nil {
		return photo, err
	}
	photo, err = s.Children.Update(ctx, photoID, func(p *Photo) error {
		if p.File == 0 {
			*p = fill(*p)
		}
		return nil
	})
	if errors.Is(err, docstore.ErrNotFound) {
		err = s.NoChild(photoID)
	}
	return photo, s.Parents.TouchAgain(ctx, parentID, began, err)
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

// send sends what is left of a file. Each chunk has memory of its own: gRPC may use a message
// after it was sent.
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

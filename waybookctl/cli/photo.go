package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/google/uuid"

	"github.com/waybook/waybook/internal/platform/retry"
	photov1 "github.com/waybook/waybook/proto/gen/waybook/photo/v1"
	"github.com/waybook/waybook/waybookctl/atomicfile"
	"github.com/waybook/waybook/waybookctl/output"
)

type photoCommands struct {
	Add photoAdd `cmd:"" help:"Add the files of photos to an album or a landmark."`
	Get photoGet `cmd:"" help:"Get a file of a photo that was uploaded."`
}

// photoParent selects the album or the landmark of photos. The owner is looked up.
type photoParent struct {
	Album    int64 `name:"of-album" required:"" xor:"parent" placeholder:"ALBUM" help:"The album that has the photos."`
	Landmark int64 `name:"of-landmark" required:"" xor:"parent" placeholder:"LANDMARK" help:"The landmark that has them."`
}

func (p photoParent) of() parent {
	if p.Album != 0 {
		return parent{kind: albumKind, id: p.Album}
	}
	return parent{kind: landmarkKind, id: p.Landmark}
}

type photoAdd struct {
	photoParent `embed:""`

	Description string   `placeholder:"TEXT" help:"Description of each photo."`
	Files       []string `arg:"" name:"file" help:"Files to add, in this order: JPEG, PNG, WebP or GIF."`
}

func (*photoAdd) Help() string {
	return `A file that is refused stops none of the others. The command lists each file with its photo, or with the reason, and
ends with the status of the first failure.`
}

type uploaded struct {
	File    string `json:"file"`
	PhotoID int64  `json:"photo_id,omitempty"`
	URL     string `json:"url,omitempty"`
	Failure string `json:"failure,omitempty"`
}

func (c *photoAdd) Run(ctx context.Context, call *services, out *output.Printer) error {
	owner, err := c.of().owner(ctx, call, c.of().id)
	if err != nil {
		return err
	}
	var all []uploaded
	var failed []error
	for _, path := range c.Files {
		done := uploaded{File: path}
		photo, err := c.add(ctx, call, out, owner, path)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if done.PhotoID, done.URL = photo.GetPhotoId(), photo.GetUrl(); err != nil {
			done.Failure = describe(ctx, err).message
			failed = append(failed, err)
		}
		all = append(all, done)
	}
	err = out.Value(output.Object{{Name: "photos", Value: all}}, func(page *output.Page) {
		output.Rows(page, []string{"FILE", "PHOTO", "URL", "FAILURE"}, all, func(u uploaded) []string {
			photo := ""
			if u.PhotoID != 0 {
				photo = number(u.PhotoID)
			}
			return []string{u.File, photo, u.URL, u.Failure}
		})
	})
	if err != nil || len(failed) == 0 {
		return err
	}
	return statusError{
		describe(ctx, failed[0]).status, fmt.Sprintf("%d of %d files were not added", len(failed), len(c.Files)),
	}
}

// add uploads a file. It repeats the call while the service is unavailable; the service adds one
// photo for one request id.
func (c *photoAdd) add(
	ctx context.Context, call *services, out *output.Printer, owner int64, path string,
) (photo *photov1.Photo, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // it was only read
	start := asked(c.of(), &photov1.UploadStart{RequestId: uuid.NewString(), ActorId: owner,
		Description: c.Description})
	_, err = retry.Do(ctx, retry.Options{Note: func(text string) { out.Note("%s: %s", path, text) }},
		func() (err error) {
			if _, err = file.Seek(0, io.SeekStart); err == nil {
				photo, err = upload(ctx, call.Photo, start, file)
			}
			return err
		})
	return photo, err
}

// uploadChunk is the largest chunk of an upload.
const uploadChunk = 256 << 10

func upload(
	ctx context.Context, to photov1.PhotoServiceClient, start *photov1.UploadStart, file io.Reader,
) (*photov1.Photo, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := to.Upload(ctx)
	if err == nil {
		err = stream.Send(&photov1.UploadRequest{Part: &photov1.UploadRequest_Start{Start: start}})
	}
	for err == nil {
		chunk := make([]byte, uploadChunk)
		var n int
		if n, err = io.ReadFull(file, chunk); n > 0 {
			part := &photov1.UploadRequest{Part: &photov1.UploadRequest_Chunk{Chunk: chunk[:n]}}
			if sent := stream.Send(part); sent != nil {
				err = sent
			}
		}
	}
	// The file has ended, or the service has ended the stream and says why.
	if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	reply, err := stream.CloseAndRecv()
	return reply.GetPhoto(), err
}

type photoGet struct {
	photoParent `embed:""`
	newFile     `embed:""`

	Size  word[photov1.PhotoSize] `default:"original" placeholder:"SIZE" help:"original, view (1,600 pixels) or thumbnail (320 pixels); ${default} by default."`
	Photo int64                   `arg:"" help:"The photo."`
	File  string                  `arg:"" help:"File to write; - for standard output."`
}

func (c *photoGet) Run(ctx context.Context, call *services, out *output.Printer) error {
	if err := c.check(c.File); err != nil {
		return err
	}
	request := asked(c.of(), &photov1.DownloadRequest{PhotoId: c.Photo, Size: c.Size.value})
	var err error
	if request.ActorId, err = c.of().owner(ctx, call, c.of().id); err != nil {
		return err
	}
	return atomicfile.WriteTo(out.Out, c.File, 0o600, func(to io.Writer) error {
		stream, err := call.Photo.Download(ctx, request)
		for err == nil {
			var part *photov1.DownloadResponse
			if part, err = stream.Recv(); err == nil {
				_, err = to.Write(part.GetChunk())
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		return err
	})
}

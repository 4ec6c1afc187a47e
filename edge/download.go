package edge

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/waybook/waybook/edge/form"
	"github.com/waybook/waybook/edge/operation"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	photov1 "github.com/waybook/waybook/proto/gen/waybook/photo/v1"
)

// FilesPath is where the files of photos and icons are (rules 17.26 and 17.38). Replies show their
// addresses relative to that of the interface.
const FilesPath = "/upload/"

const (
	// fileBytes is what a file holds while it is sent: a chunk as it arrives, and decoded.
	fileBytes = 2 * 256 << 10
	// filePolicy keeps a browser from running anything of a file that it shows as a page.
	filePolicy = "default-src 'none'; sandbox"
	// immutable is for files that everybody may see. A file never changes.
	immutable = "public, max-age=31536000, immutable"
)

// storedFile is a file of a photo, or an icon, as its address names it.
type storedFile struct {
	photo *photov1.DownloadRequest
	// icon is nil for a file of a photo.
	icon *accountv1.GetIconRequest
	etag string
}

// iconName is the end of the address of an icon, and fileNames are those of photos.
const iconName = "icon.jpg"

var fileNames = map[string]photov1.PhotoSize{
	"thumb.jpg": photov1.PhotoSize_PHOTO_SIZE_THUMBNAIL,
	"view.jpg":  photov1.PhotoSize_PHOTO_SIZE_VIEW,
	"original":  photov1.PhotoSize_PHOTO_SIZE_ORIGINAL,
}

// fileAt returns the file at a path such as /upload/album/12/34-thumb.jpg or
// /upload/user/56/78-icon.jpg, or nil.
func fileAt(path string) *storedFile {
	rest, ok := strings.CutPrefix(path, FilesPath)
	kind, rest, _ := strings.Cut(rest, "/")
	owner, rest, _ := strings.Cut(rest, "/")
	file, name, _ := strings.Cut(rest, "-")
	ownerID, isOwner := form.ID(owner)
	fileID, isFile := form.ID(file)
	size, isPhoto := fileNames[name]
	if !ok || !isOwner || !isFile || ownerID == 0 || fileID == 0 {
		return nil
	}
	word, _, _ := strings.Cut(name, ".")
	found := &storedFile{
		photo: &photov1.DownloadRequest{PhotoId: fileID, Size: size},
		etag:  `"` + strconv.FormatInt(fileID, 10) + "-" + word + `"`,
	}
	switch {
	case kind == "album" && isPhoto:
		found.photo.Parent = &photov1.DownloadRequest_AlbumId{AlbumId: ownerID}
	case kind == "poi" && isPhoto:
		found.photo.Parent = &photov1.DownloadRequest_PoiId{PoiId: ownerID}
	case kind == "user" && name == iconName:
		found.icon = &accountv1.GetIconRequest{UserId: ownerID, Icon: fileID}
	default:
		return nil
	}
	return found
}

func (f *storedFile) isOriginal() bool {
	return f.photo.GetSize() == photov1.PhotoSize_PHOTO_SIZE_ORIGINAL
}

// serveFile answers a request for a file.
func (h *handler) serveFile(x *exchange, file *storedFile) error {
	x.function = FilesPath
	header := x.response.writer.Header()
	if x.request.Method != http.MethodGet && x.request.Method != http.MethodHead {
		return refuse("METHOD_NOT_ALLOWED", http.StatusMethodNotAllowed)
	}
	if file.isOriginal() {
		user, err := h.sessionUser(x.request.Context(), x.request.Header)
		if err != nil {
			return refuseFile(err)
		}
		x.op.In.User, file.photo.ActorId = user, int64(user)
	} else if KnowsTag(x.request.Header["If-None-Match"], file.etag) {
		file.describe(header)
		return x.response.sendBodyless(http.StatusNotModified)
	}
	if err := x.turn.begin(x.request.Context(), operation.Reads); err != nil {
		return err
	}
	return refuseFile(h.config.Load.countMisses(&x.turn, func() error { return h.sendFile(x, file) }))
}

// describe sets the headers of a file.
func (f *storedFile) describe(header http.Header) {
	header.Set("Content-Type", "image/jpeg")
	header.Set("Content-Security-Policy", filePolicy)
	header.Set("ETag", f.etag)
	header.Set("Cache-Control", immutable)
	if f.isOriginal() {
		header.Set("Cache-Control", "private")
		header.Set("Content-Disposition", "attachment")
	}
}

func (h *handler) sendFile(x *exchange, file *storedFile) error {
	if file.icon != nil {
		return h.sendIcon(x, file)
	}
	open := func(ctx context.Context, offset int64) (fileStream, error) {
		file.photo.Offset = offset
		return h.config.Photo.Download(ctx, file.photo)
	}
	content := &fileContent{timeout: h.config.CallTimeout, open: open}
	defer content.close()
	if err := content.begin(x.request.Context(), 0); err != nil {
		return err
	}
	if content.size > sendAt && !x.response.head {
		if err := x.turn.goLong(fileBytes); err != nil {
			return err
		}
	}
	file.describe(x.response.writer.Header())
	if file.isOriginal() {
		x.response.writer.Header().Set("Content-Type", content.contentType)
	}
	if err := x.serveContent(content); err != nil {
		return err
	}
	return content.err
}

// sendIcon sends an icon, which has less than a mebibyte, and so is one message.
func (h *handler) sendIcon(x *exchange, file *storedFile) error {
	ctx, end := context.WithTimeout(x.request.Context(), h.config.CallTimeout)
	defer end()
	icon, err := h.config.Account.GetIcon(ctx, file.icon)
	if err != nil {
		return err
	}
	if len(icon.GetJpeg()) > sendAt && !x.response.head {
		if err := x.turn.goLong(len(icon.GetJpeg())); err != nil {
			return err
		}
	}
	file.describe(x.response.writer.Header())
	return x.serveContent(bytes.NewReader(icon.GetJpeg()))
}

// serveContent sends a file, or a part of it, whose headers are set.
func (x *exchange) serveContent(content io.ReadSeeker) error {
	if strings.Contains(x.request.Header.Get("Range"), ",") {
		x.request.Header.Del("Range") // ServeContent would read the file in a goroutine of its own
	}
	http.ServeContent(fileWriter{&x.response}, x.request, "", time.Time{}, content)
	if x.response.err != nil {
		return x.response.err
	}
	x.response.err = errAnswered
	return nil
}

// refuseFile gives a failure about a file its HTTP status. What shows pictures reads no other
// document.
func refuseFile(err error) error {
	if err == nil {
		return nil
	}
	f := operation.FailureOf(err, &form.Reader{})
	switch {
	case f.Reason == "LOGIN_REQUIRED" || f.Reason == "NOT_OWNER":
		return &refusal{f, http.StatusForbidden}
	case status.Code(err) == codes.NotFound:
		return &refusal{f, http.StatusNotFound}
	}
	return err
}

// KnowsTag reports whether If-None-Match names an entity tag. Compression does not change the tag,
// so comparisons are weak ones.
func KnowsTag(lines []string, etag string) bool {
	for _, line := range lines {
		for each := range strings.SplitSeq(line, ",") {
			if each = strings.TrimSpace(each); each == "*" || strings.TrimPrefix(each, "W/") == etag {
				return true
			}
		}
	}
	return false
}

// fileWriter sends a file in pieces. The client must read each within the time limit.
type fileWriter struct{ *response }

// Header implements [http.ResponseWriter].
func (w fileWriter) Header() http.Header { return w.writer.Header() }

// WriteHeader implements [http.ResponseWriter].
func (w fileWriter) WriteHeader(status int) {
	w.control.SetWriteDeadline(time.Now().Add(w.writeTimeout))
	w.started = true
	w.writeStatus(status)
}

// Write implements [http.ResponseWriter].
func (w fileWriter) Write(piece []byte) (int, error) {
	w.control.SetWriteDeadline(time.Now().Add(w.writeTimeout))
	n, err := body(w).Write(piece)
	w.note(err)
	return n, err
}

type fileStream = grpc.ServerStreamingClient[photov1.DownloadResponse]

// fileContent reads a file of a service, from any offset. It is an [io.ReadSeeker].
type fileContent struct {
	open func(ctx context.Context, offset int64) (fileStream, error)
	// timeout bounds the wait for each message.
	timeout     time.Duration
	contentType string
	size        int64

	// request is the context of the request, and call that of the call.
	request, call context.Context
	cancel        context.CancelCauseFunc
	stream        fileStream
	// chunk is what has arrived and was not yet read, from the offset arrived. at is the offset of
	// the next Read.
	chunk       []byte
	arrived, at int64
	err         error
}

// begin opens the file at an offset.
func (c *fileContent) begin(ctx context.Context, offset int64) error {
	c.close()
	c.request = ctx
	c.call, c.cancel = context.WithCancelCause(ctx)
	var err error
	if c.stream, err = c.open(c.call, offset); err != nil {
		return err
	}
	first, err := c.receive()
	c.size, c.contentType = first.GetFile().GetSizeBytes(), first.GetFile().GetContentType()
	c.chunk, c.arrived = nil, offset
	return err
}

func (c *fileContent) receive() (*photov1.DownloadResponse, error) {
	defer time.AfterFunc(c.timeout, func() { c.cancel(context.DeadlineExceeded) }).Stop()
	message, err := c.stream.Recv()
	if err != nil && errors.Is(context.Cause(c.call), context.DeadlineExceeded) {
		return nil, context.DeadlineExceeded
	}
	return message, err
}

// Seek implements [io.Seeker].
func (c *fileContent) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += c.at
	case io.SeekEnd:
		offset += c.size
	}
	c.at = offset
	return offset, nil
}

// Read implements [io.Reader].
func (c *fileContent) Read(p []byte) (int, error) {
	if c.at >= c.size {
		return 0, io.EOF
	}
	if c.at != c.arrived {
		if c.err = c.begin(c.request, c.at); c.err != nil {
			return 0, c.err
		}
	}
	for len(c.chunk) == 0 {
		message, err := c.receive()
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		if c.err = err; err != nil {
			return 0, err
		}
		c.chunk = message.GetChunk()
	}
	n := copy(p, c.chunk)
	c.chunk = c.chunk[n:]
	c.arrived += int64(n)
	c.at = c.arrived
	return n, nil
}

// close ends the call.
func (c *fileContent) close() {
	if c.cancel != nil {
		c.cancel(nil)
	}
}

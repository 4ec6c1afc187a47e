package rpc_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/waybook/waybook/e2e/mongotest"
	"github.com/waybook/waybook/internal/longform"
	"github.com/waybook/waybook/internal/waybooktest"
	photov1 "github.com/waybook/waybook/proto/gen/waybook/photo/v1"
)

const publicURL = "https://waybook.test"

// onBothStores runs a test with a Waybook on the embedded store, and with one on a MongoDB.
func onBothStores(t *testing.T, test func(t *testing.T, w *waybook), flags ...string) {
	t.Helper()
	flags = append(flags, "-public-url", publicURL)
	t.Run("embedded", func(t *testing.T) {
		t.Parallel()
		test(t, start(t, waybooktest.Flags(flags...)))
	})
	t.Run("MongoDB", func(t *testing.T) {
		t.Parallel()
		longform.Only(t)
		test(t, start(t, waybooktest.Flags(flags...), waybooktest.OnMongoDB(mongotest.StartReplicaSet(t))))
	})
}

// painted returns a picture of one colour.
func painted(width, height int, c color.Color) image.Image {
	m := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			m.Set(x, y, c)
		}
	}
	return m
}

// jpegOf returns a JPEG, which differs by shade.
func jpegOf(t testing.TB, width, height int, shade uint8) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, painted(width, height, color.Gray{Y: shade}), nil); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func pngOf(t testing.TB, width, height int) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, painted(width, height, color.NRGBA{R: 200, A: 255})); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// sent opens an upload and sends a file in chunks. The caller ends it.
func (w *waybook) sent(ctx context.Context, start *photov1.UploadStart, file []byte) (photov1.PhotoService_UploadClient, error) {
	w.t.Helper()
	stream, err := w.Photo.Upload(ctx)
	if err != nil {
		return nil, err
	}
	err = stream.Send(&photov1.UploadRequest{Part: &photov1.UploadRequest_Start{Start: start}})
	for chunk := range slices.Chunk(file, 1000) {
		if err == nil {
			err = stream.Send(&photov1.UploadRequest{Part: &photov1.UploadRequest_Chunk{Chunk: chunk}})
		}
	}
	if err != nil && !errors.Is(err, io.EOF) { // the reply says why
		return nil, err
	}
	return stream, nil
}

func (w *waybook) upload(start *photov1.UploadStart, file []byte) (*photov1.Photo, error) {
	w.t.Helper()
	stream, err := w.sent(w.t.Context(), start, file)
	if err != nil {
		return nil, err
	}
	reply, err := stream.CloseAndRecv()
	return reply.GetPhoto(), err
}

// download returns a file of a photo, and what the service says of it.
func (w *waybook) download(request *photov1.DownloadRequest) (file *photov1.DownloadFile, content []byte, err error) {
	w.t.Helper()
	stream, err := w.Photo.Download(w.t.Context(), request)
	if err != nil {
		return nil, nil, err
	}
	for {
		reply, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return file, content, nil
		}
		if err != nil {
			return file, content, err
		}
		if file == nil {
			file = reply.GetFile()
		}
		content = append(content, reply.GetChunk()...)
	}
}

func ofAlbum(actor, album int64) *photov1.UploadStart {
	return &photov1.UploadStart{ActorId: actor, Parent: &photov1.UploadStart_AlbumId{AlbumId: album}, Description: "阿里山"}
}

func inAlbum(album, photo int64, size photov1.PhotoSize) *photov1.DownloadRequest {
	return &photov1.DownloadRequest{Parent: &photov1.DownloadRequest_AlbumId{AlbumId: album}, PhotoId: photo, Size: size}
}

func TestAnUploadedPhotoIsShownInAllItsSizes(t *testing.T) {
	t.Parallel()
	onBothStores(t, func(t *testing.T, w *waybook) {
		w.t = t
		owner := w.newUser("owner")
		album, file := w.newAlbum(owner, "山"), pngOf(t, 2000, 1000)
		photo := must(w.upload(ofAlbum(owner, album), file))(t)
		want := &photov1.Photo{
			PhotoId: photo.GetPhotoId(), Url: fmt.Sprintf("upload/album/%d/%d-thumb.jpg", album, photo.GetPhotoId()), Description: "阿里山",
			Etag: photo.GetEtag(),
			File: &photov1.PhotoFile{Format: photov1.PhotoFormat_PHOTO_FORMAT_PNG, Width: 2000, Height: 1000, SizeBytes: int64(len(file))},
		}
		if !proto.Equal(photo, want) {
			t.Errorf("got %v, want %v", photo, want)
		}
		listed := must(w.Photo.ListPhotos(t.Context(), &photov1.ListPhotosRequest{Parent: &photov1.ListPhotosRequest_AlbumId{AlbumId: album}}))(t)
		for name, shown := range map[string][]*photov1.Photo{"GetAlbum": w.getAlbum(album).GetPhotos(), "ListPhotos": listed.GetPhotos()} {
			if len(shown) != 1 || !proto.Equal(shown[0], want) {
				t.Errorf("%s shows %v", name, shown)
			}
		}
		for size, width := range map[photov1.PhotoSize]int{
			photov1.PhotoSize_PHOTO_SIZE_VIEW: 1600, photov1.PhotoSize_PHOTO_SIZE_THUMBNAIL: 320,
		} {
			says, content, err := w.download(inAlbum(album, photo.GetPhotoId(), size))
			if err != nil || says.GetContentType() != "image/jpeg" || says.GetSizeBytes() != int64(len(content)) {
				t.Fatalf("%v: %v, %d bytes, %v", size, says, len(content), err)
			}
			if m := must(jpeg.Decode(bytes.NewReader(content)))(t); m.Bounds().Dx() != width || m.Bounds().Dy() != width/2 {
				t.Errorf("%v is %v", size, m.Bounds())
			}
		}
		original := inAlbum(album, photo.GetPhotoId(), photov1.PhotoSize_PHOTO_SIZE_ORIGINAL)
		for _, stranger := range []int64{0, w.newUser("stranger")} {
			original.ActorId = stranger
			_, _, err := w.download(original)
			expectFault(t, err, codes.PermissionDenied, "NOT_OWNER")
		}
		original.ActorId = owner
		for _, offset := range []int{0, 1, len(file) - 1, len(file)} {
			original.Offset = int64(offset)
			says, content, err := w.download(original)
			if err != nil || says.GetContentType() != "image/png" || says.GetSizeBytes() != int64(len(file)) || !bytes.Equal(content, file[offset:]) {
				t.Errorf("the original from %d on: %v, %d bytes, %v", offset, says, len(content), err)
			}
		}
		original.Offset = int64(len(file)) + 1
		_, _, err := w.download(original)
		expectFault(t, err, codes.OutOfRange, "INVALID_PARAMETER", "offset")
	})
}

func TestAPhotoOfALandmarkHasAnAbsoluteAddress(t *testing.T) {
	t.Parallel()
	w := start(t, waybooktest.Flags("-public-url", publicURL+"/"))
	owner := w.newUser("owner")
	poi := w.newPoi(owner, "塔")
	photo := must(w.upload(&photov1.UploadStart{ActorId: owner, Parent: &photov1.UploadStart_PoiId{PoiId: poi}}, jpegOf(t, 40, 30, 1)))(t)
	if want := fmt.Sprintf("%s/upload/poi/%d/%d-view.jpg", publicURL, poi, photo.GetPhotoId()); photo.GetUrl() != want {
		t.Errorf("the address is %s, want %s", photo.GetUrl(), want)
	}
	if shown := w.getPoi(poi).GetPhotos(); len(shown) != 1 || shown[0].GetUrl() != photo.GetUrl() {
		t.Errorf("GetPoi shows %v", shown)
	}
	says, _, err := w.download(&photov1.DownloadRequest{
		Parent: &photov1.DownloadRequest_PoiId{PoiId: poi}, PhotoId: photo.GetPhotoId(), Size: photov1.PhotoSize_PHOTO_SIZE_VIEW,
	})
	if err != nil || says.GetSizeBytes() == 0 {
		t.Errorf("the view is %v: %v", says, err)
	}
}

func TestWhereUploadsAreOffTheyAreRefused(t *testing.T) {
	t.Parallel()
	t.Run("landmarks of a site without an address", func(t *testing.T) {
		t.Parallel()
		w := start(t)
		owner := w.newUser("owner")
		_, err := w.upload(&photov1.UploadStart{ActorId: owner, Parent: &photov1.UploadStart_PoiId{PoiId: w.newPoi(owner, "塔")}}, jpegOf(t, 4, 3, 1))
		expectFault(t, err, codes.FailedPrecondition, "UPLOADS_OFF")
		if !strings.Contains(err.Error(), "-public-url") {
			t.Errorf("the error is %v", err)
		}
		if _, err := w.upload(ofAlbum(owner, w.newAlbum(owner, "山")), jpegOf(t, 4, 3, 1)); err != nil {
			t.Error(err)
		}
	})
	t.Run("all", func(t *testing.T) {
		t.Parallel()
		w := start(t, waybooktest.Flags("-max-photo-bytes=0"))
		owner := w.newUser("owner")
		_, err := w.upload(ofAlbum(owner, w.newAlbum(owner, "山")), jpegOf(t, 4, 3, 1))
		expectFault(t, err, codes.FailedPrecondition, "UPLOADS_OFF")
	})
}

func TestAnUploadThatFailsAddsNothing(t *testing.T) {
	t.Parallel()
	onBothStores(t, func(t *testing.T, w *waybook) {
		w.t = t
		owner, stranger := w.newUser("owner"), w.newUser("stranger")
		album, valid := w.newAlbum(owner, "山"), jpegOf(t, 400, 300, 1)
		for name, refused := range map[string]struct {
			actor, album int64
			file         []byte
			code         codes.Code
			reason       string
		}{
			"no picture":              {owner, album, []byte("<svg></svg>"), codes.InvalidArgument, "PHOTO_NOT_SUPPORTED"},
			"nothing":                 {owner, album, nil, codes.InvalidArgument, "PHOTO_NOT_SUPPORTED"},
			"half a picture":          {owner, album, valid[:len(valid)/2], codes.InvalidArgument, "PHOTO_DAMAGED"},
			"too many bytes":          {owner, album, make([]byte, 50_001), codes.InvalidArgument, "PHOTO_TOO_LARGE"},
			"too many pixels":         {owner, album, pngOf(t, 4000, 3000), codes.InvalidArgument, "PHOTO_TOO_LARGE"},
			"an album of another one": {stranger, album, valid, codes.PermissionDenied, "NOT_OWNER"},
			"no album":                {owner, album + 1<<16, valid, codes.NotFound, "ALBUM_NOT_FOUND"},
		} {
			_, err := w.upload(ofAlbum(refused.actor, refused.album), refused.file)
			if t.Run(name, func(t *testing.T) { expectFault(t, err, refused.code, refused.reason) }); t.Failed() {
				t.Log(name, err)
			}
		}
		ctx, cut := context.WithCancel(t.Context())
		stream := must(w.sent(ctx, ofAlbum(owner, album), valid))(t)
		cut()
		if _, err := stream.CloseAndRecv(); err == nil {
			t.Error("an upload that was cut succeeded")
		}
		if shown := w.getAlbum(album).GetPhotos(); len(shown) != 0 {
			t.Errorf("the album has %v", shown)
		}
	}, "-max-photo-bytes=50000", "-photo-memory=8000000")
}

func TestMessagesOfAnUploadHaveAnOrder(t *testing.T) {
	t.Parallel()
	w := start(t)
	owner := w.newUser("owner")
	begin := &photov1.UploadRequest{Part: &photov1.UploadRequest_Start{Start: ofAlbum(owner, w.newAlbum(owner, "山"))}}
	chunk := &photov1.UploadRequest{Part: &photov1.UploadRequest_Chunk{Chunk: []byte{1}}}
	for name, messages := range map[string][]*photov1.UploadRequest{
		"a chunk first": {chunk, begin}, "two starts": {begin, chunk, begin}, "none": nil,
	} {
		stream := must(photov1.NewPhotoServiceClient(w.Connection).Upload(t.Context()))(t)
		for _, message := range messages {
			if err := stream.Send(message); err != nil {
				break // the reply says why
			}
		}
		_, err := stream.CloseAndRecv()
		t.Run(name, func(t *testing.T) { expectFault(t, err, codes.InvalidArgument, "INVALID_PARAMETER", "start") })
	}
}

func TestARepeatedUploadAddsOnePhoto(t *testing.T) {
	t.Parallel()
	onBothStores(t, func(t *testing.T, w *waybook) {
		w.t = t
		owner := w.newUser("owner")
		album, file := w.newAlbum(owner, "山"), jpegOf(t, 400, 300, 1)
		begin := ofAlbum(owner, album)
		begin.RequestId = requestID(1)
		first := must(w.upload(begin, file))(t)
		again := must(w.upload(begin, file))(t)
		if !proto.Equal(first, again) {
			t.Errorf("the first is %v, the second %v", first, again)
		}
		_, err := w.upload(begin, jpegOf(t, 400, 300, 200))
		expectFault(t, err, codes.AlreadyExists, "REQUEST_ID_REUSED")
		begin.Description = "other"
		_, err = w.upload(begin, file)
		expectFault(t, err, codes.AlreadyExists, "REQUEST_ID_REUSED")
		if shown := w.getAlbum(album).GetPhotos(); len(shown) != 1 {
			t.Errorf("the album has %v", shown)
		}
	})
}

func TestAnUploadedPhotoKeepsItsFileUntilItIsRemoved(t *testing.T) {
	t.Parallel()
	onBothStores(t, func(t *testing.T, w *waybook) {
		w.t = t
		owner := w.newUser("owner")
		album := w.newAlbum(owner, "山")
		photo := must(w.upload(ofAlbum(owner, album), jpegOf(t, 400, 300, 1)))(t)
		change := &photov1.UpdatePhotoRequest{
			ActorId: owner, Parent: &photov1.UpdatePhotoRequest_AlbumId{AlbumId: album}, PhotoId: photo.GetPhotoId(),
			Url: proto.String("elsewhere.jpg"),
		}
		expectFault(t, failed(w.Photo.UpdatePhoto(t.Context(), change)), codes.InvalidArgument, "INVALID_PARAMETER", "url")
		change.Url, change.Description = proto.String(photo.GetUrl()), proto.String("new")
		changed := must(w.Photo.UpdatePhoto(t.Context(), change))(t).GetPhoto()
		if changed.GetDescription() != "new" || changed.GetUrl() != photo.GetUrl() {
			t.Errorf("the photo is %v", changed)
		}
		view := inAlbum(album, photo.GetPhotoId(), photov1.PhotoSize_PHOTO_SIZE_VIEW)
		if _, _, err := w.download(view); err != nil {
			t.Error(err)
		}
		must(w.Photo.RemovePhoto(t.Context(), &photov1.RemovePhotoRequest{
			ActorId: owner, Parent: &photov1.RemovePhotoRequest_AlbumId{AlbumId: album}, PhotoId: photo.GetPhotoId(),
		}))(t)
		_, _, err := w.download(view)
		expectFault(t, err, codes.NotFound, "PHOTO_NOT_FOUND")
		address := must(w.Photo.AddPhoto(t.Context(), &photov1.AddPhotoRequest{
			ActorId: owner, Parent: &photov1.AddPhotoRequest_AlbumId{AlbumId: album}, Url: "x.jpg",
		}))(t).GetPhoto()
		_, _, err = w.download(inAlbum(album, address.GetPhotoId(), photov1.PhotoSize_PHOTO_SIZE_VIEW))
		expectFault(t, err, codes.NotFound, "PHOTO_NOT_FOUND")
	})
}

// Elsewhere, temporary files may be memory.
func TestPhotosOnTheirWayAreBesideTheEmbeddedStore(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	folder := filepath.Join(data, "uploads")
	left := filepath.Join(folder, "waybook-upload-1") // by a process that was killed
	if err := errors.Join(os.Mkdir(folder, 0o700), os.WriteFile(left, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	w := start(t, waybooktest.Flags("-data", data))
	owner := w.newUser("owner")
	begin := ofAlbum(owner, w.newAlbum(owner, "山"))
	must(w.upload(begin, jpegOf(t, 40, 30, 1)))(t)
	if err := os.Remove(folder); err != nil {
		t.Errorf("files are left: %v", err)
	}
	if photo, err := w.upload(begin, jpegOf(t, 40, 30, 1)); err == nil {
		t.Errorf("without the folder there is %v", photo)
	}
}

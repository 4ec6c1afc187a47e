package edge

import (
	"crypto/sha256"
	"fmt"
	"io"
	"slices"
	"sync"

	"google.golang.org/grpc"

	photov1 "github.com/waybook/waybook/proto/gen/waybook/photo/v1"
)

// uploads is a PhotoService that keeps what a call has sent when the call ends without an error, and has files.
type uploads struct {
	photov1.UnimplementedPhotoServiceServer
	// refuse, unless nil, may end a call before its chunks are read.
	refuse func(*photov1.UploadStart) error
	// download answers for the files; breaksAt, unless 0, is where a file ends early.
	download func(*photov1.DownloadRequest) (content string, err error)
	breaksAt int

	mu     sync.Mutex
	starts []*photov1.UploadStart
	kept   []upload
	ended  chan error
	asked  []*photov1.DownloadRequest
}

// upload is what a call has sent.
type upload struct {
	start *photov1.UploadStart
	size  int
	sum   [sha256.Size]byte
}

func newUploads() *uploads { return &uploads{ended: make(chan error, 100)} }

func (u *uploads) Upload(stream grpc.ClientStreamingServer[photov1.UploadRequest, photov1.UploadResponse]) (err error) {
	defer func() {
		select {
		case u.ended <- err:
		default: // nobody counts them
		}
	}()
	first, err := stream.Recv()
	if err != nil {
		return err
	}
	u.mu.Lock()
	u.starts = append(u.starts, first.GetStart())
	u.mu.Unlock()
	if u.refuse != nil {
		if err := u.refuse(first.GetStart()); err != nil {
			return err
		}
	}
	size, sum := 0, sha256.New()
	for {
		message, err := stream.Recv()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		if n := len(message.GetChunk()); n == 0 || n > 262144 {
			return fmt.Errorf("a chunk of %d bytes", n)
		}
		size += len(message.GetChunk())
		sum.Write(message.GetChunk())
	}
	u.mu.Lock()
	u.kept = append(u.kept, upload{first.GetStart(), size, [sha256.Size]byte(sum.Sum(nil))})
	id := int64(len(u.kept))
	u.mu.Unlock()
	return stream.SendAndClose(&photov1.UploadResponse{Photo: &photov1.Photo{PhotoId: id}})
}

func (u *uploads) Download(r *photov1.DownloadRequest, stream grpc.ServerStreamingServer[photov1.DownloadResponse]) error {
	u.mu.Lock()
	u.asked = append(u.asked, r)
	u.mu.Unlock()
	content, err := u.download(r)
	if err != nil {
		return err
	}
	file := &photov1.DownloadFile{ContentType: "image/png", SizeBytes: int64(len(content))}
	if r.GetSize() != photov1.PhotoSize_PHOTO_SIZE_ORIGINAL {
		file.ContentType = "image/jpeg"
	}
	if err := stream.Send(&photov1.DownloadResponse{Part: &photov1.DownloadResponse_File{File: file}}); err != nil {
		return err
	}
	if u.breaksAt > 0 {
		content = content[:u.breaksAt]
	}
	for chunk := range slices.Chunk([]byte(content[r.GetOffset():]), 262144) {
		if err := stream.Send(&photov1.DownloadResponse{Part: &photov1.DownloadResponse_Chunk{Chunk: chunk}}); err != nil {
			return err
		}
	}
	return nil
}

// asks returns the requests for files so far and forgets them.
func (u *uploads) asks() []*photov1.DownloadRequest {
	u.mu.Lock()
	defer u.mu.Unlock()
	asked := u.asked
	u.asked = nil
	return asked
}

// taken returns what was kept, and forgets it.
func (u *uploads) taken() []upload {
	u.mu.Lock()
	defer u.mu.Unlock()
	kept := u.kept
	u.kept = nil
	return kept
}

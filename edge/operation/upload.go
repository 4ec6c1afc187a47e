package operation

import (
	"context"
	"io"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/waybook/waybook/edge/failure"
	"github.com/waybook/waybook/edge/form"
	"github.com/waybook/waybook/edge/reply"
	"github.com/waybook/waybook/internal/platform/rules"
	photov1 "github.com/waybook/waybook/proto/gen/waybook/photo/v1"
)

const (
	// chunkBytes is how much of a file is sent at a time. An upload holds a few chunks in memory.
	chunkBytes = 64 << 10
	// chunkTime is how long a chunk is gathered. A service ends a call that is silent for 45
	// seconds, which the edge never is: its client may be for 30.
	chunkTime = time.Second
	// storeTime is how long a service may take for a file that has arrived.
	storeTime = time.Minute
)

// errStoreTime is the cause of a call that took longer.
var errStoreTime = failure.Temporary("SERVICE_TIMEOUT", failure.Unavailable, context.DeadlineExceeded)

// upload adds the file of a request as a photo (rule 17.23).
func (c *Config) upload(ctx context.Context, x *Exchange, to content) error {
	start, err := built(ctx, c, &x.In, func(in *Input) *photov1.UploadStart {
		start := about(in, to, &photov1.UploadStart{ActorId: int64(in.User)})
		start.Description = form.Or(optional(in, &paramDescription, "description", form.Text), "")
		start.RequestId = requestID(in)
		return start
	})
	if err != nil {
		return err
	}
	first := &photov1.UploadRequest{Part: &photov1.UploadRequest_Start{Start: start}}
	stored, err := transfer(ctx, x, start, c.Photo.Upload, first, func(chunk []byte) *photov1.UploadRequest {
		return &photov1.UploadRequest{Part: &photov1.UploadRequest_Chunk{Chunk: chunk}}
	})
	if err != nil {
		return err
	}
	reply.StartSuccess(x.Out.Writer)
	writePhotoID(x.Out.Writer, stored)
	x.Out.Finish()
	return nil
}

// transfer sends the file of a request to a service: first, which has the start, and then chunks.
func transfer[Request, Response any](
	ctx context.Context, x *Exchange, start proto.Message,
	open func(context.Context, ...grpc.CallOption) (grpc.ClientStreamingClient[Request, Response], error),
	first *Request, next func(chunk []byte) *Request,
) (*Response, error) {
	// The service would name the fields of a message within a message.
	for _, violation := range rules.Violations(start) {
		x.In.Refuse(violation.Field)
	}
	if f := x.In.Failure(); f != nil {
		return nil, f
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stream, err := open(ctx)
	if err != nil {
		return nil, err
	}
	if err := send(stream, first, next, x.In.File); err != nil {
		return nil, err
	}
	defer time.AfterFunc(storeTime, func() { cancel(errStoreTime) }).Stop()
	stored, err := stream.CloseAndRecv()
	if context.Cause(ctx) == errStoreTime {
		return nil, errStoreTime
	}
	return stored, err
}

// send sends a file as it arrives. It returns nil as well if the service has ended the call: the
// call then has the error.
func send[Request, Response any](
	stream grpc.ClientStreamingClient[Request, Response], first *Request, next func(chunk []byte) *Request,
	file io.Reader,
) error {
	err := stream.Send(first)
	for hasMore := true; hasMore && err == nil; {
		// In process the service gets the chunk itself.
		chunk := make([]byte, chunkBytes)
		n, ended := fill(chunk, file)
		if hasMore = ended == nil; !hasMore && ended != io.EOF {
			return ended
		}
		if n > 0 {
			err = stream.Send(next(chunk[:n]))
		}
	}
	if err == io.EOF {
		return nil
	}
	return err
}

// fill reads until a chunk is full or chunkTime has passed, so that the service sees a slow client
// send.
func fill(chunk []byte, from io.Reader) (n int, err error) {
	for began := time.Now(); n < len(chunk) && err == nil && time.Since(began) < chunkTime; {
		var more int
		more, err = from.Read(chunk[n:])
		n += more
	}
	return n, err
}

// writePhotoID writes what the functions that add a photo return.
func writePhotoID(out reply.Writer, response interface{ GetPhoto() *photov1.Photo }) {
	out.ID("photoID", response.GetPhoto().GetPhotoId(), "")
}

var paramRequestID = form.Parameter{Name: "requestID", Title: form.Title{"Request", "請求"}, Hint: "a UUID"}

// requestID returns the identifier that the client has given to its request, or a new one.
func requestID(in *Input) string {
	if id := optional(in, &paramRequestID, "request_id", form.Text); id != nil {
		return *id
	}
	return newRequestID()
}

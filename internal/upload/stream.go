package upload

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

	"github.com/waybook/waybook/internal/platform/apierror"
)

const (
	// uploadTime bounds an upload.
	uploadTime = 10 * time.Minute
	// silence is how long a sender may send nothing. It is longer than the edge waits for its
	// client, and the edge gathers a chunk for a second: so a client that stalls gets the edge's
	// answer.
	silence = 45 * time.Second
)

// Serve answers a stream that sends a file: a start, then chunks. take gets the start, and a
// function that returns the next chunk, or io.EOF.
func Serve[Request, Reply, Start any, Message interface {
	*Request
	GetStart() *Start
	GetChunk() []byte
}](
	stream grpc.ClientStreamingServer[Request, Reply],
	take func(ctx context.Context, start *Start, next func() ([]byte, error)) (*Reply, error),
) error {
	first, err := stream.Recv()
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	start := Message(first).GetStart()
	if start == nil {
		return misplacedStart("must be the first message")
	}
	ctx, cancel := context.WithTimeout(stream.Context(), uploadTime)
	defer cancel()
	reply, err := take(ctx, start, chunks(ctx, func() (chunk []byte, err error) {
		message, err := stream.Recv()
		if Message(message).GetStart() != nil {
			return nil, misplacedStart("must be the first message only")
		}
		return Message(message).GetChunk(), err
	}))
	if err != nil {
		return err
	}
	return stream.SendAndClose(reply)
}

func misplacedStart(message string) error {
	return apierror.Invalid("INVALID_PARAMETER", apierror.Violation{Field: "start", Message: message})
}

// received is a chunk of a stream, or its end.
type received struct {
	chunk []byte
	err   error
}

// chunks returns a function that returns the next chunk, or io.EOF. It does not wait longer than
// silence. The goroutine that receives ends with the stream.
func chunks(ctx context.Context, receive func() ([]byte, error)) func() ([]byte, error) {
	next := make(chan received)
	read := func() {
		for {
			chunk, err := receive()
			select {
			case next <- received{chunk, err}:
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
			return r.chunk, r.err
		case <-patience.C:
			return nil, apierror.New(codes.DeadlineExceeded, "SENDER_STALLED", "the sender sent nothing for %v",
				silence)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

package transfer_test

import (
	"context"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
)

// line is the connection between a client and the service. It breaks when a test says so, and
// counts its messages.
type line struct {
	mu sync.Mutex
	// loseReplies is how many messages of the service are lost, after the first after messages.
	loseReplies, after int
	// calls counts the places of each ImportPois call. largest is the maximum number of places in a
	// message.
	calls   []int
	largest int
	// sent counts the messages sent. onSend, if not nil, is called before each message.
	sent   int
	onSend func(sent int)
}

var errLost = status.Error(codes.Unavailable, "the line is broken")

func (l *line) intercept(
	ctx context.Context, desc *grpc.StreamDesc, connection *grpc.ClientConn, method string, next grpc.Streamer, options ...grpc.CallOption,
) (grpc.ClientStream, error) {
	stream, err := next(ctx, desc, connection, method, options...)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if desc.ClientStreams {
		l.calls = append(l.calls, 0)
	}
	return &watched{ClientStream: stream, line: l}, nil
}

type watched struct {
	grpc.ClientStream
	line *line
}

func (s *watched) SendMsg(message any) error {
	if batch, ok := message.(*poiv1.ImportPoisRequest); ok {
		s.line.mu.Lock()
		count := len(batch.GetPois())
		s.line.calls[len(s.line.calls)-1] += count
		s.line.largest = max(s.line.largest, count)
		s.line.sent++
		if s.line.onSend != nil {
			s.line.onSend(s.line.sent)
		}
		s.line.mu.Unlock()
	}
	return s.ClientStream.SendMsg(message)
}

// RecvMsg receives a message of the service and may lose it. The service has done its work by then.
func (s *watched) RecvMsg(message any) error {
	if err := s.ClientStream.RecvMsg(message); err != nil {
		return err
	}
	s.line.mu.Lock()
	defer s.line.mu.Unlock()
	if s.line.after > 0 {
		s.line.after--
		return nil
	}
	if s.line.loseReplies > 0 {
		s.line.loseReplies--
		return errLost
	}
	return nil
}

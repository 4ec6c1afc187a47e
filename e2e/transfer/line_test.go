package transfer_test

import (
	"context"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
)

// line is the line between a client and the service: it breaks where a test says so, and
// counts what it carries.
type line struct {
	mu sync.Mutex
	// loseReplies is how many messages of the service are lost, after how many.
	loseReplies, after int
	// calls are how many places each ImportPois carried, and largest how many were
	// in one message.
	calls   []int
	largest int
	// sent is how many messages were sent; onSend, unless nil, is told before each.
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

// RecvMsg receives a message of the service, and may lose it: the service has done its
// part by then.
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

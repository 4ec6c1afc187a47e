package upload_test

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"

	"github.com/waybook/waybook/internal/platform/apierror"
	"github.com/waybook/waybook/internal/upload"
	photov1 "github.com/waybook/waybook/proto/gen/waybook/photo/v1"
)

// halting is a stream with a start, and chunks after pauses.
type halting struct {
	grpc.ClientStreamingServer[photov1.UploadRequest, photov1.UploadResponse]
	context context.Context
	isBegun bool
	pauses  []time.Duration
}

func (h *halting) Context() context.Context { return h.context }

func (h *halting) Recv() (*photov1.UploadRequest, error) {
	if !h.isBegun {
		h.isBegun = true
		return &photov1.UploadRequest{Part: &photov1.UploadRequest_Start{Start: &photov1.UploadStart{}}}, nil
	}
	if len(h.pauses) == 0 {
		return nil, io.EOF
	}
	pause := h.pauses[0]
	h.pauses = h.pauses[1:]
	select {
	case <-time.After(pause):
		return &photov1.UploadRequest{Part: &photov1.UploadRequest_Chunk{Chunk: []byte("x")}}, nil
	case <-h.context.Done():
		return nil, h.context.Err()
	}
}

func (h *halting) SendAndClose(*photov1.UploadResponse) error { return nil }

// The edge ends the request of a client that is silent for 30 seconds, and gathers a chunk for one more. It must be the first
// to do so, because its client then gets HTTP 408.
func TestASenderMayBeSilentForLongerThanAClientOfTheEdge(t *testing.T) {
	for _, c := range []struct {
		pauses  []time.Duration
		stalled bool
	}{
		{[]time.Duration{40 * time.Second, 40 * time.Second}, false},
		{[]time.Duration{time.Second, 50 * time.Second}, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, end := context.WithCancel(t.Context())
			defer end()
			err := upload.Serve(&halting{context: ctx, pauses: c.pauses}, func(
				_ context.Context, _ *photov1.UploadStart, next func() ([]byte, error),
			) (*photov1.UploadResponse, error) {
				for {
					if _, err := next(); errors.Is(err, io.EOF) {
						return &photov1.UploadResponse{}, nil
					} else if err != nil {
						return nil, err
					}
				}
			})
			refused, isRefused := errors.AsType[*apierror.Error](err)
			if isRefused != c.stalled || isRefused && refused.Reason != "SENDER_STALLED" {
				t.Errorf("with pauses of %v: %v", c.pauses, err)
			}
		})
	}
}

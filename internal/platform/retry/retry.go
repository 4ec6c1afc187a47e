// Package retry repeats calls of services that fail for a while.
package retry

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/waybook/waybook/internal/pause"
)

// Calls are retried: first after about 0.2 s, last about 50 s later. That is longer than a restart
// or an election takes.
const (
	maxTries   = 10
	firstPause = 300 * time.Millisecond
	maxPause   = 15 * time.Second
)

// Options say how calls are repeated.
type Options struct {
	// Wait waits before a repetition, until ctx ends; pause.For if it is nil.
	Wait func(ctx context.Context, pause time.Duration) error
	// Note gets the reason for each pause.
	Note func(text string)
}

// Do does something, and repeats it while the service is unavailable or busy. It returns how often
// it was repeated, and an error that is explained.
func Do(ctx context.Context, options Options, do func() error) (repeated int64, err error) {
	if options.Wait == nil {
		options.Wait = pause.For
	}
	next := firstPause
	for try := 1; ; try++ {
		err := do()
		if err == nil {
			return repeated, nil
		}
		if ctx.Err() != nil {
			return repeated, ctx.Err()
		}
		may, after := mayPass(err)
		if !may || try == maxTries {
			return repeated, Explained(err)
		}
		// Half of the pause is random, so that several callers do not retry together.
		wait := after + next/2 + rand.N(next/2) // #nosec G404 -- a pause
		options.Note(fmt.Sprintf("%v; retrying in %v", Explained(err), wait.Round(100*time.Millisecond)))
		if err := options.Wait(ctx, wait); err != nil {
			return repeated, err
		}
		repeated++
		next = min(2*next, maxPause)
	}
}

// mayPass reports whether a retry of a failed call may succeed, and how long the service wants to
// be left alone before.
func mayPass(err error) (may bool, after time.Duration) {
	failed := status.Convert(err)
	switch failed.Code() {
	case codes.Unavailable, codes.DeadlineExceeded, codes.Aborted:
		may = true
	}
	for _, detail := range failed.Details() {
		switch detail := detail.(type) {
		case *errdetails.ErrorInfo:
			may = may || detail.GetReason() == "SERVICE_BUSY"
		case *errdetails.RetryInfo:
			after = detail.GetRetryDelay().AsDuration()
		}
	}
	return may, after
}

// Explained adds an explanation for people to a failed call.
func Explained(err error) error {
	switch status.Code(err) {
	case codes.Unavailable:
		return fmt.Errorf("the service can't be reached or can't reach its store: %w", err)
	case codes.DeadlineExceeded:
		return fmt.Errorf("the service did not answer in time: %w", err)
	}
	return fmt.Errorf("the service refused: %w", err)
}

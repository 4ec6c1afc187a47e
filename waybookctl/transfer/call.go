package transfer

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	"github.com/waybook/waybook/waybookctl/landmarkfile"
)

const (
	// batchPlaces is how many places are in a message, and stored at a time. A
	// thousand with the longest names take a quarter of what gRPC lets pass.
	batchPlaces = 1000
	// callTimeout bounds one call. A slow store takes ten milliseconds for a place
	// that was imported before.
	callTimeout = 2 * time.Minute
)

// How calls are repeated that fail for a reason that may pass: first after some 0.2 s,
// last some 50 s later, which is longer than a restart or an election takes.
const (
	maxTries   = 10
	firstPause = 300 * time.Millisecond
	maxPause   = 15 * time.Second
)

// call sends places in one call, and repeats it while the service is away. That is safe:
// places that an earlier try brought are unchanged.
func (i *importer) call(ctx context.Context, call []landmarkfile.Place) error {
	pause := firstPause
	for try := 1; ; try++ {
		reply, err := i.try(ctx, call)
		if err == nil {
			i.summary.add(call, reply, i.options.MaxProblems)
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if try == maxTries || !mayPass(err) {
			return explained(err)
		}
		// Half of it is random, so that several imports do not come back together.
		wait := pause/2 + rand.N(pause/2) // #nosec G404 -- a pause
		i.report.Note(fmt.Sprintf("%v; trying again in %v", explained(err), wait.Round(100*time.Millisecond)))
		if err := i.options.Wait(ctx, wait); err != nil {
			return err
		}
		i.summary.Repeated++
		pause = min(2*pause, maxPause)
	}
}

// try sends places in one call.
func (i *importer) try(ctx context.Context, call []landmarkfile.Place) (*poiv1.ImportPoisResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	stream, err := i.client.ImportPois(ctx)
	if err != nil {
		return nil, err
	}
	for len(call) > 0 {
		n := min(len(call), batchPlaces)
		batch := &poiv1.ImportPoisRequest{OwnerId: i.options.OwnerID, Pois: make([]*poiv1.ImportedPoi, n)}
		for k, place := range call[:n] {
			batch.Pois[k] = imported(place)
		}
		if err := stream.Send(batch); err != nil {
			break // CloseAndRecv tells why
		}
		call = call[n:]
	}
	return stream.CloseAndRecv()
}

// sleep waits.
func sleep(ctx context.Context, wait time.Duration) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

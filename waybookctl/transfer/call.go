package transfer

import (
	"cmp"
	"context"
	"slices"
	"time"

	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	"github.com/waybook/waybook/waybookctl/landmarkfile"
	"github.com/waybook/waybook/waybookctl/retry"
)

const (
	// batchPlaces is how many places a message has, and how many the service stores at a time. A
	// thousand places with the longest names take a quarter of gRPC's size limit.
	batchPlaces = 1000
	// callTimeout bounds one call. A slow store takes 10 ms for a place that was imported before.
	callTimeout = 2 * time.Minute
)

// call sends places in one call. Retries are safe, because places of an earlier try are left
// unchanged.
func (i *importer) call(ctx context.Context, call []landmarkfile.Place) error {
	return i.retry(ctx, func() error {
		reply, err := i.try(ctx, call)
		if err == nil {
			i.summary.add(call, reply, i.options.MaxProblems)
		}
		return err
	})
}

// retry does something, and repeats it while the service is unavailable.
func (i *importer) retry(ctx context.Context, do func() error) error {
	repeated, err := retry.Do(ctx, retry.Options{Wait: i.options.Wait, Note: i.report.Note}, do)
	i.summary.Repeated += repeated
	return err
}

// batchOf returns how many of the places make the next message: those of one owner.
func (i *importer) batchOf(places []landmarkfile.Place) int {
	places = places[:min(len(places), batchPlaces)]
	isOther := func(p landmarkfile.Place) bool { return p.OwnerID != places[0].OwnerID }
	if n := slices.IndexFunc(places, isOther); n >= 0 {
		return n
	}
	return len(places)
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
		n := i.batchOf(call)
		batch := &poiv1.ImportPoisRequest{
			OwnerId: cmp.Or(i.options.OwnerID, call[0].OwnerID), Pois: make([]*poiv1.ImportedPoi, n),
			Mode: i.options.mode(), ValidateOnly: i.options.DryRun,
		}
		for k, place := range call[:n] {
			batch.Pois[k] = imported(place)
		}
		if err := stream.Send(batch); err != nil {
			break // CloseAndRecv returns the cause
		}
		call = call[n:]
	}
	return stream.CloseAndRecv()
}

package transfer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
	"github.com/waybook/waybook/waybookctl/landmarkfile"
	"github.com/waybook/waybook/waybookctl/progress"
	"github.com/waybook/waybook/waybookctl/retry"
)

// The defaults of ImportOptions.
const (
	// DefaultMaxProblems is how many problems and failures are reported.
	DefaultMaxProblems = 20
	// DefaultCallPlaces is how many places a call sends. A retry repeats at most that many, and
	// progress is reported that often.
	DefaultCallPlaces = 5000
)

// ImportOptions describe the file and the landmarks of an import.
type ImportOptions struct {
	// OwnerID is the user who will own the landmarks; 0 if File.Fields.Owner names the field with the
	// owner of each.
	OwnerID int64
	// File describes the file.
	File landmarkfile.Options
	// SkipInvalid skips records that can't be imported and imports the others.
	SkipInvalid bool
	// Update gives landmarks that exist with other content that of the file. Otherwise the service
	// refuses such places.
	Update bool
	// Prune deletes the imported landmarks of OwnerID whose keys the file does not have, after
	// everything was imported.
	Prune bool
	// DryRun changes nothing. The summary counts what would be done.
	DryRun bool
	// MaxProblems is how many problems and failures are reported; all are counted. 0 means
	// DefaultMaxProblems.
	MaxProblems int
	// CallPlaces is how many places a call sends; 0 means DefaultCallPlaces.
	CallPlaces int
	// Wait waits before a retry; nil means that it sleeps.
	Wait func(context.Context, time.Duration) error
}

// Import checks a file and then imports it in the file's order, one call after another. After any
// failure it may be run again, because it recognises existing landmarks. It returns an
// *InvalidFileError before it sends anything. After any other error, the summary counts the places
// that were imported.
func Import(
	ctx context.Context, client poiv1.PoiServiceClient, source *Source, options ImportOptions, report progress.Reporter,
) (*ImportSummary, error) {
	options.MaxProblems = cmp.Or(options.MaxProblems, DefaultMaxProblems)
	options.CallPlaces = cmp.Or(options.CallPlaces, DefaultCallPlaces)
	i := &importer{client: client, options: options, report: report}
	i.summary.IsDryRun = options.DryRun
	if err := i.check(ctx, source); err != nil {
		return &i.summary, err
	}
	if err := i.send(ctx, source); err != nil {
		return &i.summary, fmt.Errorf("%w; %d of %d places are done: run the import again to resume; it recognises them",
			err, i.summary.Acknowledged(), i.summary.Checked.Places)
	}
	if options.Prune {
		return &i.summary, i.prune(ctx)
	}
	return &i.summary, nil
}

func (o ImportOptions) mode() poiv1.ImportMode {
	if o.Update {
		return poiv1.ImportMode_IMPORT_MODE_UPDATE
	}
	return poiv1.ImportMode_IMPORT_MODE_UNSPECIFIED
}

// importer runs one import.
type importer struct {
	client  poiv1.PoiServiceClient
	options ImportOptions
	report  progress.Reporter
	summary ImportSummary
}

// check reads the whole file before anything is sent.
func (i *importer) check(ctx context.Context, source *Source) (err error) {
	places := landmarkfile.Read(source.reader(ctx, i.report.Reach), i.options.File)
	i.report.Start("checking", progress.Bytes, source.Size())
	i.summary.Checked, err = landmarkfile.Check(ctx, places, i.options.MaxProblems)
	i.report.Finish()
	if err != nil {
		return err
	}
	if checked := i.summary.Checked; checked.Broken != nil || checked.ProblemCount > 0 && !i.options.SkipInvalid {
		return &InvalidFileError{Checked: checked}
	}
	return nil
}

// send sends the places that have been checked.
func (i *importer) send(ctx context.Context, source *Source) error {
	places := landmarkfile.Read(source.reader(ctx, func(int64) {}), i.options.File)
	i.report.Start("importing", progress.Places, i.summary.Checked.Places)
	defer i.report.Finish()
	call := make([]landmarkfile.Place, 0, i.options.CallPlaces)
	for place, err := range i.summary.Checked.Select(places) {
		if err != nil {
			return err
		}
		if call = append(call, place); len(call) == i.options.CallPlaces {
			if err := i.call(ctx, call); err != nil {
				return err
			}
			call = call[:0]
		}
	}
	if len(call) == 0 {
		return nil
	}
	return i.call(ctx, call)
}

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
			i.report.Reach(i.summary.Acknowledged())
		}
		return err
	})
}

// retry does something, and repeats it while the service is unavailable or busy.
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

func imported(p landmarkfile.Place) *poiv1.ImportedPoi {
	return &poiv1.ImportedPoi{
		Key: p.Key, Name: p.Name, Category: poiv1.PoiCategory(p.Category),
		Location: &typev1.Location{Lat: p.Lat, Lng: p.Lng},
	}
}

// maxPruned bounds the landmarks to prune, and with them the memory: 8 bytes for each.
const maxPruned = 10_000_000

// NotPrunedError reports that an import was asked to prune and did not.
type NotPrunedError struct {
	// Reason says why.
	Reason string
}

// Error returns the reason.
func (e *NotPrunedError) Error() string { return "nothing was pruned: " + e.Reason }

// prune deletes the imported landmarks of the owner that the file does not have.
func (i *importer) prune(ctx context.Context) error {
	switch checked := i.summary.Checked; {
	case checked.ProblemCount > 0:
		return &NotPrunedError{fmt.Sprintf("the file has %d invalid records, whose landmarks would be deleted; correct them", checked.ProblemCount)}
	case i.summary.Failed > 0:
		return &NotPrunedError{fmt.Sprintf("%d places were refused", i.summary.Failed)}
	case checked.Places == 0:
		return &NotPrunedError{"the file has no places, and all landmarks would be deleted"}
	}
	var surplus []int64
	err := i.retry(ctx, func() (err error) {
		surplus, err = i.surplus(ctx)
		return err
	})
	if err != nil {
		return err
	}
	if len(surplus) > maxPruned {
		return &NotPrunedError{fmt.Sprintf("more than %d landmarks would be deleted; is this the file of the owner?", maxPruned)}
	}
	i.summary.IsPruned = true
	if i.options.DryRun {
		i.summary.Pruned = int64(len(surplus))
		return nil
	}
	return i.deleteAll(ctx, surplus)
}

// surplus returns the landmarks to prune, and counts the others that the file does not have.
func (i *importer) surplus(ctx context.Context) (surplus []int64, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends the stream on an error
	stream, err := i.client.ExportPois(ctx, &poiv1.ExportPoisRequest{OwnerId: i.options.OwnerID, WithIds: true})
	if err != nil {
		return nil, err
	}
	for i.summary.Kept = 0; ; {
		batch, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return surplus, nil
		}
		if err != nil {
			return nil, err
		}
		for _, p := range batch.GetPois() {
			switch {
			case i.summary.Checked.Has(p.GetKey()):
			case p.GetKey() == "poi:"+strconv.FormatInt(p.GetPoiId(), 10):
				i.summary.Kept++
			case len(surplus) > maxPruned:
				return surplus, nil
			default:
				surplus = append(surplus, p.GetPoiId())
			}
		}
	}
}

// deleteAll deletes landmarks. One that is gone already counts as deleted.
func (i *importer) deleteAll(ctx context.Context, poiIDs []int64) error {
	i.report.Start("pruning", progress.Places, int64(len(poiIDs)))
	defer i.report.Finish()
	for _, poiID := range poiIDs {
		err := i.retry(ctx, func() error {
			ctx, cancel := context.WithTimeout(ctx, callTimeout)
			defer cancel()
			_, err := i.client.DeletePoi(ctx, &poiv1.DeletePoiRequest{ActorId: i.options.OwnerID, PoiId: poiID})
			if status.Code(err) == codes.NotFound {
				return nil
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("%w; %d of %d landmarks are pruned: run the import again to resume", err, i.summary.Pruned, len(poiIDs))
		}
		i.summary.Pruned++
		i.report.Reach(i.summary.Pruned)
	}
	return nil
}

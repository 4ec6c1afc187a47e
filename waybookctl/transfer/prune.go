package transfer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	"github.com/waybook/waybook/waybookctl/progress"
)

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

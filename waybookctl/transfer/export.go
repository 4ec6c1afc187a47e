package transfer

import (
	"context"
	"errors"
	"io"

	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	"github.com/waybook/waybook/waybookctl/atomicfile"
	"github.com/waybook/waybook/waybookctl/landmarkfile"
	"github.com/waybook/waybook/waybookctl/progress"
	"github.com/waybook/waybook/waybookctl/retry"
)

// ExportOptions select the landmarks and the format of an export.
type ExportOptions struct {
	// OwnerID selects the owner of the landmarks; 0 means all owners. Two owners may use the same
	// key, so an export of all owners can be imported again only with identifiers.
	OwnerID int64
	// Category selects a category; 0 means all.
	Category landmarkfile.Category
	// Format is the format of the file. IDs says whether it has the identifiers of the landmarks and
	// their owners.
	Format landmarkfile.Format
	IDs    landmarkfile.IDs
	// Stdout gets the file whose path is "-".
	Stdout io.Writer
}

// Export writes landmarks in the order of their owners and keys and returns their number. If it fails, the file is
// incomplete.
func Export(
	ctx context.Context, client poiv1.PoiServiceClient, options ExportOptions, file io.Writer, report progress.Reporter,
) (count int64, err error) {
	writer := landmarkfile.NewWriter(file, options.Format, options.IDs)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends the stream when writing fails
	stream, err := client.ExportPois(ctx, &poiv1.ExportPoisRequest{
		OwnerId: options.OwnerID, Category: poiv1.PoiCategory(options.Category), WithIds: options.IDs == landmarkfile.WithIDs,
	})
	if err != nil {
		return 0, retry.Explained(err)
	}
	report.Start("exporting", progress.Places, 0)
	defer report.Finish()
	for {
		batch, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return count, writer.Close()
		}
		if err != nil {
			return count, retry.Explained(err)
		}
		for _, p := range batch.GetPois() {
			if err := writer.Write(exported(p)); err != nil {
				return count, err
			}
			count++
		}
		report.Reach(count)
	}
}

// ExportFile exports to a file that appears, or replaces an existing one, only when complete and synced; to standard output if
// path is "-".
func ExportFile(
	ctx context.Context, client poiv1.PoiServiceClient, options ExportOptions, path string, report progress.Reporter,
) (count int64, err error) {
	err = atomicfile.WriteTo(options.Stdout, path, 0o666, func(file io.Writer) (err error) {
		count, err = Export(ctx, client, options, file, report)
		return err
	})
	return count, err
}

func exported(p *poiv1.ImportedPoi) landmarkfile.Place {
	return landmarkfile.Place{
		Key: p.GetKey(), Name: p.GetName(), Category: landmarkfile.Category(p.GetCategory()),
		Lat: p.GetLocation().GetLat(), Lng: p.GetLocation().GetLng(),
		OwnerID: p.GetOwnerId(), PoiID: p.GetPoiId(),
	}
}

package transfer

import (
	"cmp"
	"context"
	"fmt"
	"io"

	"github.com/waybook/waybook/internal/platform/retry"
	"github.com/waybook/waybook/internal/progress"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	"github.com/waybook/waybook/waybookctl/landmarkfile"
)

// Export writes the landmarks of an owner and returns their number. If it fails, the file is incomplete.
func Export(
	ctx context.Context, client poiv1.PoiServiceClient, ownerID int64, format landmarkfile.Format, file io.Writer, report progress.Reporter,
) (count int64, err error) {
	writer := landmarkfile.NewWriter(file, format)
	report.Start("exporting", progress.Places, 0)
	defer report.Finish()
	for request := (&poiv1.ListPoisRequest{OwnerId: ownerID, PageSize: 1000}); ; {
		var page *poiv1.ListPoisResponse
		_, err := retry.Do(ctx, retry.Options{Note: report.Note}, func() (err error) {
			page, err = client.ListPois(ctx, request)
			return err
		})
		if err != nil {
			return count, err
		}
		for _, p := range page.GetPois() {
			if err := writer.Write(&poiv1.ImportedPoi{
				Key:  cmp.Or(p.GetImportKey(), fmt.Sprint("poi:", p.GetPoiId())),
				Name: p.GetName(), Category: p.GetCategory(), Location: p.GetLocation(),
			}); err != nil {
				return count, err
			}
			count++
		}
		report.Reach(count)
		if request.PageToken = page.GetNextPageToken(); request.PageToken == "" {
			return count, writer.Close()
		}
	}
}

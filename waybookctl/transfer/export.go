package transfer

import (
	"cmp"
	"context"
	"fmt"
	"io"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/waybook/waybook/internal/platform/retry"
	"github.com/waybook/waybook/internal/progress"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	"github.com/waybook/waybook/waybookctl/landmarkfile"
)

// Export writes the landmarks of an owner and returns their number. If it fails, the file is
// incomplete.
func Export(
	ctx context.Context, client poiv1.PoiServiceClient, ownerID int64, format landmarkfile.Format, file io.Writer,
	report progress.Reporter,
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
			item := &poiv1.ImportedPoi{Key: cmp.Or(p.GetImportKey(), fmt.Sprint("poi:", p.GetPoiId()))}
			CopyFields(item.ProtoReflect(), p.ProtoReflect())
			if err := writer.Write(item); err != nil {
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

// CopyFields copies the fields of a message that have the same name in another one, and are not
// set there.
func CopyFields(into, from protoreflect.Message) {
	if !from.IsValid() {
		return
	}
	fields := into.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		source := from.Descriptor().Fields().ByName(f.Name())
		if source == nil || into.Has(f) || !from.Has(source) && !f.HasOptionalKeyword() ||
			(source.Message() == nil) != (f.Message() == nil) {
			continue // Comment.reply is a message there, and a text in a file
		}
		switch value := from.Get(source); {
		case f.IsList():
			for n := range value.List().Len() {
				CopyFields(into.Mutable(f).List().AppendMutable().Message(), value.List().Get(n).Message())
			}
		case f.Message() != nil && f.Message() != source.Message():
			CopyFields(into.Mutable(f).Message(), value.Message())
		case source.Enum() != nil && f.Enum() == nil:
			into.Set(f, protoreflect.ValueOfInt32(int32(value.Enum())))
		default:
			into.Set(f, value)
		}
	}
}

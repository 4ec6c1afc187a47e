package moving_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
	"github.com/waybook/waybook/waybookctl/landmarkfile"
	"github.com/waybook/waybook/waybookctl/transfer"
)

// lines returns a file of places with the given keys and names.
func lines(keysAndNames ...string) string {
	var text strings.Builder
	for i := 0; i < len(keysAndNames); i += 2 {
		fmt.Fprintf(&text, "{\"key\":%q,\"name\":%q,\"category\":3,\"lat\":1,\"lng\":2}\n", keysAndNames[i], keysAndNames[i+1])
	}
	return text.String()
}

func TestAnUpdateWithPruneMakesTheOwnersLandmarksThoseOfTheFile(t *testing.T) {
	t.Parallel()
	w := start(t)
	for _, owner := range []int64{w.newUser(), w.owner} {
		options := w.options(landmarkfile.NDJSON)
		options.OwnerID = owner
		summary, err := w.importText(lines("a", "1", "b", "1", "c", "1", "d", "1"), options)
		expect(t, summary, err, 4, 0, 0)
	}
	single, err := w.poi.CreatePoi(t.Context(), &poiv1.CreatePoiRequest{OwnerId: w.owner, Name: "own", Category: 1, Location: &typev1.Location{}})
	if err != nil {
		t.Fatal(err)
	}
	before := w.everybody()
	file := lines("e", "1", "b", "2", "c", "1")
	options := w.options(landmarkfile.NDJSON)
	options.Update, options.Prune, options.DryRun = true, true, true
	for _, isDry := range []bool{true, false} {
		options.DryRun = isDry
		// The first message of the export is lost.
		w.line.after, w.line.loseReplies = 1, 1
		summary, err := w.importText(file, options)
		expect(t, summary, err, 1, 1, 0)
		if summary.Updated != 1 || summary.Pruned != 2 || summary.Kept != 1 || summary.Repeated != 1 || strings.Contains(summary.String(), "dry run") != isDry {
			t.Errorf("%v, %d kept, %d repeated", summary, summary.Kept, summary.Repeated)
		}
		if isDry && w.everybody() != before {
			t.Error("a dry run changed something")
		}
	}
	want := lines("b", "2", "c", "1", "e", "1") +
		fmt.Sprintf("{\"key\":\"poi:%d\",\"name\":\"own\",\"category\":1,\"lat\":0,\"lng\":0}\n", single.GetPoi().GetPoiId())
	if got := w.export(landmarkfile.NDJSON); got != want {
		t.Errorf("the owner has\n%s", got)
	}
	summary, err := w.importText(file, options)
	expect(t, summary, err, 0, 3, 0)
	if summary.Updated+summary.Pruned != 0 || strings.Count(w.everybody(), "\n") != 8 {
		t.Errorf("again: %v", summary)
	}
}

func TestAnImportWithRejectedPlacesPrunesNothing(t *testing.T) {
	t.Parallel()
	w := start(t)
	summary, err := w.importText(lines("a", "1", "b", "1"), w.options(landmarkfile.NDJSON))
	expect(t, summary, err, 2, 0, 0)
	for name, c := range map[string]struct{ file, why string }{
		"an invalid record": {lines("b", "1") + "{}\n", "1 invalid record"},
		"a refused place":   {lines("b", "2"), "1 places were refused"},
		"an empty file":     {"", "no places"},
	} {
		for _, isDry := range []bool{true, false} {
			options := w.options(landmarkfile.NDJSON)
			options.Prune, options.SkipInvalid, options.DryRun = true, true, isDry
			_, err := w.importText(c.file, options)
			var notPruned *transfer.NotPrunedError
			if !errors.As(err, &notPruned) || !strings.Contains(err.Error(), c.why) {
				t.Errorf("%s: %v", name, err)
			}
			if got := w.export(landmarkfile.NDJSON); got != lines("a", "1", "b", "1") {
				t.Errorf("%s: the owner has\n%s", name, got)
			}
		}
	}
}

// everybody returns the landmarks of all owners with their identifiers.
func (w *waybook) everybody() string {
	w.t.Helper()
	var text bytes.Buffer
	options := transfer.ExportOptions{Format: landmarkfile.NDJSON, IDs: landmarkfile.WithIDs}
	if _, err := transfer.Export(w.t.Context(), w.poi, options, &text, unreported{}); err != nil {
		w.t.Fatal(err)
	}
	return text.String()
}

func TestAnExportOfEverybodyIsImportedForTheOwnersInIt(t *testing.T) {
	t.Parallel()
	for _, format := range landmarkfile.Formats() {
		w := start(t)
		owners := []int64{w.owner, w.newUser(), w.newUser()}
		for i, owner := range owners {
			options := w.options(format)
			options.OwnerID = owner
			summary, err := w.importText(some(t, format, 400*i+5), options) // the same keys
			expect(t, summary, err, int64(400*i+5), 0, 0)
		}
		before := w.everybody()
		path := filepath.Join(t.TempDir(), "all")
		export := transfer.ExportOptions{Format: format, IDs: landmarkfile.WithIDs}
		if _, err := transfer.ExportFile(t.Context(), w.poi, export, path, unreported{}); err != nil {
			t.Fatal(err)
		}
		file, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		options := w.options(format)
		options.OwnerID, options.File.Fields.Owner = 0, "owner_id"
		summary, err := w.importText(string(file), options)
		expect(t, summary, err, 0, 1215, 0)
		if w.everybody() != before {
			t.Errorf("%s: the import changed something", format)
		}
		// Without their owners the keys repeat.
		options.OwnerID, options.File.Fields.Owner = w.owner, ""
		if _, err := w.importText(string(file), options); err == nil || !strings.Contains(err.Error(), "is already used") {
			t.Errorf("%s: %v", format, err)
		}
	}
}

func TestAnExportOfAnUnknownOwnerTouchesNoFile(t *testing.T) {
	t.Parallel()
	w := start(t)
	path := filepath.Join(t.TempDir(), "places.csv")
	options := transfer.ExportOptions{OwnerID: 1, Format: landmarkfile.CSV}
	if _, err := transfer.ExportFile(t.Context(), w.poi, options, path, unreported{}); status.Code(err) != codes.NotFound {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file exists: %v", err)
	}
	if err := os.WriteFile(path, []byte("as it was"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := transfer.ExportFile(t.Context(), w.poi, options, path, unreported{}); status.Code(err) != codes.NotFound {
		t.Errorf("%v", err)
	}
	if content, err := os.ReadFile(path); err != nil || string(content) != "as it was" {
		t.Errorf("%q, %v", content, err)
	}
}

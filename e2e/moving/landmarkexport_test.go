package moving_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/waybook/waybook/waybookctl/landmarkfile"
	"github.com/waybook/waybook/waybookctl/transfer"
)

func TestAnExportHasTheSelectedLandmarks(t *testing.T) {
	t.Parallel()
	w := start(t)
	file := some(t, landmarkfile.NDJSON, 500)
	summary, err := w.importText(file, w.options(landmarkfile.NDJSON))
	expect(t, summary, err, 500, 0, 0)
	for _, export := range []struct {
		want    int64
		options transfer.ExportOptions
	}{
		{100, transfer.ExportOptions{Category: 5, Format: landmarkfile.NDJSON}},
		{500, transfer.ExportOptions{Format: landmarkfile.CSV}},
		{0, transfer.ExportOptions{OwnerID: w.newUser(), Format: landmarkfile.GeoJSON}},
	} {
		var text bytes.Buffer
		count, err := transfer.Export(t.Context(), w.poi, export.options, &text, unreported{})
		if err != nil {
			t.Fatal(err)
		}
		checked, err := landmarkfile.Check(t.Context(), landmarkfile.Read(&text, landmarkfile.Options{Format: export.options.Format}), 1)
		if err != nil || checked.ProblemCount > 0 || count != export.want || checked.Places != count {
			t.Errorf("%+v: %d, %+v, %v", export, count, checked, err)
		}
	}
}

func TestAFailedExportLeavesTheFileUnchanged(t *testing.T) {
	t.Parallel()
	w := start(t)
	summary, err := w.importText(some(t, landmarkfile.NDJSON, 1000), w.options(landmarkfile.NDJSON))
	expect(t, summary, err, 1000, 0, 0)
	directory := t.TempDir()
	path := filepath.Join(directory, "places.geojson")
	if err := os.WriteFile(path, []byte("as it was"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.line.after, w.line.loseReplies = 2, 1
	options := transfer.ExportOptions{OwnerID: w.owner, Format: landmarkfile.GeoJSON}
	if _, err := transfer.ExportFile(t.Context(), w.poi, options, path, unreported{}); status.Code(err) != codes.Unavailable {
		t.Errorf("%v", err)
	}
	if content, err := os.ReadFile(path); err != nil || string(content) != "as it was" {
		t.Errorf("the file holds %q, %v", content, err)
	}
	if count, err := transfer.ExportFile(t.Context(), w.poi, options, path, unreported{}); count != 1000 || err != nil {
		t.Errorf("%d, %v", count, err)
	}
	if files, err := os.ReadDir(directory); err != nil || len(files) != 1 {
		t.Errorf("%v, %v", files, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the permissions changed: %v, %v", info.Mode(), err)
	}
	link := filepath.Join(directory, "link")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	options.Category = 1
	if count, err := transfer.ExportFile(t.Context(), w.poi, options, link, unreported{}); count != 200 || err != nil {
		t.Errorf("%d, %v", count, err)
	}
	if content, err := os.ReadFile(path); err != nil || bytes.Count(content, []byte("\n")) != 202 {
		t.Errorf("a link was not followed: %d bytes, %v", len(content), err)
	}
	missing := filepath.Join(directory, "no", "such")
	if _, err := transfer.ExportFile(t.Context(), w.poi, options, missing, unreported{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

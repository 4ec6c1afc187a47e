package moving_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/waybook/waybook/internal/progress"
	"github.com/waybook/waybook/internal/waybooktest"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
	"github.com/waybook/waybook/waybookctl/landmarkfile"
	"github.com/waybook/waybook/waybookctl/transfer"
)

// waybook is a running Waybook with a user who owns landmarks, and no other content.
type waybook struct {
	t     *testing.T
	poi   poiv1.PoiServiceClient
	owner int64
	// line is the connection between the client and the service.
	line *line
}

func start(t *testing.T) *waybook {
	t.Helper()
	running := waybooktest.Start(t)
	w := &waybook{t: t, line: &line{ClientConnInterface: running.Connection}}
	reply, err := running.Account.CreateUser(t.Context(), &accountv1.CreateUserRequest{Name: "x"})
	if err != nil {
		t.Fatal(err)
	}
	w.poi, w.owner = poiv1.NewPoiServiceClient(w.line), reply.GetUser().GetUserId()
	return w
}

// options returns options for a file of a format, without pauses between retries.
func (w *waybook) options(format landmarkfile.Format) transfer.ImportOptions {
	return transfer.ImportOptions{
		OwnerID: w.owner, File: landmarkfile.Options{Format: format, Category: 3},
		Wait: func(context.Context, time.Duration) error { return nil },
	}
}

// importText imports a text as a file.
func (w *waybook) importText(ctx context.Context, text string, options transfer.ImportOptions) (*transfer.ImportSummary, error) {
	w.t.Helper()
	path := filepath.Join(w.t.TempDir(), "places")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
	file, err := os.Open(path)
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = file.Close() }() // it was only read
	return transfer.Import(ctx, w.poi, file, options, unreported{})
}

// expect checks the counts of an import.
func expect(t *testing.T, summary *transfer.ImportSummary, err error, created, unchanged, refused int64) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if summary.Created != created || summary.Unchanged != unchanged || summary.Refused != refused {
		t.Errorf("%+v, want %d created, %d unchanged, %d refused", summary, created, unchanged, refused)
	}
}

// export returns the owner's landmarks as a file.
func (w *waybook) export(format landmarkfile.Format) string {
	w.t.Helper()
	var file bytes.Buffer
	if _, err := transfer.Export(w.t.Context(), w.poi, w.owner, format, &file, unreported{}); err != nil {
		w.t.Fatal(err)
	}
	return file.String()
}

// line is the connection between a client and the service. It loses replies if a test says so, and counts the
// places of imports.
type line struct {
	grpc.ClientConnInterface
	mu sync.Mutex
	// loseReplies is how many replies are lost, after the first after replies.
	loseReplies, after int
	// calls counts the places of each ImportPois call. onCall, if not nil, is called before each.
	calls  []int
	onCall func(calls int)
}

// Invoke makes a call.
func (l *line) Invoke(ctx context.Context, method string, request, reply any, options ...grpc.CallOption) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	batch, isImport := request.(*poiv1.ImportPoisRequest)
	if !isImport {
		return l.ClientConnInterface.Invoke(ctx, method, request, reply, options...)
	}
	l.calls = append(l.calls, len(batch.GetPois()))
	if l.onCall != nil {
		l.onCall(len(l.calls))
	}
	err := l.ClientConnInterface.Invoke(ctx, method, request, reply, options...)
	if l.after--; l.after < 0 && l.loseReplies > 0 {
		l.loseReplies--
		return status.Error(codes.Unavailable, "the line is broken")
	}
	return err
}

// unreported is the progress of work that nobody watches.
type unreported struct{}

func (unreported) Start(string, progress.Unit, int64) {}
func (unreported) Reach(int64)                        {}
func (unreported) Note(string)                        {}
func (unreported) Finish()                            {}

// some returns landmarks as a file, by key.
func some(t *testing.T, format landmarkfile.Format, count int) string {
	t.Helper()
	var text strings.Builder
	writer := landmarkfile.NewWriter(&text, format)
	var err error
	for i := 0; err == nil && i < count; i++ {
		err = writer.Write(&poiv1.ImportedPoi{
			Key: fmt.Sprintf("k%06d", i), Name: fmt.Sprintf("\"%d\",\n<地標>", i%11), Category: poiv1.PoiCategory(1 + i%5),
			Location: &typev1.Location{Lat: float64(i*i%180) / 3, Lng: float64(i%360)/7 - 180},
		})
	}
	if err = errors.Join(err, writer.Close()); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

func TestAnExportImportedElsewhereIsExportedTheSame(t *testing.T) {
	t.Parallel()
	for _, format := range []landmarkfile.Format{landmarkfile.GeoJSON, landmarkfile.NDJSON, landmarkfile.CSV} {
		t.Run(string(format), func(t *testing.T) {
			w, elsewhere := start(t), start(t)
			single, err := w.poi.CreatePoi(t.Context(), &poiv1.CreatePoiRequest{OwnerId: w.owner, Name: "own", Category: 1, Location: &typev1.Location{}})
			if err != nil {
				t.Fatal(err)
			}
			file := some(t, format, 1200)
			summary, err := w.importText(t.Context(), file, w.options(format))
			expect(t, summary, err, 1200, 0, 0)
			exported := w.export(format)
			if own := fmt.Sprintf("poi:%d", single.GetPoi().GetPoiId()); !strings.Contains(exported, own) {
				t.Fatalf("the export has no landmark %s", own)
			}
			// Here nothing changes, elsewhere the same landmarks are created.
			summary, err = w.importText(t.Context(), exported, w.options(format))
			expect(t, summary, err, 0, 1201, 0)
			summary, err = elsewhere.importText(t.Context(), exported, elsewhere.options(format))
			expect(t, summary, err, 1201, 0, 0)
			records := func(file string) []string {
				return slices.Sorted(strings.SplitSeq(strings.TrimSuffix(strings.ReplaceAll(file, ",\n{", "\n{"), "\n"), "\n"))
			}
			if there := elsewhere.export(format); !slices.Equal(records(there), records(exported)) {
				t.Errorf("elsewhere the export of %d bytes is not that of %d", len(there), len(exported))
			}
		})
	}
}

func TestAnInvalidRecordRejectsTheFileUnlessSkipped(t *testing.T) {
	t.Parallel()
	good := some(t, landmarkfile.NDJSON, 60)
	for name, bad := range map[string]string{
		"not JSON": "{", "swapped": `{"name":"x","lat":121.5,"lng":25}`, "no name": `{"lat":1,"lng":1}`, "Big5": "{\"name\":\"\xa4\xa4\",\"lat\":1,\"lng\":1}",
		"a key twice": `{"key":"k000000","name":"x","lat":1,"lng":1}`,
	} {
		t.Run(name, func(t *testing.T) {
			w := start(t)
			_, err := w.importText(t.Context(), good+bad, w.options(landmarkfile.NDJSON))
			if invalid, isInvalid := errors.AsType[*transfer.InvalidFileError](err); !isInvalid || !invalid.IsSkippable || !strings.Contains(err.Error(), "line 61: ") {
				t.Errorf("%v", err)
			}
			if len(w.line.calls) != 0 {
				t.Errorf("%d calls", len(w.line.calls))
			}
			options := w.options(landmarkfile.NDJSON)
			options.SkipInvalid = true
			summary, err := w.importText(t.Context(), good+bad, options)
			expect(t, summary, err, 60, 0, 0)
			if summary.Invalid != 1 || len(summary.Problems) != 1 || w.export(landmarkfile.NDJSON) != good {
				t.Errorf("%+v", summary)
			}
		})
	}
}

func TestAFileThatCannotBeReadOrHasNoLandmarkChangesNothing(t *testing.T) {
	t.Parallel()
	w := start(t)
	cut := some(t, landmarkfile.GeoJSON, 100)
	for _, file := range []struct {
		format        landmarkfile.Format
		text, problem string
	}{
		{landmarkfile.GeoJSON, cut[:len(cut)-100], "line 101: the file ends before"},
		{landmarkfile.CSV, "key,name,lat,lng\n", "no landmark that can be imported"},
		{landmarkfile.CSV, "key,name,lat,lng\n1,x,91,1\n", "line 2: lat: "},
		{landmarkfile.NDJSON, "\n", "no landmark that can be imported"},
		{landmarkfile.GeoJSON, `{"type":"FeatureCollection","features":[]}`, "no landmark that can be imported"},
		{landmarkfile.NDJSON, strings.Repeat("x\n", 50), "and 30 more problems"},
	} {
		options := w.options(file.format)
		options.SkipInvalid = true // applies only to records
		_, err := w.importText(t.Context(), file.text, options)
		if invalid, isInvalid := errors.AsType[*transfer.InvalidFileError](err); !isInvalid || invalid.IsSkippable || !strings.Contains(err.Error(), file.problem) {
			t.Errorf("%.80q: %v, want %s", file.text, err, file.problem)
		}
	}
	if len(w.line.calls) != 0 {
		t.Errorf("calls with %v places", w.line.calls)
	}
}

func TestAnInterruptedImportIsRunAgain(t *testing.T) {
	t.Parallel()
	w := start(t)
	file := some(t, landmarkfile.CSV, 2_200)
	ctx, cancel := context.WithCancel(t.Context())
	w.line.onCall = func(calls int) {
		if calls == 3 {
			cancel()
		}
	}
	summary, err := w.importText(ctx, file, w.options(landmarkfile.CSV))
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "1000 of 2200 places are done: run the import again") {
		t.Errorf("%+v, %v", summary, err)
	}
	summary, err = w.importText(t.Context(), file, w.options(landmarkfile.CSV))
	if err != nil || summary.Created+summary.Unchanged != 2_200 || summary.Unchanged < 1000 || slices.Max(w.line.calls) != 500 {
		t.Errorf("%+v, %v, calls of %v", summary, err, w.line.calls)
	}
	if got := w.export(landmarkfile.CSV); got != file {
		t.Errorf("the export of %d bytes is not the file of %d", len(got), len(file))
	}
}

func TestACallWithALostReplyIsRetriedWithoutDuplicates(t *testing.T) {
	t.Parallel()
	w := start(t)
	file := some(t, landmarkfile.GeoJSON, 1_400)
	w.line.after, w.line.loseReplies = 1, 3
	summary, err := w.importText(t.Context(), file, w.options(landmarkfile.GeoJSON))
	expect(t, summary, err, 900, 500, 0)
	if len(w.line.calls) != 6 || w.export(landmarkfile.GeoJSON) != file {
		t.Errorf("calls %v", w.line.calls)
	}
	w.line.loseReplies = 1000
	if _, err = w.importText(t.Context(), file, w.options(landmarkfile.GeoJSON)); status.Code(err) != codes.Unavailable || len(w.line.calls) != 16 {
		t.Errorf("%v, calls %v", err, w.line.calls)
	}
}

func TestARefusedPlaceIsReportedWithItsLineUnlessItIsUpdated(t *testing.T) {
	t.Parallel()
	w := start(t)
	table := func(name string) string {
		return "key,name,lat,lng\n" + strings.Repeat("\n", 5) + "1,x,1,1\n2," + name + ",1,1\n3,z,1,1\n,a,1,1\n,a,1.0,1\n"
	}
	summary, err := w.importText(t.Context(), table("y"), w.options(landmarkfile.CSV))
	expect(t, summary, err, 4, 0, 0)
	if summary.Repeated != 1 {
		t.Errorf("%+v", summary)
	}
	summary, err = w.importText(t.Context(), table("other"), w.options(landmarkfile.CSV))
	expect(t, summary, err, 0, 3, 1)
	if len(summary.Problems) != 1 || !strings.HasPrefix(summary.Problems[0], `line 8: the key "2" was refused: another landmark`) {
		t.Errorf("%v", summary.Problems)
	}
	options := w.options(landmarkfile.CSV)
	options.Update = true
	for _, options.DryRun = range []bool{true, false} {
		before := w.export(landmarkfile.CSV)
		summary, err = w.importText(t.Context(), table("other"), options)
		expect(t, summary, err, 0, 3, 0)
		if summary.Updated != 1 || (w.export(landmarkfile.CSV) == before) != options.DryRun {
			t.Errorf("%+v", summary)
		}
	}
	options.OwnerID = 1
	if _, err := w.importText(t.Context(), table("y"), options); status.Code(err) != codes.NotFound {
		t.Errorf("of an unknown owner: %v", err)
	}
}

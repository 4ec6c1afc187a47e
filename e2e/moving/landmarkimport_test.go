package moving_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/waybook/waybook/waybookctl/landmarkfile"
	"github.com/waybook/waybook/waybookctl/progress"
	"github.com/waybook/waybook/waybookctl/transfer"
)

// some returns places as a file, in an order that does not follow from their content.
func some(t *testing.T, format landmarkfile.Format, count int) string {
	t.Helper()
	var text strings.Builder
	writer := landmarkfile.NewWriter(&text, format, landmarkfile.WithoutIDs)
	var err error
	for i := 0; err == nil && i < count; i++ {
		err = writer.Write(landmarkfile.Place{
			Key: fmt.Sprintf("k%06d", i), Name: fmt.Sprintf("\"%d\",\r\n<地標>", i%11), Category: landmarkfile.Category(1 + i%5),
			Lat: float64(i*i%180) / 3, Lng: float64(i%360)/7 - 180,
		})
	}
	if err = errors.Join(err, writer.Close()); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

func TestAnExportImportedElsewhereIsExportedTheSame(t *testing.T) {
	t.Parallel()
	for _, format := range landmarkfile.Formats() {
		t.Run(string(format), func(t *testing.T) {
			w, elsewhere := start(t), start(t)
			file := some(t, format, 1200)
			summary, err := w.importText(file, w.options(format))
			expect(t, summary, err, 1200, 0, 0)
			if got := w.export(format); got != file {
				t.Fatalf("the export of %d bytes is not the file of %d", len(got), len(file))
			}
			options := elsewhere.options(format)
			options.CallPlaces = 70
			summary, err = elsewhere.importText(w.export(format), options)
			expect(t, summary, err, 1200, 0, 0)
			if got := elsewhere.export(format); got != file {
				t.Errorf("elsewhere the export of %d bytes is not the file of %d", len(got), len(file))
			}
			summary, err = w.importText(file, w.options(format))
			expect(t, summary, err, 0, 1200, 0)
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
			summary, err := w.importText(good+bad, w.options(landmarkfile.NDJSON))
			var invalid *transfer.InvalidFileError
			if !errors.As(err, &invalid) || !strings.Contains(err.Error(), "line 61: ") || !strings.Contains(err.Error(), "nothing was imported") {
				t.Errorf("%v", err)
			}
			if summary.Acknowledged() != 0 || len(w.line.calls) != 0 || w.export(landmarkfile.NDJSON) != "" {
				t.Errorf("%v, %d calls", summary, len(w.line.calls))
			}
			options := w.options(landmarkfile.NDJSON)
			options.SkipInvalid = true
			summary, err = w.importText(good+bad, options)
			expect(t, summary, err, 60, 0, 0)
			if summary.Checked.ProblemCount != 1 || !strings.Contains(summary.String(), "1 invalid") || w.export(landmarkfile.NDJSON) != good {
				t.Errorf("%v", summary)
			}
		})
	}
}

func TestATruncatedFileIsNotImportedInPart(t *testing.T) {
	t.Parallel()
	w := start(t)
	file := some(t, landmarkfile.GeoJSON, 100)
	options := w.options(landmarkfile.GeoJSON)
	options.SkipInvalid = true // applies only to records
	_, err := w.importText(file[:len(file)-100], options)
	if err == nil || !strings.Contains(err.Error(), "line 101: the file ends within the record that begins here") {
		t.Errorf("%v", err)
	}
	if len(w.line.calls) != 0 {
		t.Errorf("calls with %v places", w.line.calls)
	}
}

func TestTheFirstProblemsAreReportedAndAllAreCounted(t *testing.T) {
	t.Parallel()
	w := start(t)
	options := w.options(landmarkfile.NDJSON)
	options.MaxProblems = 3
	_, err := w.importText(strings.Repeat("x\n", 50), options)
	if err == nil || strings.Count(err.Error(), "line ") < 3 || strings.Contains(err.Error(), "line 4: ") || !strings.Contains(err.Error(), "and 47 more problems") {
		t.Errorf("%v", err)
	}
}

// watcher records the progress of an import.
type watcher struct {
	unreported
	stage   string
	reached []int64
}

func (w *watcher) Start(stage string, _ progress.Unit, _ int64) { w.stage = stage }

func (w *watcher) Reach(done int64) {
	if w.stage == "importing" {
		w.reached = append(w.reached, done)
	}
}

func TestAnInterruptedImportResumesWhenRunAgain(t *testing.T) {
	t.Parallel()
	w := start(t)
	file := some(t, landmarkfile.CSV, 12_000)
	options := w.options(landmarkfile.CSV)
	for range 2 {
		ctx, cancel := context.WithCancel(t.Context())
		w.line.sent = 0
		w.line.onSend = func(sent int) {
			if sent == 8 { // in the middle of the second call
				cancel()
			}
		}
		report := &watcher{}
		summary, err := w.importFrom(ctx, strings.NewReader(file), options, report)
		if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "5000 of 12000 places are done: run the import again to resume") {
			t.Errorf("%v, %v", summary, err)
		}
		if !slices.Equal(report.reached, []int64{5000}) {
			t.Errorf("progress %v", report.reached)
		}
		cancel()
	}
	// Some unacknowledged places may have been stored too, in whole batches.
	summary, err := w.importText(file, options)
	if err != nil || summary.Created+summary.Unchanged != 12_000 || summary.Unchanged < 5000 || summary.Created < 4000 {
		t.Errorf("%v, %v", summary, err)
	}
	if got := w.export(landmarkfile.CSV); got != file {
		t.Errorf("the export of %d bytes is not the file of %d", len(got), len(file))
	}
}

func TestACallWithALostReplyIsRetriedWithoutDuplicates(t *testing.T) {
	t.Parallel()
	w := start(t)
	file := some(t, landmarkfile.GeoJSON, 900)
	w.line.after, w.line.loseReplies = 1, 3
	options := w.options(landmarkfile.GeoJSON)
	options.CallPlaces = 300
	var waits []time.Duration
	options.Wait = func(_ context.Context, wait time.Duration) error {
		waits = append(waits, wait)
		return nil
	}
	summary, err := w.importText(file, options)
	expect(t, summary, err, 600, 300, 0)
	if summary.Repeated != 3 || len(waits) != 3 || !slices.IsSorted(waits) || len(w.line.calls) != 6 {
		t.Errorf("%v, waited %v, calls %v", summary, waits, w.line.calls)
	}
	if got := w.export(landmarkfile.GeoJSON); got != file {
		t.Errorf("the export of %d bytes is not the file of %d", len(got), len(file))
	}
}

func TestAnUnavailableServiceEndsTheImportWithAdvice(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.line.loseReplies = 1000
	longest := time.Duration(0)
	options := w.options(landmarkfile.NDJSON)
	options.Wait = func(_ context.Context, wait time.Duration) error {
		longest = max(longest, wait)
		return nil
	}
	summary, err := w.importText(some(t, landmarkfile.NDJSON, 10), options)
	if status.Code(err) != codes.Unavailable || !strings.Contains(err.Error(), "0 of 10 places are done: run the import again") {
		t.Errorf("%v", err)
	}
	if summary.Repeated != 9 || longest > 15*time.Second || len(w.line.calls) != 10 {
		t.Errorf("%v, waited %v, calls %v", summary, longest, w.line.calls)
	}
}

func TestARefusedCallIsNotRetried(t *testing.T) {
	t.Parallel()
	w := start(t)
	options := w.options(landmarkfile.NDJSON)
	options.OwnerID = 1
	_, err := w.importText(some(t, landmarkfile.NDJSON, 10), options)
	if status.Code(err) != codes.NotFound || len(w.line.calls) != 1 {
		t.Errorf("%v, calls %v", err, w.line.calls)
	}
}

func TestARefusedPlaceIsReportedWithItsLine(t *testing.T) {
	t.Parallel()
	w := start(t)
	table := func(name string) string {
		return "key,name,lat,lng\n" + strings.Repeat("\n", 5) + "1,x,1,1\n2," + name + ",1,1\n3,z,1,1\n"
	}
	summary, err := w.importText(table("y"), w.options(landmarkfile.CSV))
	expect(t, summary, err, 3, 0, 0)
	options := w.options(landmarkfile.CSV)
	options.CallPlaces = 1
	summary, err = w.importText(table("other"), options)
	expect(t, summary, err, 0, 2, 1)
	if len(summary.Failures) != 1 || !strings.HasPrefix(summary.Failures[0].String(), `line 8: the key "2" was refused: another landmark`) {
		t.Errorf("%v", summary.Failures)
	}
}

func TestPlacesWithoutKeysAreRecognisedByTheirContent(t *testing.T) {
	t.Parallel()
	w := start(t)
	file := `[{"country":"AD","name":"Vila","lat":"42.53176","lng":"1.56654"},{"country":"AD","name":"El Tarter","lat":"42.57952","lng":"1.65362"},
		{"country":"XX","name":"Vila","lat":"42.53176","lng":"1.56654"}]`
	for _, created := range []int64{2, 0} {
		summary, err := w.importText(file, w.options(landmarkfile.JSON))
		expect(t, summary, err, created, 2-created, 0)
		if summary.Checked.Duplicates != 1 || !strings.Contains(summary.String(), "1 repeated in the file") {
			t.Errorf("%v", summary)
		}
	}
}

// generated is generated NDJSON that is never in memory as a whole.
type generated struct {
	count, next int
	pending     []byte
}

func (g *generated) Read(p []byte) (int, error) {
	if len(g.pending) == 0 {
		if g.next == g.count {
			return 0, io.EOF
		}
		g.next++
		g.pending = fmt.Appendf(nil, "{\"key\":\"%d\",\"name\":\"n\",\"lat\":%d,\"lng\":%d}\n", g.next, g.next%90, g.next%180)
	}
	n := copy(p, g.pending)
	g.pending = g.pending[n:]
	return n, nil
}

func TestALongFileIsSentInCallsOfBoundedSize(t *testing.T) {
	t.Parallel()
	w := start(t)
	const count = 12_000
	report := &watcher{}
	summary, err := w.importFrom(t.Context(), &generated{count: count}, w.options(landmarkfile.NDJSON), report)
	expect(t, summary, err, count, 0, 0)
	if w.line.largest > 1000 || slices.Max(w.line.calls) > transfer.DefaultCallPlaces || len(report.reached) != len(w.line.calls) {
		t.Errorf("calls of %v places, at most %d in a message; progress %v", w.line.calls, w.line.largest, report.reached)
	}
}

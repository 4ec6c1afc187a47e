package console

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
)

// counted returns a registry with the metrics of a program.
func counted() (*prometheus.Registry, *prometheus.HistogramVec) {
	registry := prometheus.NewRegistry()
	durations := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "waybook_edge_request_duration_seconds", Buckets: []float64{0.001, 0.002, 0.004},
	}, []string{"func", "reason"})
	bytes := prometheus.NewGauge(prometheus.GaugeOpts{Name: "waybook_store_file_bytes"})
	bytes.Set(4096)
	connections := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "waybook_connections_open"}, []string{"port"})
	connections.WithLabelValues("admin").Set(9)
	connections.WithLabelValues("http").Set(3)
	started := prometheus.NewGauge(prometheus.GaugeOpts{Name: "process_start_time_seconds"})
	started.Set(1_700_000_000.5)
	memory := prometheus.NewGauge(prometheus.GaugeOpts{Name: "process_resident_memory_bytes"})
	memory.Set(1 << 20)
	registry.MustRegister(durations, bytes, connections, started, memory)
	return registry, durations
}

func TestTheReportHasTheNumbersOfTheProgram(t *testing.T) {
	registry, durations := counted()
	for range 3 {
		durations.WithLabelValues("getAlbum", "").Observe(0.0005)
	}
	durations.WithLabelValues("getAlbum", "ALBUM_NOT_FOUND").Observe(0.003)
	durations.WithLabelValues("", "MISSING_PARAMETER").Observe(0.1)
	h := newConsole(t, func(c *Config) { c.Metrics = registry })
	w := get(h, healthPath)
	var got report
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.Version == "" || got.Revision == "" {
		t.Errorf("the build is missing in %s", w.Body)
	}
	got.Version, got.Revision = "", ""
	want := report{
		Ready: true, StartTime: new(time.UnixMilli(1_700_000_000_500).UTC()),
		Checks: []check{{Name: "readyz", OK: true}},
		Operations: []operationReport{
			{
				Func: "", Outcomes: map[string]uint64{"success": 0, "failed": 1}, Reasons: map[string]uint64{"MISSING_PARAMETER": 1},
				Count: 1, P50: 0.004, P99: 0.004,
			},
			{
				Func: "getAlbum", Outcomes: map[string]uint64{"success": 3, "failed": 1}, Reasons: map[string]uint64{"ALBUM_NOT_FOUND": 1},
				Count: 4, P50: 2.0 / 3 / 1000, P99: 0.002 + 0.002*0.96,
			},
		},
		Store: &storeReport{Engine: "embedded", Bytes: 4096}, Connections: new(int64(3)), MemoryBytes: new(int64(1 << 20)),
	}
	isClose := cmp.Comparer(func(a, b float64) bool { return a-b < 1e-9 && b-a < 1e-9 })
	if diff := cmp.Diff(want, got, isClose); diff != "" {
		t.Error(diff)
	}
	if w.Header().Get("Cache-Control") != "no-store" || w.Header().Get("Content-Type") != "application/json" {
		t.Errorf("it came with %v", w.Header())
	}
	if head := send(h, http.MethodHead, healthPath); head.Body.Len() > 0 || head.Code != http.StatusOK {
		t.Errorf("HEAD: %d with %d bytes", head.Code, head.Body.Len())
	}
}

func TestAReportLeavesOutWhatTheProgramDoesNotKnow(t *testing.T) {
	var got map[string]any
	if err := json.Unmarshal(get(newConsole(t), healthPath).Body.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"store", "connections", "memoryBytes", "startTime"} {
		if _, has := got[name]; has {
			t.Errorf("it has %s", name)
		}
	}
	if operations, ok := got["operations"].([]any); !ok || len(operations) > 0 {
		t.Errorf("operations: %v", got["operations"])
	}
}

func TestAReportSaysWhyAProgramIsNotReady(t *testing.T) {
	h := newConsole(t, func(c *Config) { c.Ready = func(context.Context) error { return errAway } })
	var got report
	if err := json.Unmarshal(get(h, healthPath).Body.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]check{{Name: "readyz", Info: errAway.Error()}}, got.Checks); got.Ready || diff != "" {
		t.Errorf("ready: %v, %s", got.Ready, diff)
	}
}

// Whoever can connect may ask, so many questions must not cost many reports.
func TestAReportIsMadeAtMostOnceASecond(t *testing.T) {
	now, asked := time.Unix(1_700_000_000, 0), 0
	h := health{
		ready: func(context.Context) error { asked++; return nil }, metrics: prometheus.NewRegistry(),
		now: func() time.Time { return now },
	}
	for _, step := range []time.Duration{0, freshness / 2, freshness/2 - 1, 1, 0, freshness} {
		now = now.Add(step)
		if _, err := h.read(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if asked != 3 {
		t.Errorf("made %d reports, want 3", asked)
	}
}

// A client that leaves must not make the report of the others a failure.
func TestAReportIsMadeAlthoughItsFirstReaderLeft(t *testing.T) {
	ctx, leave := context.WithCancel(t.Context())
	leave()
	h := health{
		ready: func(ctx context.Context) error { return ctx.Err() }, metrics: prometheus.NewRegistry(), now: time.Now,
	}
	body, err := h.read(ctx)
	var got report
	if err != nil || json.Unmarshal(body, &got) != nil || !got.Ready {
		t.Errorf("got %s, %v", body, err)
	}
}

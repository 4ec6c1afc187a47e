package console

import (
	"context"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/waybook/waybook/internal/platform/buildinfo"
)

// freshness is how long a report is served again. It bounds what requests for reports cost.
const freshness = time.Second

// health reports the state of the program. It is safe for concurrent use.
type health struct {
	ready   func(context.Context) error
	metrics prometheus.Gatherer
	now     func() time.Time

	mu     sync.Mutex
	report []byte
	made   time.Time
}

// report is /console/health.json. What a program does not know is absent. Counters begin at the
// start of the program, and durations are in seconds.
type report struct {
	Ready       bool              `json:"ready"`
	Version     string            `json:"version"`
	Revision    string            `json:"revision"`
	StartTime   *time.Time        `json:"startTime,omitempty"`
	Checks      []check           `json:"checks"`
	Operations  []operationReport `json:"operations"`
	Store       *storeReport      `json:"store,omitempty"`
	Connections *int64            `json:"connections,omitempty"`
	MemoryBytes *int64            `json:"memoryBytes,omitempty"`
}

// check is a condition of being ready.
type check struct {
	Name string `json:"name"`
	OK   bool   `json:"ok"`
	// Info says what is missing.
	Info string `json:"info"`
}

// operationReport has the numbers of one func; "" stands for requests without a known one.
type operationReport struct {
	Func string `json:"func"`
	// Outcomes counts success and failed; Reasons counts the failures by their reasons.
	Outcomes map[string]uint64 `json:"outcomes"`
	Reasons  map[string]uint64 `json:"reasons"`
	Count    uint64            `json:"count"`
	// P50 and P99 are estimates: they interpolate within the buckets of a histogram.
	P50 float64 `json:"p50"`
	P99 float64 `json:"p99"`
}

type storeReport struct {
	Engine string `json:"engine"`
	Bytes  int64  `json:"bytes"`
}

// read returns a report of at most freshness ago, as JSON. One caller makes it while the others
// wait.
func (h *health) read(ctx context.Context) ([]byte, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if now := h.now(); h.report != nil && now.Sub(h.made) < freshness {
		return h.report, nil
	}
	// The report is for all callers, so the first one does not end it by leaving.
	made, err := json.Marshal(h.make(context.WithoutCancel(ctx)))
	if err != nil {
		return nil, err
	}
	h.report, h.made = made, h.now()
	return made, nil
}

func (h *health) make(ctx context.Context) report {
	build := buildinfo.Read()
	made := report{Version: build.Version, Revision: build.Commit, Ready: true}
	readiness := check{Name: "readyz", OK: true}
	if err := h.ready(ctx); err != nil {
		made.Ready, readiness = false, check{Name: "readyz", Info: err.Error()}
	}
	made.Checks = []check{readiness}
	// A collector that fails leaves its own metrics out.
	families, _ := h.metrics.Gather()
	made.fill(families)
	return made
}

// fill reads the numbers of a report from the program's metrics.
func (r *report) fill(families []*dto.MetricFamily) {
	r.Operations = []operationReport{}
	for _, family := range families {
		switch family.GetName() {
		case "waybook_edge_request_duration_seconds":
			r.Operations = operationReports(family.GetMetric())
		case "waybook_store_file_bytes":
			r.Store = &storeReport{Engine: "embedded", Bytes: *gauge(family.GetMetric()[0])}
		case "waybook_connections_open":
			for _, each := range family.GetMetric() {
				if label(each, "port") == "http" {
					r.Connections = gauge(each)
				}
			}
		case "process_resident_memory_bytes":
			r.MemoryBytes = gauge(family.GetMetric()[0])
		case "process_start_time_seconds":
			seconds := family.GetMetric()[0].GetGauge().GetValue()
			r.StartTime = new(time.UnixMilli(int64(seconds * 1000)).UTC())
		}
	}
}

func gauge(m *dto.Metric) *int64 { return new(int64(m.GetGauge().GetValue())) }

// label returns the value of a label; "" if there is none.
func label(m *dto.Metric, name string) string {
	for _, each := range m.GetLabel() {
		if each.GetName() == name {
			return each.GetValue()
		}
	}
	return ""
}

// operationReports sums up the histograms of the reasons of each func, in the order of the names.
func operationReports(metrics []*dto.Metric) []operationReport {
	reports, buckets := map[string]*operationReport{}, map[string]map[float64]uint64{}
	for _, each := range metrics {
		function, reason, observed := label(each, "func"), label(each, "reason"), each.GetHistogram()
		if reports[function] == nil {
			reports[function] = &operationReport{
				Func: function, Outcomes: map[string]uint64{"success": 0, "failed": 0}, Reasons: map[string]uint64{},
			}
			buckets[function] = map[float64]uint64{}
		}
		r, count := reports[function], observed.GetSampleCount()
		r.Count += count
		if reason == "" {
			r.Outcomes["success"] += count
		} else {
			r.Outcomes["failed"] += count
			r.Reasons[reason] += count
		}
		for _, bucket := range observed.GetBucket() {
			buckets[function][bucket.GetUpperBound()] += bucket.GetCumulativeCount()
		}
	}
	made := make([]operationReport, 0, len(reports))
	for _, function := range slices.Sorted(maps.Keys(reports)) {
		r := reports[function]
		r.P50, r.P99 = quantile(0.5, r.Count, buckets[function]), quantile(0.99, r.Count, buckets[function])
		made = append(made, *r)
	}
	return made
}

// quantile estimates a quantile of count observations from cumulative counts by upper bound. It
// interpolates within a bucket. Observations above the last bound count as that bound. It
// returns 0 without observations.
func quantile(q float64, count uint64, cumulative map[float64]uint64) float64 {
	rank := q * float64(count)
	var lower, below float64
	for _, bound := range slices.Sorted(maps.Keys(cumulative)) {
		if math.IsInf(bound, 1) {
			break
		}
		reached := float64(cumulative[bound])
		if reached >= rank && reached > below {
			return lower + (bound-lower)*(rank-below)/(reached-below)
		}
		lower, below = bound, reached
	}
	return lower
}

package console

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

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

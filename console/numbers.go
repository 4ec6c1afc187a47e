package console

import (
	"maps"
	"math"
	"slices"
	"time"

	dto "github.com/prometheus/client_model/go"
)

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

package desk

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/waybook/waybook/internal/platform/process"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	"github.com/waybook/waybook/waybookctl/adminport"
)

// state is what the programs report of themselves.
type state struct {
	Programs []programState `json:"programs"`
}

// programState is what a program reports. Metrics has those of shownMetrics that it has, summed up by name.
type programState struct {
	Address string             `json:"address"`
	Program string             `json:"program,omitempty"`
	Version string             `json:"version,omitempty"`
	Failure *Failure           `json:"failure,omitempty"`
	Metrics map[string]float64 `json:"metrics,omitempty"`
}

// keptMetric is for how long feeds show deletions.
const keptMetric = "waybook_changes_kept_seconds"

// shownMetrics are the metrics that the page shows.
var shownMetrics = []string{
	"waybook_ready", "process_start_time_seconds", "process_resident_memory_bytes", "waybook_store_file_bytes",
	"waybook_store_last_backup_timestamp_seconds", "waybook_store_last_rehearsal_timestamp_seconds", keptMetric,
	"waybook_rpc_streams_open", "waybook_sweep_last_success_timestamp_seconds", "waybook_tls_certificate_expiry_timestamp_seconds",
	"waybook_shadow_comparisons_total", "waybook_edge_failed_attempts_total",
}

// followState sends the state as server-sent events.
func (d *Desk) followState(w http.ResponseWriter, r *http.Request) {
	d.sendEvents(w, r, func(ctx context.Context) any { return d.state(ctx) })
}

func (d *Desk) state(ctx context.Context) state {
	now := state{Programs: []programState{}}
	for _, port := range d.config.Admin {
		within, cancel := context.WithTimeout(ctx, adminTime)
		addresses, err := adminport.Resolve(within, port)
		if err != nil {
			now.Programs = append(now.Programs, programState{Address: port, Failure: new(d.config.Describe(ctx, err))})
		}
		for _, address := range addresses {
			now.Programs = append(now.Programs, d.programAt(within, address))
		}
		cancel()
	}
	slices.SortStableFunc(now.Programs, func(a, b programState) int {
		return cmp.Or(strings.Compare(a.Program, b.Program), strings.Compare(a.Address, b.Address))
	})
	return now
}

// countOldPasswords counts the users whose password has a form of an old service, by form. A user's first login
// stores the password anew.
func (d *Desk) countOldPasswords(r *http.Request) (any, error) {
	reply, err := d.config.Services.Account.CountPasswordForms(r.Context(), &accountv1.CountPasswordFormsRequest{})
	counts := map[string]int64{}
	for _, each := range reply.GetCounts() {
		if each.GetUserCount() > 0 {
			counts[strings.TrimPrefix(each.GetForm().String(), "PASSWORD_FORM_")] = each.GetUserCount()
		}
	}
	return counts, err
}

// programAt asks the program at an address.
func (d *Desk) programAt(ctx context.Context, address string) programState {
	found := programState{Address: address}
	body, err := adminport.Get(ctx, address, process.FailuresPath)
	if err == nil {
		var reply process.FailuresReply
		if err = json.Unmarshal(body, &reply); err == nil {
			found.Program = reply.Program
			body, err = adminport.Get(ctx, address, "/metrics")
		}
	}
	if err != nil {
		found.Failure = new(d.config.Describe(context.WithoutCancel(ctx), err))
		return found
	}
	found.Metrics, found.Version = readMetrics(string(body))
	return found
}

// metricLine is a line of the text format: a name, perhaps labels, and a value.
var metricLine = regexp.MustCompile(`(?m)^(\w+)(?:\{(.*)\})? (\S+)$`)

// versionLabel is the label of the version in waybook_build_info.
var versionLabel = regexp.MustCompile(`\bversion="([^"]*)"`)

// readMetrics returns the metrics that the page shows, summed up by name; of times the latest, as the programs of
// a service have the same. It also returns the version.
func readMetrics(text string) (metrics map[string]float64, version string) {
	metrics = map[string]float64{}
	for _, line := range metricLine.FindAllStringSubmatch(text, -1) {
		name := line[1]
		if name == "waybook_build_info" {
			if found := versionLabel.FindStringSubmatch(line[2]); found != nil {
				version = found[1]
			}
		}
		value, err := strconv.ParseFloat(line[3], 64)
		if err != nil || !slices.Contains(shownMetrics, name) {
			continue
		}
		if strings.HasSuffix(name, "_timestamp_seconds") {
			metrics[name] = max(metrics[name], value)
		} else {
			metrics[name] += value
		}
	}
	return metrics, version
}

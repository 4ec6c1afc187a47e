package desk

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/waybook/waybook/edge"
	"github.com/waybook/waybook/internal/platform/process"
	"github.com/waybook/waybook/internal/platform/tracing"
	"github.com/waybook/waybook/moving/send"
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

// silentTime is how long a running import may be without a sign of life before the page says so: longer than a
// request takes.
const silentTime = time.Minute

// moves is what the page shows of imports.
type moves struct {
	// Journal is where an import on this machine would keep its journal.
	Journal string `json:"journal"`
	// Import is the running import, or the last one; nil if there was none.
	Import *send.Status `json:"import,omitempty"`
	// IsSilent reports that an import has not ended and gives no sign of life.
	IsSilent bool     `json:"is_silent"`
	Failure  *Failure `json:"failure,omitempty"`
}

// moves returns the progress of imports.
func (d *Desk) moves(ctx context.Context) moves {
	now := moves{Journal: d.config.Journal}
	status, err := send.ReadStatus(d.config.Journal)
	if err != nil {
		now.Failure = new(d.config.Describe(ctx, err))
		return now
	}
	now.Import = status
	now.IsSilent = status != nil && !status.HasEnded && time.Since(status.Updated) > silentTime
	return now
}

// mostRequests is how many failed and how many slow requests a page shows.
const mostRequests = 200

// seenRequests are the last failed and slow requests, the latest first.
type seenRequests struct {
	Failed []failedRequest `json:"failed"`
	Slow   []slowRequest   `json:"slow"`
	// Problems say which ports did not answer, and KeepsSlow whether a program keeps slow requests.
	Problems  []string `json:"problems"`
	KeepsSlow bool     `json:"keeps_slow"`
}

// failedRequest is a failed request of an edge, with an explanation of its reason.
type failedRequest struct {
	process.FailedRequest
	Program string `json:"program"`
	Meaning string `json:"meaning,omitempty"`
	Action  string `json:"action,omitempty"`
}

// slowRequest is what the programs did for a slow request.
type slowRequest struct {
	RequestID    string    `json:"request_id"`
	Began        time.Time `json:"began"`
	Milliseconds float64   `json:"ms"`
	// Parts are the longest spans, each with its program.
	Parts []slowPart `json:"parts"`
}

// slowPart is a span of a slow request.
type slowPart struct {
	Program      string  `json:"program"`
	Name         string  `json:"name"`
	Milliseconds float64 `json:"ms"`
	Outcome      string  `json:"outcome,omitempty"`
}

// mostParts is how many spans a page shows of a slow request.
const mostParts = 8

// requests asks all admin ports. A port that does not answer leaves the others.
func (d *Desk) requests(ctx context.Context) seenRequests {
	seen := seenRequests{Failed: []failedRequest{}, Slow: []slowRequest{}, Problems: []string{}}
	bySlow := map[string]*slowRequest{}
	for _, port := range d.config.Admin {
		within, cancel := context.WithTimeout(ctx, adminTime)
		err := adminport.Ask(within, adminport.Ports{port}, process.FailuresPath, func(_ string, reply process.FailuresReply) {
			for _, each := range reply.Requests {
				seen.Failed = append(seen.Failed, explained(each, reply.Program))
			}
		})
		if err == nil {
			err = adminport.Ask(within, adminport.Ports{port}, process.SlowPath, func(_ string, reply tracing.SlowReply) {
				seen.KeepsSlow = true
				for _, each := range reply.Requests {
					addSlow(bySlow, each, reply.Program)
				}
			})
		}
		cancel()
		if _, isNotKept := errors.AsType[*adminport.NotKept](err); err != nil && !isNotKept {
			seen.Problems = append(seen.Problems, d.config.Describe(ctx, err).Message)
		}
	}
	slices.SortStableFunc(seen.Failed, func(a, b failedRequest) int { return b.Ended.Compare(a.Ended) })
	for _, each := range bySlow {
		slices.SortStableFunc(each.Parts, func(a, b slowPart) int { return cmp.Compare(b.Milliseconds, a.Milliseconds) })
		each.Parts = each.Parts[:min(len(each.Parts), mostParts)]
		seen.Slow = append(seen.Slow, *each)
	}
	slices.SortFunc(seen.Slow, func(a, b slowRequest) int {
		return cmp.Or(b.Began.Compare(a.Began), cmp.Compare(a.RequestID, b.RequestID))
	})
	seen.Failed, seen.Slow = seen.Failed[:min(len(seen.Failed), mostRequests)], seen.Slow[:min(len(seen.Slow), mostRequests)]
	return seen
}

// addSlow adds what a program did for a request to what others did.
func addSlow(to map[string]*slowRequest, part tracing.SlowRequest, program string) {
	id := cmp.Or(part.RequestID, part.TraceID)
	request := to[id]
	if request == nil {
		request = &slowRequest{RequestID: id, Began: part.Began}
		to[id] = request
	}
	if part.Began.Before(request.Began) {
		request.Began = part.Began
	}
	request.Milliseconds = max(request.Milliseconds, part.Milliseconds)
	for _, span := range part.Spans {
		request.Parts = append(request.Parts, slowPart{program, span.Name, span.Milliseconds, span.Outcome})
	}
}

// explained adds the meaning of the reason, and what to do, from the description of the interface.
func explained(request process.FailedRequest, program string) failedRequest {
	made := failedRequest{FailedRequest: request, Program: program}
	for _, each := range edge.Failures() {
		if each.Reason == request.Reason && (made.Meaning == "" || each.Info == request.Info) {
			made.Meaning, made.Action = plain(each.Meaning), plain(each.Action)
		}
	}
	return made
}

// plain returns a text of the description without its marks of code.
func plain(text string) string { return strings.ReplaceAll(text, "`", "") }

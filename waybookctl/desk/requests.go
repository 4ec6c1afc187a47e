package desk

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/waybook/waybook/edge"
	"github.com/waybook/waybook/internal/platform/process"
	"github.com/waybook/waybook/internal/platform/tracing"
	"github.com/waybook/waybook/waybookctl/adminport"
)

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

// followRequests sends the requests as server-sent events.
func (d *Desk) followRequests(w http.ResponseWriter, r *http.Request) {
	d.sendEvents(w, r, func(ctx context.Context) any { return d.requests(ctx) })
}

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
		var notKept *adminport.NotKept
		if err != nil && !errors.As(err, &notKept) {
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

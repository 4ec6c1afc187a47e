//go:build linux

package faults

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/waybook/waybook/e2e/faults/history"
)

const (
	// callBound is what an answer may take at most, beyond what the fault itself
	// holds it up: the edge gives a service 10 seconds. It measures nothing.
	callBound = 15 * time.Second
	// callPause is how long a client waits after a failure.
	callPause = 20 * time.Millisecond
	// recovery is how long a fleet may fail after its faults are over, unless
	// recoveryVariable says it.
	recovery = 30 * time.Second
)

// clients call a fleet and complain of replies that no fault excuses.
type clients struct {
	fleet   *fleet
	http    *http.Client
	history *history.History
	// excused are reasons of failures, and codes, that the fault at hand allows.
	excused []string
	// heldUp is how long the fault keeps answers from coming.
	heldUp time.Duration

	// recovery bounds how long the fleet may fail after its faults are over.
	recovery time.Duration

	// answered counts replies that say what was asked for, that it is not there
	// included; slowest is the longest time, in nanoseconds.
	answered, failed, slowest atomic.Int64
}

func newClients(f *fleet, h *history.History, heldUp time.Duration, excused []string) *clients {
	return &clients{
		fleet: f, history: h, heldUp: heldUp, excused: excused, recovery: recovery,
		http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: workers}, Timeout: 2*callBound + heldUp},
	}
}

// ordinary are the reasons with which /API.php may fail because of any fault.
var ordinary = []string{"SERVICE_UNAVAILABLE", "SERVICE_TIMEOUT", "CONFLICT", "TOO_MANY_REQUESTS", "UNREADABLE_REQUEST", "REQUEST_TIMEOUT"}

// answer is what /API.php said.
type answer struct {
	history.Span
	isAcknowledged bool
	// reason is why it failed; empty when there was no reply.
	reason string
	document
}

// post sends a form to /API.php. In every other reply JSON is asked for.
func (c *clients) post(ctx context.Context, cookie string, isJSON bool, form ...string) answer {
	values := url.Values{}
	for pair := range slices.Chunk(form, 2) {
		values.Set(pair[0], pair[1])
	}
	if isJSON {
		values.Set("responseFormat", "JSON")
	}
	a := answer{Span: history.Span{Begin: c.history.Now()}}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+c.fleet.edge+"/API.php", strings.NewReader(values.Encode()))
	if err != nil {
		panic(err) // the address is the fleet's own
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("Cookie", cookie)
	var body []byte
	response, err := c.http.Do(request)
	if err == nil {
		body, err = io.ReadAll(response.Body)
		_ = response.Body.Close()
	}
	a.End = c.history.Now()
	c.observe(ctx, form[1], a.Span)
	if err != nil {
		c.count(ctx, false)
		return a
	}
	c.read(&a, form[1], isJSON, response.Header, body)
	c.count(ctx, a.isAcknowledged || isNotFound(a))
	return a
}

// read makes out what a whole reply says.
func (c *clients) read(a *answer, function string, isJSON bool, header http.Header, body []byte) {
	parse := parseXML
	if isJSON && strings.HasPrefix(header.Get("Content-Type"), "application/json") {
		parse = parseJSON
	}
	var err error
	if a.document, err = parse(body); err != nil {
		c.complain(history.Malformed, "%s: %v: %q", function, err, body)
		return
	}
	a.reason = header.Get("X-Waybook-Reason")
	a.isAcknowledged = a.at("status").text == "SUCCESS" && a.reason == ""
	switch {
	case a.isAcknowledged, slices.Contains(ordinary, a.reason), slices.Contains(c.excused, a.reason):
	case strings.HasSuffix(a.reason, "_NOT_FOUND") && a.reason != "USER_NOT_FOUND":
	case a.reason == "LOGIN_REQUIRED":
		c.complain(history.Lost, "%s: a session", function)
	default:
		c.complain(history.Malformed, "%s: no answer: %s", function, body)
	}
}

// call makes a call over gRPC and returns whether it was acknowledged.
func call[Request, Response any](
	ctx context.Context, c *clients, method func(context.Context, Request, ...grpc.CallOption) (Response, error), request Request,
) (Response, history.Span, bool) {
	span := history.Span{Begin: c.history.Now()}
	bounded, cancel := context.WithTimeout(ctx, callBound)
	defer cancel()
	response, err := method(bounded, request)
	span.End = c.history.Now()
	name := fmt.Sprintf("%T", request)
	c.observe(ctx, name, span)
	code := status.Code(err)
	switch code {
	case codes.OK, codes.Unavailable, codes.DeadlineExceeded, codes.Canceled, codes.Aborted, codes.ResourceExhausted:
	default:
		if !slices.Contains(c.excused, code.String()) {
			c.complain(history.Malformed, "%s: %v", name, err)
		}
	}
	c.count(ctx, err == nil)
	return response, span, err == nil
}

func (c *clients) complain(rule, format string, args ...any) {
	c.history.Record(history.Violation{Rule: rule, Detail: fmt.Sprintf(format, args...)})
}

// observe keeps how long an answer took, and complains of one beyond its bound.
func (c *clients) observe(ctx context.Context, what string, span history.Span) {
	took := span.End - span.Begin
	for {
		slowest := c.slowest.Load()
		if int64(took) <= slowest || c.slowest.CompareAndSwap(slowest, int64(took)) {
			break
		}
	}
	if ctx.Err() == nil && took > callBound+c.heldUp {
		c.complain(history.Late, "%s took %v", what, took)
	}
}

// count counts a request, unless it was the client that gave up.
func (c *clients) count(ctx context.Context, isAnswered bool) {
	switch {
	case isAnswered:
		c.answered.Add(1)
	case ctx.Err() == nil:
		c.failed.Add(1)
	}
}

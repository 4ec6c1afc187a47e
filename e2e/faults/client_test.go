//go:build linux

package faults

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/waybook/waybook/e2e/faults/history"
	"github.com/waybook/waybook/internal/waybooktest"
)

const (
	// callBound is the longest acceptable time of a reply, without the delay of the fault
	// itself. The edge gives a service 10 s. The bound is not a measurement.
	callBound = 15 * time.Second
	// callPause is the pause of a client after a failure.
	callPause = 20 * time.Millisecond
	// recovery is how long a fleet may fail after its faults have ended. recoveryVariable overrides
	// it.
	recovery = 30 * time.Second
)

// clients call a fleet and record replies that no fault excuses.
type clients struct {
	fleet   *fleet
	edge    *waybooktest.Client
	history *history.History
	// excused are the failure reasons and codes that the current fault allows.
	excused []string
	// heldUp is how long the fault delays replies.
	heldUp time.Duration

	// recovery is how long the fleet may fail after its faults have ended.
	recovery time.Duration

	// answered counts successful replies, including "not found". slowest is the longest time of a
	// reply, in nanoseconds.
	answered, failed, slowest atomic.Int64
}

func newClients(t *testing.T, f *fleet, h *history.History, heldUp time.Duration, excused []string) *clients {
	return &clients{
		fleet: f, history: h, heldUp: heldUp, excused: excused, recovery: recovery,
		edge: waybooktest.ClientAt(t, f.edge),
	}
}

// ordinary are the failure reasons of /API.php that any fault may cause.
var ordinary = []string{"SERVICE_UNAVAILABLE", "SERVICE_TIMEOUT", "CONFLICT", "TOO_MANY_REQUESTS", "UNREADABLE_REQUEST", "REQUEST_TIMEOUT"}

// answer is a reply of /API.php.
type answer struct {
	history.Span
	isAcknowledged bool
	// reason is the failure reason; it is empty without a reply.
	reason string
	document
}

// post sends a form to /API.php. If isJSON is set, it asks for JSON.
func (c *clients) post(ctx context.Context, cookie string, isJSON bool, form ...string) answer {
	values := url.Values{}
	for pair := range slices.Chunk(form, 2) {
		values.Set(pair[0], pair[1])
	}
	if isJSON {
		values.Set("responseFormat", "JSON")
	}
	a := answer{Span: history.Span{Begin: c.history.Now()}}
	bounded, cancel := context.WithTimeout(ctx, 2*callBound+c.heldUp)
	defer cancel()
	client := c.edge.WithCookie(cookie)
	client.Context = bounded
	reply, err := client.Try(client.Form(http.MethodPost, values.Encode()))
	a.End = c.history.Now()
	c.observe(ctx, form[1], a.Span)
	if err != nil {
		c.count(ctx, false)
		return a
	}
	c.read(&a, form[1], isJSON, reply.Header, []byte(reply.Body))
	c.count(ctx, a.isAcknowledged || isNotFound(a))
	return a
}

// read interprets a complete reply.
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
		c.complain(history.Malformed, "%s: unexpected reply: %s", function, body)
	}
}

// call makes a gRPC call and reports whether it was acknowledged.
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

// observe records the time of a reply, and reports a violation if it exceeds the bound.
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

// count counts a request, unless the client cancelled it.
func (c *clients) count(ctx context.Context, isAnswered bool) {
	switch {
	case isAnswered:
		c.answered.Add(1)
	case ctx.Err() == nil:
		c.failed.Add(1)
	}
}

package edge

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"runtime/debug"
	"strconv"
	"sync"
	"time"

	"github.com/waybook/waybook/edge/failure"
	"github.com/waybook/waybook/edge/form"
	"github.com/waybook/waybook/edge/operation"
	"github.com/waybook/waybook/edge/reply"
	"github.com/waybook/waybook/internal/platform/admission"
	"github.com/waybook/waybook/internal/platform/rules"
)

// handler serves the interface.
type handler struct {
	config    Config
	table     []operation.Function
	sites     sites
	zippers   zippers
	exchanges sync.Pool
	failures  failureLog
}

// New returns the handler of the whole interface. It answers paths other than Path with a
// failure, so that it can be the only handler of a server.
func New(c Config) http.Handler {
	rules.Load()
	if c.Log == nil {
		c.Log = slog.Default()
	}
	if c.Observe == nil {
		c.Observe = func(*http.Request, Answer) {}
	}
	if c.CallTimeout <= 0 {
		c.CallTimeout = DefaultCallTimeout
	}
	if c.WriteTimeout <= 0 {
		c.WriteTimeout = DefaultWriteTimeout
	}
	if c.MaxFormBytes <= 0 {
		c.MaxFormBytes = DefaultMaxFormBytes
	}
	h := &handler{
		config: c, table: operation.Table(c.operations()), sites: c.TrustedOrigins.sites(),
		failures: newFailureLog(),
	}
	h.exchanges = sync.Pool{New: func() any { return newExchange(&h.config, h.table, &h.zippers) }}
	return h
}

// ServeHTTP answers one request. When it cannot send the rest of a reply, it breaks the
// connection by panicking with http.ErrAbortHandler. No client then takes the part for the
// whole.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	began := time.Now()
	x := h.exchanges.Get().(*exchange)
	x.open(w, r)
	h.sites.share(w.Header(), r)
	defer func() {
		x.close()
		h.exchanges.Put(x)
	}()
	reason, complete := h.conclude(x, h.answer(x))
	h.config.Observe(r, Answer{x.function, reason, x.isLeftOut, x.response.status, x.response.bodyBytes,
		time.Since(began)})
	if !complete {
		if !r.ProtoAtLeast(1, 1) {
			x.response.reset()
		}
		panic(http.ErrAbortHandler)
	}
}

// answer runs the request. It turns a panic into a failure, so that the client gets a reply;
// conclude sends the rest of the reply.
func (h *handler) answer(x *exchange) (err error) {
	defer func() {
		switch p := recover(); p {
		case nil:
		case http.ErrAbortHandler:
			panic(p)
		default:
			err = failure.Internal(fmt.Errorf("panic: %v\n%s", p, debug.Stack()))
		}
	}()

	// The other slots are kept until the reply is sent.
	defer x.turn.made()
	defer x.response.Resume() // a panic may have ended a wait

	if err := h.config.Load.refuseClient(h.config.TrustedProxies, x.request); err != nil {
		return err
	}
	isSession := h.config.HasConsole && h.config.PathPrefix.Trim(x.request.URL.Path) == SessionPath
	if !isSession {
		if file := fileAt(h.config.PathPrefix.Trim(x.request.URL.Path)); file != nil {
			return h.serveFile(x, file)
		}
		if !h.config.PathPrefix.Serves(x.request.URL.Path) {
			return refuse("NOT_FOUND", http.StatusNotFound)
		}
		if h.sites.preflight(x.response.writer.Header(), x.request) {
			return x.response.sendBodyless(http.StatusNoContent)
		}
	}
	switch x.request.Method {
	case http.MethodGet, http.MethodHead, http.MethodPost:
	default:
		return refuse("METHOD_NOT_ALLOWED", http.StatusMethodNotAllowed)
	}

	formErr := x.readForm()
	if isSession {
		x.function = SessionPath
		x.answerIn(reply.JSON{Document: &x.response.Document})
		if formErr != nil {
			return formErr
		}
		return h.serveSession(x)
	}
	formatErr := x.chooseFormat()
	if formErr != nil {
		return formErr
	}
	function, err := operation.Find(h.table, &x.form)
	if err != nil {
		return err
	}
	x.function = function.Name
	if formatErr != nil {
		return formatErr
	}
	begin := x.turn.begin
	if x.op.In.File != nil {
		begin = x.turn.beginUpload
	}
	if err := begin(x.request.Context(), function.Effect); err != nil {
		return err
	}
	return h.carryOut(x, function)
}

// carryOut checks the method, the site and the session, in this order. Then it runs the operation.
func (h *handler) carryOut(x *exchange, f *operation.Function) (err error) {
	if f.Effect == operation.Writes {
		if x.request.Method != http.MethodPost {
			return failure.New("POST_REQUIRED")
		}
		if err := h.sites.refuseOthers(x.request); err != nil {
			return err
		}
	}
	if f.NeedsLogin() {
		x.op.In.User, err = h.sessionUser(x.request.Context(), x.request.Header)
		if err != nil {
			return err
		}
	}
	if x.op.In.User != 0 && f.Effect == operation.Writes {
		if err := h.config.Load.refuseUser(x.op.In.User); err != nil {
			return err
		}
	}
	x.op.Charge = x.turn.chargeReads
	run := func() error { return f.Choose(&x.op.In).Run(x.request.Context(), &x.op) }
	if f.Effect == operation.Reads {
		return h.config.Load.countMisses(&x.turn, run)
	}
	return run()
}

// conclude sends the unsent part of the reply, or the failure. It returns the stable reason of a
// failure and reports whether the client got the complete reply.
func (h *handler) conclude(x *exchange, err error) (reason string, complete bool) {
	if err == nil {
		err = x.response.finish(http.StatusOK)
	}
	switch {
	case err == nil, errors.Is(x.response.err, errAnswered):
		return "", true
	case errors.Is(err, errClientGone) || x.leftDuring(err):
		return "CLIENT_GONE", false
	}

	f := failureOf(err, &x.op.In.Reader)
	h.log(x, err, f)
	if x.response.started {
		return f.Reason, false
	}
	x.parts.discard()
	return f.Reason, x.sendFailure(f, statusOf(err, f)) == nil
}

// leftDuring reports whether err was caused by the client leaving during a call. A failure that
// the edge found itself does not count. A body that never arrives also ends the request's
// context, but its sender may still read the reply.
func (x *exchange) leftDuring(err error) bool {
	var found *failure.Failure
	return x.request.Context().Err() != nil && !errors.As(err, &found)
}

func (x *exchange) sendFailure(f *failure.Failure, status int) error {
	header := x.response.writer.Header()
	header.Set("X-Waybook-Reason", f.Reason)
	if f.RetryAfter > 0 {
		header.Set("Retry-After", strconv.FormatFloat(math.Ceil(f.RetryAfter.Seconds()), 'f', 0, 64))
	}
	switch status {
	case http.StatusMethodNotAllowed:
		header.Set("Allow", "GET, HEAD, POST")
		if x.function == FilesPath {
			header.Set("Allow", "GET, HEAD")
		}
	case http.StatusUnsupportedMediaType:
		header.Set("Accept-Encoding", "identity")
	}
	x.response.abandon()
	reply.WriteFailure(x.op.Out.Writer, f.Info)
	return x.response.finish(status)
}

// refusal is a failure of the transport, not of an operation. It has its own HTTP status.
type refusal struct {
	*failure.Failure
	status int
}

func refuse(reason string, status int) *refusal { return &refusal{failure.New(reason), status} }

// Unwrap returns the failure, so that errors.As finds it.
func (r *refusal) Unwrap() error { return r.Failure }

// failureOf returns the failure that the client sees for err; in is what the request was read
// from.
func failureOf(err error, in *form.Reader) *failure.Failure {
	if errors.Is(err, admission.ErrFull) {
		return failure.Temporary("SERVICE_BUSY", failure.Unavailable, err)
	}
	return operation.FailureOf(err, in)
}

// statusOf returns the HTTP status of a failed request. It is 200 when the request or an
// operation is the cause, because old clients read a body only then (rule 10.4).
func statusOf(err error, f *failure.Failure) int {
	var refused *refusal
	switch {
	case errors.As(err, &refused):
		return refused.status
	case f.Kind == failure.Unavailable:
		return http.StatusServiceUnavailable
	case f.Kind == failure.TooMany:
		return http.StatusTooManyRequests
	}
	return http.StatusOK
}

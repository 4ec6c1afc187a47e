package edge

import (
	"context"
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
	"github.com/waybook/waybook/edge/operation"
	"github.com/waybook/waybook/edge/reply"
)

// handler serves the interface.
type handler struct {
	config    Config
	functions *operation.Functions
	sites     *http.CrossOriginProtection
	zippers   zippers
	exchanges sync.Pool
}

// ServeHTTP answers one request. When it cannot send the rest of a reply, it breaks the
// connection by panicking with http.ErrAbortHandler. No client then takes the part for the
// whole.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	began := time.Now()
	x := h.exchanges.Get().(*exchange)
	x.open(w, r)
	reason, complete := x.settle(x.answer())
	h.config.Observe(r, Answer{x.function, reason, x.response.status, x.response.bodyBytes, time.Since(began), x.signature})
	x.close()
	h.exchanges.Put(x)
	if !complete {
		panic(http.ErrAbortHandler)
	}
}

// answer runs the request. It turns a panic into a failure, so that the client gets a reply;
// settle sends the rest of the reply.
func (x *exchange) answer() (err error) {
	defer func() {
		switch p := recover(); p {
		case nil:
		case http.ErrAbortHandler:
			panic(p)
		default:
			err = failure.Internal(fmt.Errorf("panic: %v\n%s", p, debug.Stack()))
		}
	}()

	defer x.turn.end()
	defer x.response.Resume() // a panic may have ended a wait

	if err := x.handler.config.Load.refuseClient(x.handler.config.TrustedProxies, x.request); err != nil {
		return err
	}
	if x.request.URL.Path != Path {
		return refuse("NOT_FOUND", http.StatusNotFound)
	}
	switch x.request.Method {
	case http.MethodGet, http.MethodHead, http.MethodPost:
	default:
		return refuse("METHOD_NOT_ALLOWED", http.StatusMethodNotAllowed)
	}

	formErr := x.readForm()
	formatErr := x.chooseFormat()
	if formErr != nil {
		return formErr
	}
	function, err := x.handler.functions.Find(&x.form)
	if err != nil {
		return err
	}
	x.function = function.Name()
	if formatErr != nil {
		return formatErr
	}
	if err := x.turn.begin(x.request.Context()); err != nil {
		return err
	}
	return x.carryOut(function)
}

// carryOut checks the method, the site, the signature and the session, in this order. Then it
// runs the operation.
func (x *exchange) carryOut(f *operation.Function) (err error) {
	if f.Effect() == operation.Writes {
		if x.request.Method != http.MethodPost {
			return failure.New("POST_REQUIRED")
		}
		if err := x.refuseOtherSites(); err != nil {
			return err
		}
	}
	if err := x.checkSignature(f.Effect()); err != nil {
		return err
	}
	if f.Login() == operation.LoginNeeded {
		x.op.In.User, err = x.handler.sessionUser(x.request.Context(), x.request.Header)
		if err != nil {
			return err
		}
		if err := x.handler.config.Load.refuseUser(x.op.In.User); err != nil {
			return err
		}
	}
	return f.Choose(&x.op.In).Run(x.request.Context(), &x.op)
}

// settle sends the unsent part of the reply, or the failure. It returns the stable reason of a
// failure and reports whether the client got the complete reply.
func (x *exchange) settle(err error) (reason string, complete bool) {
	if err == nil {
		err = x.response.finish(http.StatusOK)
	}
	switch {
	case err == nil, errors.Is(x.response.err, errHeadAnswered):
		return "", true
	case errors.Is(err, errClientGone) || x.leftDuring(err):
		return "CLIENT_GONE", false
	}

	failed := x.failureOf(err)
	x.log(failed)
	if x.response.started {
		return failed.Reason, false
	}
	return failed.Reason, x.sendFailure(failed, statusOf(err, failed)) == nil
}

// leftDuring reports whether err was caused by the client leaving during a call. A failure that
// the edge found itself does not count. A body that never arrives also ends the request's
// context, but its sender may still read the reply.
func (x *exchange) leftDuring(err error) bool {
	var found *failure.Failure
	return x.request.Context().Err() != nil && !errors.As(err, &found)
}

// log logs failures on the server side. A temporary failure that cut no reply short is logged at
// debug level only. The metrics count it, and an error line per request would flood the log.
func (x *exchange) log(f *failure.Failure) {
	if f.Cause == nil {
		return
	}
	level := slog.LevelError
	if f.RetryAfter > 0 && !x.response.started {
		level = slog.LevelDebug
	}
	x.handler.config.Log.Log(context.WithoutCancel(x.request.Context()), level, "request failed",
		"func", x.function, "reason", f.Reason, "cut_short", x.response.started, "error", f.Cause)
}

func (x *exchange) sendFailure(f *failure.Failure, status int) error {
	header := x.response.writer.Header()
	header.Set("X-Waybook-Reason", f.Reason)
	if f.RetryAfter > 0 {
		header.Set("Retry-After", strconv.FormatFloat(math.Ceil(f.RetryAfter.Seconds()), 'f', 0, 64))
	}
	if status == http.StatusMethodNotAllowed {
		header.Set("Allow", "GET, HEAD, POST")
	}
	x.response.abandon()
	reply.WriteFailure(x.op.Out.Writer, f.Info)
	return x.response.finish(status)
}

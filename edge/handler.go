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
)

// handler serves the interface.
type handler struct {
	config    Config
	functions functionTable
	sites     *http.CrossOriginProtection
	zippers   zippers
	exchanges sync.Pool
}

// ServeHTTP answers one request. Once part of a reply has been sent and the
// rest cannot be, it breaks the connection by panicking with
// http.ErrAbortHandler, so that nobody takes the part for the whole.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	began := time.Now()
	x := h.exchanges.Get().(*exchange)
	x.open(w, r)
	reason, complete := x.settle(x.answer())
	h.config.Observe(r, Answer{x.function, reason, x.response.status, x.response.sent, time.Since(began), x.signature})
	x.close()
	h.exchanges.Put(x)
	if !complete {
		panic(http.ErrAbortHandler)
	}
}

// answer carries the request out. A panic is a failure like others, so that
// the client gets a reply; the rest of the reply is settle's.
func (x *exchange) answer() (err error) {
	defer func() {
		switch p := recover(); p {
		case nil:
		case http.ErrAbortHandler:
			panic(p)
		default:
			err = internalError(fmt.Errorf("panic: %v\n%s", p, debug.Stack()))
		}
	}()

	defer x.turn.end()

	if err := x.handler.config.Load.refuseClient(x.handler.config.TrustedProxies, x.request); err != nil {
		return err
	}
	if x.request.URL.Path != Path {
		return refusal("NOT_FOUND", http.StatusNotFound)
	}
	switch x.request.Method {
	case http.MethodGet, http.MethodHead, http.MethodPost:
	default:
		return refusal("METHOD_NOT_ALLOWED", http.StatusMethodNotAllowed)
	}

	formErr := x.readForm()
	formatErr := x.chooseFormat()
	if formErr != nil {
		return formErr
	}
	variants, err := x.findFunction()
	if err != nil {
		return err
	}
	if formatErr != nil {
		return formatErr
	}
	if err := x.turn.begin(x.request.Context()); err != nil {
		return err
	}
	return x.carryOut(variants)
}

// findFunction returns the table's operations of the parameter func.
func (x *exchange) findFunction() (*variants, error) {
	name, present := x.form.get(paramFunc.name)
	if !present {
		return nil, missingParameter(&paramFunc)
	}
	found, known := x.handler.functions.byName[name]
	if !known {
		return nil, invalidParameter(&x.handler.functions.parameter)
	}
	x.function = name
	return found, nil
}

// carryOut checks what holds before any other parameter is looked at, and then
// hands over to the operation.
func (x *exchange) carryOut(v *variants) (err error) {
	if v[asWritten].effect == writes {
		if x.request.Method != http.MethodPost {
			return plainFailure("POST_REQUIRED")
		}
		if err := x.refuseOtherSites(); err != nil {
			return err
		}
	}
	if err := x.checkSignature(v[asWritten].effect); err != nil {
		return err
	}
	if v[asWritten].login == loginNeeded {
		x.in.user, err = x.handler.sessionUser(x.request.Context(), x.request.Header)
		if err != nil {
			return err
		}
		if err := x.handler.config.Load.refuseUser(x.in.user); err != nil {
			return err
		}
	}
	return x.variant(v).run(x)
}

// variant tells updating from deleting (contract 4.5, 4.12). When `delete` is
// neither true nor false, deleting is what checks the parameter that both have;
// the fault that was noted keeps it from being done.
func (x *exchange) variant(v *variants) *operation {
	if v[deleting] == nil {
		return v[asWritten]
	}
	deletes := optional(&x.in, &paramDelete, asFlag)
	if !x.in.faulty() && !valueOr(deletes, false) {
		return v[asWritten]
	}
	return v[deleting]
}

// settle sends what an operation left to be sent, a failure included. It
// returns the stable reason of a failure and whether the client got the whole.
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

	failure := failureOf(err, &x.in)
	x.log(failure)
	if x.response.started {
		return failure.reason, false
	}
	return failure.reason, x.sendFailure(failure) == nil
}

// leftDuring reports whether err comes of the client leaving during a call. A
// failure found here does not: a body that does not come ends the request's
// context too, and its sender may still be told so.
func (x *exchange) leftDuring(err error) bool {
	var found *failure
	return x.request.Context().Err() != nil && !errors.As(err, &found)
}

// log tells of what is this side's fault. That a service is away is told by
// whoever counts the reasons; here it would be told once per request.
func (x *exchange) log(f *failure) {
	if f.cause == nil {
		return
	}
	level := slog.LevelError
	if f.retryAfter > 0 && !x.response.started {
		level = slog.LevelDebug
	}
	x.handler.config.Log.Log(context.WithoutCancel(x.request.Context()), level, "request failed",
		"func", x.function, "reason", f.reason, "cut_short", x.response.started, "error", f.cause)
}

func (x *exchange) sendFailure(f *failure) error {
	header := x.response.writer.Header()
	header.Set("X-Waybook-Reason", f.reason)
	if f.retryAfter > 0 {
		header.Set("Retry-After", strconv.FormatFloat(math.Ceil(f.retryAfter.Seconds()), 'f', 0, 64))
	}
	if f.status == http.StatusMethodNotAllowed {
		header.Set("Allow", "GET, HEAD, POST")
	}
	x.response.abandon()
	writeFailure(x.out, f.info)
	status := f.status
	if status == 0 {
		status = http.StatusOK
	}
	return x.response.finish(status)
}

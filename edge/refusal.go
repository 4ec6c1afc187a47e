package edge

import (
	"errors"
	"net/http"

	"github.com/waybook/waybook/edge/failure"
	"github.com/waybook/waybook/edge/form"
	"github.com/waybook/waybook/edge/operation"
	"github.com/waybook/waybook/internal/platform/admission"
)

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

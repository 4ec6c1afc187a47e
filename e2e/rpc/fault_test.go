package rpc_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// engineWords are words that would reveal internals to a caller.
var engineWords = []string{"bolt", "mongo", "docstore", "waybook.db", "goroutine", ".go:", "rpc error", "bucket", "/tmp"}

// expectFault checks all parts of a failed call: code, reason, domain, and the exact set of fields
// in violations.
func expectFault(t testing.TB, err error, code codes.Code, reason string, fields ...string) {
	t.Helper()
	answer := status.Convert(err)
	if answer.Code() != code {
		t.Errorf("code %v, want %v: %v", answer.Code(), code, err)
		return
	}
	var info *errdetails.ErrorInfo
	var named []string
	for _, detail := range answer.Details() {
		switch detail := detail.(type) {
		case *errdetails.ErrorInfo:
			info = detail
		case *errdetails.BadRequest:
			for _, violation := range detail.GetFieldViolations() {
				named = append(named, violation.GetField())
				if violation.GetDescription() == "" {
					t.Errorf("the violation of %s has no description", violation.GetField())
				}
				if !strings.Contains(answer.Message(), violation.GetField()+": "+violation.GetDescription()) {
					t.Errorf("the message does not name the violation of %s: %q", violation.GetField(), answer.Message())
				}
			}
		}
	}
	if info.GetReason() != reason || info.GetDomain() != "waybook" {
		t.Errorf("reason %q of %q, want %q of waybook", info.GetReason(), info.GetDomain(), reason)
	}
	slices.Sort(named)
	slices.Sort(fields)
	if !slices.Equal(named, fields) {
		t.Errorf("violations of %v, want %v", named, fields)
	}
	if answer.Message() == "" {
		t.Error("the error has no message")
	}
	shown := fmt.Sprint(answer.Proto())
	for _, word := range engineWords {
		if strings.Contains(shown, word) {
			t.Errorf("the error reveals %q: %s", word, shown)
		}
	}
}

// failure is a call with its expected failure.
type failure struct {
	name   string
	call   func(context.Context) error
	code   codes.Code
	reason string
}

func expectFailures(t *testing.T, failures []failure) {
	t.Helper()
	for _, f := range failures {
		t.Run(f.name, func(t *testing.T) { expectFault(t, f.call(t.Context()), f.code, f.reason) })
	}
}

// calling returns a call of a method that has one reply.
func calling[Request, Reply any](
	method func(context.Context, Request, ...grpc.CallOption) (Reply, error), request Request,
) func(context.Context) error {
	return func(ctx context.Context) error { return failed(method(ctx, request)) }
}

// failed returns only the error of a call.
func failed[T any](_ T, err error) error { return err }

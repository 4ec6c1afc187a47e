package rpc_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// engineWords would tell a caller about the inside.
var engineWords = []string{"bolt", "mongo", "docstore", "waybook.db", "goroutine", ".go:", "rpc error", "bucket", "/tmp"}

// expectFault checks everything that a failed call tells: code, reason, domain, and
// the fields named in violations, all of them and no others.
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
					t.Errorf("it does not say what is wrong with %s", violation.GetField())
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
		t.Error("it has no message for people")
	}
	shown := fmt.Sprint(answer.Proto())
	for _, word := range engineWords {
		if strings.Contains(shown, word) {
			t.Errorf("%q leaves the process: %s", word, shown)
		}
	}
}

// failure is a call that fails, and how.
type failure struct {
	name   string
	call   func() error
	code   codes.Code
	reason string
}

func expectFailures(t *testing.T, failures []failure) {
	t.Helper()
	for _, f := range failures {
		t.Run(f.name, func(t *testing.T) { expectFault(t, f.call(), f.code, f.reason) })
	}
}

// failed drops the reply of a call.
func failed[T any](_ T, err error) error { return err }

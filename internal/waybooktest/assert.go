package waybooktest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"
)

// Must returns what returns a result, or ends the test if there is an error: Must(f())(t).
func Must[T any](result T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		OK(t, err)
		return result
	}
}

// OK ends the test if there is an error.
func OK(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Equal fails the test if two values differ, and shows where. Messages are compared by their fields.
func Equal(t testing.TB, what string, got, want any) {
	t.Helper()
	if difference := cmp.Diff(want, got, protocmp.Transform()); difference != "" {
		t.Errorf("%s (- want, + got):\n%s", what, difference)
	}
}

//go:build linux

package faults

import (
	"slices"
	"testing"
	"time"

	"github.com/waybook/waybook/e2e/faults/history"
	"github.com/waybook/waybook/internal/longform"
)

// Each test does what no missing protection of a program does; the suite must report a violation.

func TestTheSuiteNoticesRequestsDoneTwice(t *testing.T) {
	longform.Only(t)
	r := begin(t, fault{shape: standalone}, 1, 0, func(w *worker) { w.doesNotNameRequests = true })
	r.carry()
	r.breakHalfWay()
	r.carry()
	r.finish()
	expect(t, r, history.Twice)
}

func TestTheSuiteNoticesAProgramThatDoesNotRestart(t *testing.T) {
	longform.Only(t)
	r := begin(t, fault{shape: standalone}, 1, 0)
	r.carry()
	r.fleet.programs[0].kill()
	r.clients.recovery = time.Second
	r.carry()
	r.stop()
	expect(t, r, history.Idle)
}

func TestTheSuiteNoticesAnUnexpectedFailure(t *testing.T) {
	longform.Only(t)
	r := begin(t, fault{shape: standalone}, 1, 0)
	r.carry()
	r.fillDisk()
	r.stop()
	expect(t, r, history.Malformed)
}

func expect(t *testing.T, r *run, rule string) {
	t.Helper()
	found := r.history.Check()
	if !slices.ContainsFunc(found, func(v history.Violation) bool { return v.Rule == rule }) {
		t.Errorf("found %v, want one of %q", found, rule)
	}
}

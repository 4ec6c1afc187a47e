package rpc_test

import (
	"testing"
	"time"

	"github.com/waybook/waybook/internal/content"
	"github.com/waybook/waybook/internal/content/integrity"
	"github.com/waybook/waybook/internal/platform/service"
	"github.com/waybook/waybook/internal/waybooktest"
)

// parts are the four services on a store that can fail, with a clock that the test sets, served
// over TCP.
type parts struct {
	*waybook
	store *brittle
}

const (
	sessionTTL = time.Hour
	// settling and kept are short for the changes of a test.
	settling, kept = 10 * time.Millisecond, time.Nanosecond
)

func startParts(t *testing.T) *parts {
	t.Helper()
	return startPartsOn(t, newBrittle(t))
}

func startPartsOn(t *testing.T, store *brittle) *parts {
	t.Helper()
	w := waybooktest.StartOn(t, store, waybooktest.Flags("-session-ttl", sessionTTL.String(), "-registration=invite", "-registrations-per-address=10"), waybooktest.Deps(func(deps *service.Deps) {
		deps.Changes = service.Changes{Settling: settling, Kept: kept}
	}))
	return &parts{&waybook{w, t}, store}
}

// check looks for violated constraints in the store.
func (p *parts) check() {
	p.t.Helper()
	if findings := p.findings(integrity.Look); len(findings) > 0 {
		p.t.Errorf("a check found %+v", findings)
	}
}

func (p *parts) findings(mode integrity.Mode) (all []integrity.Finding) {
	p.t.Helper()
	for _, each := range p.Services {
		constrained, ok := each.(content.Service)
		if !ok {
			continue
		}
		for _, constraint := range constrained.Constraints() {
			findings, err := constraint.Check(p.t.Context(), mode, func(int) {})
			if err != nil {
				p.t.Errorf("a check of %s: %v", constraint.Children, err)
			}
			all = append(all, findings...)
		}
	}
	return all
}

//go:build linux

package faults

import (
	"bytes"
	"context"
	"encoding/json"
	"testing"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"
)

// hop is a way between two programs, through a proxy that can be told to fail.
type hop struct {
	name  string
	proxy *toxiproxy.Proxy
}

// newHop opens a way to an address until the test's end.
func newHop(t *testing.T, name, to string) *hop {
	t.Helper()
	server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
	h := &hop{name, toxiproxy.NewProxy(server, name, anyPort, to)}
	if err := h.proxy.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.proxy.Stop)
	return h
}

// address is where the way begins.
func (h *hop) address() string { return h.proxy.Listen }

// Directions of what a trouble is for.
const (
	requests = "upstream"
	replies  = "downstream"
)

// trouble makes the way do something to what passes in a direction. kind and
// attributes are a toxic's.
func (h *hop) trouble(t *testing.T, kind, direction string, attributes map[string]int) {
	t.Helper()
	toxic, err := json.Marshal(map[string]any{"type": kind, "stream": direction, "attributes": attributes})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.proxy.Toxics.AddToxicJson(bytes.NewReader(toxic)); err != nil {
		t.Fatal(err)
	}
}

// heal ends all troubles.
func (h *hop) heal(ctx context.Context) { h.proxy.Toxics.ResetToxics(ctx) }

// cut breaks all connections and takes no new ones.
func (h *hop) cut() { h.proxy.Stop() }

// mend ends a cut.
func (h *hop) mend(t *testing.T) {
	t.Helper()
	if err := h.proxy.Start(); err != nil {
		t.Fatal(err)
	}
}

//go:build linux

package faults

import (
	"bytes"
	"context"
	"encoding/json"
	"testing"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"

	"github.com/waybook/waybook/e2e/launch"
)

// hop is a connection between two programs through a proxy that can inject faults.
type hop struct {
	name  string
	proxy *toxiproxy.Proxy
}

// newHop opens a hop to an address until the test ends.
func newHop(t *testing.T, name, to string) *hop {
	t.Helper()
	server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
	h := &hop{name, toxiproxy.NewProxy(server, name, launch.Address(t), to)}
	if err := h.proxy.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.proxy.Stop)
	return h
}

// address returns the address of the proxy.
func (h *hop) address() string { return h.proxy.Listen }

// The directions that a trouble affects.
const (
	requests = "upstream"
	replies  = "downstream"
)

// trouble adds a toxic to a direction of the hop. kind and attributes are those of toxiproxy.
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

// heal removes all toxics.
func (h *hop) heal(ctx context.Context) { h.proxy.Toxics.ResetToxics(ctx) }

// cut closes all connections and refuses new ones.
func (h *hop) cut() { h.proxy.Stop() }

// mend ends a cut.
func (h *hop) mend(t *testing.T) {
	t.Helper()
	if err := h.proxy.Start(); err != nil {
		t.Fatal(err)
	}
}

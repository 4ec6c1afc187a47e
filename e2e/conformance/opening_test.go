package conformance

import (
	"sync/atomic"
	"testing"

	"github.com/waybook/waybook/e2e/mongotest"
	"github.com/waybook/waybook/e2e/mongowire"
	enginemongo "github.com/waybook/waybook/internal/docstore/mongo"
)

func TestAnOpenWaitsForAServerThatEndsTheFirstConnections(t *testing.T) {
	t.Parallel()
	server := mongotest.StartServer(t, mongowire.Config{})
	var pings atomic.Int64
	server.SetFaults(func(command mongowire.Command) mongowire.Fault {
		if command.Name == "ping" && pings.Add(1) <= 2 {
			return mongowire.Fault{Kind: mongowire.CutBefore}
		}
		return mongowire.Fault{}
	})
	engine, err := enginemongo.Open(t.Context(), server.URI(mongotest.Database()), "")
	if err != nil {
		t.Fatal(err)
	}
	if err := engine.Close(); err != nil {
		t.Error(err)
	}
	if pings.Load() != 3 {
		t.Errorf("%d pings", pings.Load())
	}
}

package conformance

import (
	"errors"
	"sync/atomic"
	"testing"

	"github.com/waybook/waybook/e2e/mongotest"
	"github.com/waybook/waybook/e2e/mongowire"
	enginemongo "github.com/waybook/waybook/internal/docstore/mongo"
)

// A user may be created after the first election.
func TestAnOpenWaitsForAServerThatEndsTheFirstConnectionsOrRefusesTheUser(t *testing.T) {
	t.Parallel()
	refuse := func(code int32, name string) mongowire.Fault {
		return mongowire.Fault{Kind: mongowire.Refuse, Code: code, Name: name}
	}
	for name, c := range map[string]struct {
		failing string
		fault   mongowire.Fault
		ofUser  bool
	}{
		"cut":                       {"ping", mongowire.Fault{Kind: mongowire.CutBefore}, false},
		"shut down":                 {"ping", refuse(11600, "InterruptedAtShutdown"), false},
		"cut while it is asked":     {"saslStart", mongowire.Fault{Kind: mongowire.CutBefore}, false},
		"shut down while asked":     {"saslStart", refuse(11600, "InterruptedAtShutdown"), true},
		"no such user":              {"saslStart", refuse(18, "AuthenticationFailed"), true},
		"not allowed before a user": {"saslStart", refuse(13, "Unauthorized"), true},
	} {
		server := mongotest.StartServer(t, mongowire.Config{})
		var tries, waits atomic.Int64
		server.SetFaults(func(command mongowire.Command) mongowire.Fault {
			if command.Name == c.failing && tries.Add(1) <= 2 {
				return c.fault
			}
			return mongowire.Fault{}
		})
		uri := mongotest.AsUser(server.URI(mongotest.Database()))
		engine, err := enginemongo.OpenAndReport(t.Context(), uri, "", func(_ string, err error) {
			if err == nil {
				return
			}
			waits.Add(1)
			if errors.Is(err, enginemongo.ErrUserRefused) != c.ofUser {
				t.Errorf("%s: it waits for %v", name, err)
			}
		})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
		if waits.Load() == 0 || tries.Load() < 3 {
			t.Errorf("%s: %d waits, %d tries", name, waits.Load(), tries.Load())
		}
	}
}

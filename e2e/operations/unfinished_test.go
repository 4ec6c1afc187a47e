package operations_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/waybook/waybook/internal/content/integrity"
	"github.com/waybook/waybook/internal/docstore/restoring"
	"github.com/waybook/waybook/internal/platform/process"
	"github.com/waybook/waybook/internal/platform/service"
	"github.com/waybook/waybook/waybookctl/storekeeping"
)

// expectIncomplete checks that an interrupted load is seen by everybody, and that nobody uses the
// store.
func (s store) expectIncomplete() {
	s.t.Helper()
	ctx := s.t.Context()
	var incomplete *restoring.IncompleteError
	stack := &process.Stack{}
	_, err := service.OpenStore(ctx, process.Env{Stack: stack, Out: io.Discard, Log: slog.New(slog.DiscardHandler)}, s.flags, process.NewMetrics(), process.NewReadiness())
	if !errors.As(err, &incomplete) || !strings.Contains(err.Error(), "store load with the same file again") {
		s.t.Errorf("a service starts: %v", err)
	}
	s.must(stack.Stop(context.WithoutCancel(ctx)))
	if _, err := storekeeping.Dump(ctx, s.options(), filepath.Join(s.t.TempDir(), "dump")); !errors.As(err, &incomplete) {
		s.t.Errorf("the store is dumped: %v", err)
	}
	for _, mode := range []integrity.Mode{integrity.Look, integrity.Repair} {
		if _, err := storekeeping.Check(ctx, s.options(), mode); !errors.As(err, &incomplete) || !slices.Contains(incomplete.Collections, "albums") {
			s.t.Errorf("%v: the check: %v", mode, err)
		}
	}
}

// Another load ends its own part only.
func TestAnInterruptedLoadIsSeenAndResumesOnEachStore(t *testing.T) {
	t.Parallel()
	s := store{t, service.StoreFlags{Data: t.TempDir()}}
	s.fill()
	path := s.dump()
	onEachStore(t, func(t *testing.T, to store) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		options := to.options()
		dump, err := storekeeping.OpenDump(ctx, options, path)
		s.must(err)
		interrupted := options
		collections := 0
		interrupted.Progress = func(int) {
			if collections++; collections == 3 {
				cancel()
			}
		}
		if _, err := dump.Load(ctx, interrupted); !errors.Is(err, context.Canceled) {
			t.Errorf("got error %v", err)
		}
		s.must(dump.Close())
		to.expectIncomplete()
		part := options
		part.Services = []string{"poi"}
		s.must(load(t.Context(), part, path))
		engine, err := to.flags.Open(t.Context())
		s.must(err)
		var incomplete *restoring.IncompleteError
		if err := restoring.Refuse(t.Context(), engine); !errors.As(err, &incomplete) {
			t.Fatalf("got error %v", err)
		}
		if left := incomplete.Collections; slices.Contains(left, "pois") || !slices.Contains(left, "blogs") || !slices.IsSorted(left) {
			t.Errorf("still marked: %v", left)
		}
		s.must(engine.Close())
		s.must(load(t.Context(), options, path))
		if !bytes.Equal(to.read(to.dump()), s.read(path)) {
			t.Error("the stores differ")
		}
	})
}

package conformance

import (
	"context"
	"path/filepath"
	"slices"
	"testing"

	"go.uber.org/goleak"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/docstore/embedded"
	"github.com/waybook/waybook/internal/docstore/observed"
	"github.com/waybook/waybook/internal/longform"
	"github.com/waybook/waybook/internal/storetest"
)

func onFile(t *testing.T) docstore.Engine { return openAt(t, filepath.Join(t.TempDir(), "store.db")) }

func TestConformance(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	runSuite(t, suiteSettings{}, onFile)
}

func TestConformanceAfterReopening(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	runReopening(t, slices.Concat(reopeningCases(), rebuildingCases()), func(t *testing.T) func(t *testing.T) docstore.Engine {
		path := filepath.Join(t.TempDir(), "store.db")
		return func(t *testing.T) docstore.Engine { return openAt(t, path) }
	})
}

func TestConformanceOfAReplica(t *testing.T) {
	t.Parallel()
	for name, shards := range map[string]int{"one shard": 1, "two shards": 2} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runSuite(t, suiteSettings{programs: 30, many: 300, isShort: !longform.Selected()}, func(t *testing.T) docstore.Engine {
				return storetest.NewReplica(t, storetest.ReplicaSettings{Shards: shards})
			})
		})
	}
}

func TestNoCollectionKeepsWhatItWasLent(t *testing.T) {
	t.Parallel()
	runSuite(t, suiteSettings{programs: 10, many: 300, isShort: true}, func(t *testing.T) docstore.Engine {
		return storetest.Lender{Engine: storetest.NewReplica(t, storetest.ReplicaSettings{})}
	})
}

func TestAnObservedStoreKeepsEveryPromiseOfAStore(t *testing.T) {
	t.Parallel()
	settings := suiteSettings{isShort: !longform.Selected()}
	if settings.isShort {
		settings.leftOut = ofChanges() // which wait for a change to settle
	}
	runSuite(t, settings, func(t *testing.T) docstore.Engine {
		return observed.Wrap(onFile(t), nil, func(observed.Call) {})
	})
}

// openAt opens a store. At the end of every test the store is closed and its file is
// checked.
func openAt(t *testing.T, path string) docstore.Engine {
	t.Helper()
	open := func() *embedded.Engine {
		engine, err := embedded.Open(context.WithoutCancel(t.Context()), path)
		if err != nil {
			t.Fatal(err)
		}
		return engine
	}
	shut := func(engine *embedded.Engine) {
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
	}
	engine := open()
	t.Cleanup(func() {
		shut(engine)
		engine := open()
		if err := engine.Check(context.Background()); err != nil {
			t.Error(err)
		}
		shut(engine)
	})
	return engine
}

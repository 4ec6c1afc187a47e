package storetest_test

import (
	"context"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/docstore/embedded"
	"github.com/waybook/waybook/internal/storetest"
)

func TestConformance(t *testing.T) {
	defer goleak.VerifyNone(t)
	storetest.Run(t, func(t *testing.T) docstore.Engine {
		return openAt(t, filepath.Join(t.TempDir(), "store.db"))
	})
}

func TestConformanceAfterReopening(t *testing.T) {
	defer goleak.VerifyNone(t)
	create := func(t *testing.T) func(t *testing.T) docstore.Engine {
		path := filepath.Join(t.TempDir(), "store.db")
		return func(t *testing.T) docstore.Engine { return openAt(t, path) }
	}
	storetest.RunReopening(t, create)
	storetest.RunRebuilding(t, create)
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

package embedded_test

import (
	"context"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/docstore/docstoretest"
	"github.com/waybook/waybook/internal/docstore/embedded"
)

func TestConformance(t *testing.T) {
	defer goleak.VerifyNone(t)
	docstoretest.Run(t, func(t *testing.T) docstore.Engine {
		return openAt(t, filepath.Join(t.TempDir(), "store.db"))
	})
}

func TestConformanceAfterReopening(t *testing.T) {
	defer goleak.VerifyNone(t)
	docstoretest.RunReopening(t, func(t *testing.T) func(t *testing.T) docstore.Engine {
		path := filepath.Join(t.TempDir(), "store.db")
		return func(t *testing.T) docstore.Engine { return openAt(t, path) }
	}, nil)
}

func TestConformanceOfDefaults(t *testing.T) {
	defer goleak.VerifyNone(t)
	docstoretest.RunDefaults(t, func(t *testing.T) func(t *testing.T) docstore.Engine {
		path := filepath.Join(t.TempDir(), "store.db")
		return func(t *testing.T) docstore.Engine { return openAt(t, path) }
	})
}

// openAt opens a store. At the end of every test the store is closed and its file is
// checked.
func openAt(t *testing.T, path string) *embedded.Engine {
	t.Helper()
	engine := open(t, path)
	t.Cleanup(func() {
		shut(t, engine)
		engine := open(t, path)
		if err := engine.Check(context.Background()); err != nil {
			t.Error(err)
		}
		shut(t, engine)
	})
	return engine
}

func open(t *testing.T, path string) *embedded.Engine {
	t.Helper()
	engine, err := embedded.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return engine
}

func shut(t *testing.T, engine *embedded.Engine) {
	t.Helper()
	if err := engine.Close(); err != nil {
		t.Error(err)
	}
}

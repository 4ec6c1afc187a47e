// Package conformance runs the suite of the storage port on the mongo engine over the real wire
// protocol. It runs every case on FerretDB.
package conformance

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/waybook/waybook/e2e/mongotest"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/docstore/docstoretest"
	"github.com/waybook/waybook/internal/docstore/embedded"
	enginemongo "github.com/waybook/waybook/internal/docstore/mongo"
)

// serverURI names a real server on which the suite also runs. The tests create and drop its
// databases with the prefix test_.
const serverURI = "WAYBOOK_TEST_MONGODB_URI"

// ferretSettings reduce the amount of data, because FerretDB answers every query with a scan.
func ferretSettings() docstoretest.Settings {
	return docstoretest.Settings{Programs: 30, Many: 300, Deleted: 11_000}
}

func TestMongoEngineOnFerretDB(t *testing.T) {
	runAll(t, mongotest.Start(t), ferretSettings())
}

func TestMongoEngineOnARealServer(t *testing.T) {
	uri := os.Getenv(serverURI)
	if uri == "" {
		t.Skipf("%s is not set", serverURI)
	}
	runAll(t, uri, docstoretest.Settings{Deleted: 11_000})
}

// This runs few programs; set -rapid.checks to run more.
func TestTheMongoEngineDoesWhatTheEmbeddedOneDoes(t *testing.T) {
	uris := map[string]string{"FerretDB": mongotest.Start(t)}
	if uri := os.Getenv(serverURI); uri != "" {
		uris["a real server"] = uri
	}
	for name, uri := range uris {
		t.Run(name, func(t *testing.T) {
			inFile, err := embedded.Open(filepath.Join(t.TempDir(), "store.db"))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := inFile.Close(); err != nil {
					t.Error(err)
				}
			})
			docstoretest.SideBySide(t, 30, inFile, open(t, uri, freshDatabase(t, uri)))
		})
	}
}

func runAll(t *testing.T, uri string, settings docstoretest.Settings) {
	t.Run("store", func(t *testing.T) {
		docstoretest.RunWith(t, settings, func(t *testing.T) docstore.Engine {
			return open(t, uri, freshDatabase(t, uri))
		})
	})
	t.Run("store that is reopened", func(t *testing.T) {
		docstoretest.RunReopening(t, func(t *testing.T) func(*testing.T) docstore.Engine {
			database := freshDatabase(t, uri)
			return func(t *testing.T) docstore.Engine { return open(t, uri, database) }
		}, func(ctx context.Context, engine docstore.Engine, spec docstore.Spec) error {
			_, err := engine.(*enginemongo.Engine).Prepare(ctx, spec, enginemongo.Preparation{DropReplaced: true})
			return err
		})
	})
}

// freshDatabase returns the name of a database that is dropped at the end of the test.
func freshDatabase(t *testing.T, uri string) string {
	t.Helper()
	name := mongotest.Database()
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		client, err := mongo.Connect(options.Client().ApplyURI(uri))
		if err != nil {
			t.Fatal(err)
		}
		if err := client.Database(name).Drop(ctx); err != nil {
			t.Error(err)
		}
		if err := client.Disconnect(ctx); err != nil {
			t.Error(err)
		}
	})
	return name
}

func open(t *testing.T, uri, database string) docstore.Engine {
	t.Helper()
	engine, err := enginemongo.Open(t.Context(), uri, database)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
	})
	return engine
}

// Package conformance has the suite of the storage port. It runs it on the embedded engine, on the mongo engine over the real wire protocol,
// and on what tests put in their place. The long form runs every case on FerretDB, the short form those in which engines differ most.
package conformance

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/waybook/waybook/e2e/mongotest"
	"github.com/waybook/waybook/e2e/mongowire"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/docstore/embedded"
	enginemongo "github.com/waybook/waybook/internal/docstore/mongo"
	"github.com/waybook/waybook/internal/longform"
)

// ferretSettings reduce the amount of data, because FerretDB answers every query with a scan.
// With the race detector, which makes it much slower, no deletion takes several chunks.
func ferretSettings() suiteSettings {
	if hasRaceDetector {
		return suiteSettings{programs: 10, many: 300}
	}
	return suiteSettings{programs: longform.Number(5, 30), many: 300, deleted: 11_000, isShort: !longform.Selected()}
}

func TestMongoEngineOnAReplicaSet(t *testing.T) {
	t.Parallel()
	server := mongotest.StartServer(t, mongowire.Config{})
	runAll(t, server.URI(mongotest.Database()), ferretSettings())
	checkShapes(t, server)
}

// A mongos of 4.4 says less of a duplicate than any other server.
func TestMongoEngineOnMongoDB44(t *testing.T) {
	t.Parallel()
	settings := ferretSettings()
	settings.isShort, settings.programs, settings.leftOut = true, 2, ofChanges()
	for name, config := range map[string]mongowire.Config{
		"replica set": {Plays: mongowire.Version44}, "mongos": {Plays: mongowire.Version44, Role: mongowire.Router},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runAll(t, mongotest.StartServer(t, config).URI(mongotest.Database()), settings)
		})
	}
}

// checkShapes checks that the table of e2e/sharding has the commands of the suite, on some collection and with
// or without a time limit. It sees those that the server has not forgotten.
func checkShapes(t *testing.T, server *mongowire.Server) {
	t.Helper()
	table, err := os.ReadFile("../sharding/testdata/commands.txt")
	if err != nil {
		t.Fatal(err)
	}
	shape := func(command string, options []string) string {
		return command + " " + strings.Join(slices.DeleteFunc(options, func(option string) bool { return option == "maxTimeMS" }), " ")
	}
	listed := map[string]bool{"dropDatabase ": true} // of the tests
	for line := range strings.Lines(string(table)) {
		cells := strings.Split(line, " | ")
		listed[shape(cells[0], strings.Fields(cells[2]))] = true
	}
	commands, _ := server.Since(0)
	for _, command := range commands {
		if sent := shape(command.Name, command.Options()); !listed[sent] {
			listed[sent] = true
			t.Errorf("TestTheTableOfCommandsIsCurrent of e2e/sharding sends no %s", sent)
		}
	}
}

func TestMongoEngineOnARealServer(t *testing.T) {
	t.Parallel()
	runAll(t, mongotest.OnRealServer(t), suiteSettings{deleted: 11_000})
}

// This runs few programs; set -rapid.checks to run more.
func TestTheMongoEngineDoesWhatTheEmbeddedOneDoesOnEachStore(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]func(testing.TB) string{
		"FerretDB": mongotest.StartReplicaSet, "real server": mongotest.OnRealServer,
	} {
		t.Run(name, func(t *testing.T) {
			uri := start(t)
			inFile, err := embedded.Open(t.Context(), filepath.Join(t.TempDir(), "store.db"))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := inFile.Close(); err != nil {
					t.Error(err)
				}
			})
			sideBySide(t, 30, inFile, open(t, uri, mongotest.NewDatabase(t, uri)))
		})
	}
}

func runAll(t *testing.T, uri string, settings suiteSettings) {
	t.Run("store", func(t *testing.T) {
		runSuite(t, settings, func(t *testing.T) docstore.Engine {
			return open(t, uri, mongotest.NewDatabase(t, uri))
		})
	})
	t.Run("store that is reopened", func(t *testing.T) {
		runReopening(t, reopeningCases(), func(t *testing.T) func(*testing.T) docstore.Engine {
			database := mongotest.NewDatabase(t, uri)
			return func(t *testing.T) docstore.Engine { return open(t, uri, database) }
		})
	})
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

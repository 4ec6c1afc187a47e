package conformance

import (
	"slices"
	"testing"

	"github.com/waybook/waybook/e2e/mongotest"
	"github.com/waybook/waybook/e2e/mongowire"
	"github.com/waybook/waybook/internal/longform"
)

// FerretDB stores a document in PostgreSQL as JSONB, whose strings have no zero bytes.
var withZeroBytes = []string{"strings with zero bytes sort by their bytes"}

// An update of FerretDB is a read and a write, so one that runs beside another may be lost.
var ofOneDocument = []string{
	"a follower that is killed at random has a copy of the store in the end",
	"a request repeated while its document is being deleted succeeds",
	"of concurrent updates, raises and additions all take effect",
}

func TestMongoEngineOnPostgreSQL(t *testing.T) {
	t.Parallel()
	longform.Only(t)
	for name, concurrent := range map[string]bool{"one write at a time": false, "writes at the same time": true} {
		t.Run(name, func(t *testing.T) {
			server := mongotest.StartOnPostgreSQL(t, mongowire.Config{IsConcurrent: concurrent})
			settings := ferretSettings()
			settings.leftOut = withZeroBytes
			if concurrent {
				settings.leftOut = slices.Concat(withZeroBytes, ofOneDocument)
			}
			runAll(t, server.URI(mongotest.Database()), settings)
		})
	}
}

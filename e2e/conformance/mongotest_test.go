package conformance

import (
	"testing"

	"github.com/waybook/waybook/e2e/mongotest"
	"github.com/waybook/waybook/internal/docstore/mongo"
)

func TestStartRunsAServerWithADatabaseOfItsOwn(t *testing.T) {
	t.Parallel()
	first, second := mongotest.StartReplicaSet(t), mongotest.StartReplicaSet(t)
	if first == second {
		t.Errorf("both are %s", first)
	}
	for _, uri := range []string{first, second} {
		// The URI names the database.
		engine, err := mongo.Open(t.Context(), uri, "")
		if err != nil {
			t.Fatal(err)
		}
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestInDatabaseChangesTheDatabaseAndKeepsTheUser(t *testing.T) {
	t.Parallel()
	for uri, want := range map[string]string{
		"mongodb://h":                          "mongodb://h/new",
		"mongodb://h:1,i:2/?replicaSet=r":      "mongodb://h:1,i:2/new?replicaSet=r",
		"mongodb://h/old?replicaSet=r":         "mongodb://h/new?replicaSet=r",
		"mongodb://u:p@h/?tls=true":            "mongodb://u:p@h/new?tls=true&authSource=admin",
		"mongodb+srv://u:p@h/old":              "mongodb+srv://u:p@h/new?authSource=old",
		"mongodb://u:p@h/old?authSource=known": "mongodb://u:p@h/new?authSource=known",
	} {
		if got := mongotest.InDatabase(uri, "new"); got != want {
			t.Errorf("%s became %s, want %s", uri, got, want)
		}
	}
}

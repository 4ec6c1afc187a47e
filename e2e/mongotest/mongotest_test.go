package mongotest_test

import (
	"testing"

	"github.com/waybook/waybook/e2e/mongotest"
	"github.com/waybook/waybook/internal/docstore/mongo"
)

func TestStartGivesAServerThatAnswersInADatabaseOfItsOwn(t *testing.T) {
	first, second := mongotest.Start(t), mongotest.Start(t)
	if first == second {
		t.Errorf("both are %s", first)
	}
	for _, uri := range []string{first, second} {
		// The database is the one that the URI names.
		engine, err := mongo.Open(t.Context(), uri, "")
		if err != nil {
			t.Fatal(err)
		}
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
	}
}

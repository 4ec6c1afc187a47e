package golden

import (
	"context"
	"os"
	"testing"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/waybook/waybook/e2e/mongotest"
)

// serverVariable names a MongoDB server on which to replay the cases as well.
const serverVariable = "WAYBOOK_TEST_MONGODB_URI"

// startOnMongoDB starts Waybook on a real server, in a database that is dropped at the end.
func startOnMongoDB(t *testing.T, _ string) *deployment {
	server := os.Getenv(serverVariable)
	if server == "" {
		t.Skipf("%s names no server", serverVariable)
	}
	name := mongotest.Database()
	client, err := mongo.Connect(options.Client().ApplyURI(server))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), stopTimeout)
		defer cancel()
		if err := client.Database(name).Drop(ctx); err != nil {
			t.Error(err)
		}
		if err := client.Disconnect(ctx); err != nil {
			t.Error(err)
		}
	})
	return startAssembly(t, "-mongodb-uri", mongotest.InDatabase(server, name))
}

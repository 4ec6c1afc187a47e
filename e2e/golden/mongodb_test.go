package golden

import (
	"context"
	"os"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/waybook/waybook/e2e/mongotest"
)

// serverVariable names a MongoDB server to replay the cases on, too.
const serverVariable = "WAYBOOK_TEST_MONGODB_URI"

// startOnFerretDB starts Waybook on MongoDB's wire protocol without a server.
func startOnFerretDB(t *testing.T) *deployment {
	return startAssembly(t, "-mongodb-uri", mongotest.Start(t))
}

// startOnMongoDB starts Waybook on a real server, in a database that is dropped.
func startOnMongoDB(t *testing.T) *deployment {
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
	return startAssembly(t, "-mongodb-uri", inDatabase(server, name))
}

// inDatabase makes a URI name another database, and keeps where its user is known.
func inDatabase(uri, name string) string {
	scheme, rest, _ := strings.Cut(uri, "://")
	rest, options, _ := strings.Cut(rest, "?")
	hosts, database, _ := strings.Cut(rest, "/")
	if strings.Contains(hosts, "@") && !strings.Contains(strings.ToLower(options), "authsource=") {
		if database == "" {
			database = "admin"
		}
		options = strings.TrimPrefix(options+"&authSource="+database, "&")
	}
	if options != "" {
		options = "?" + options
	}
	return scheme + "://" + hosts + "/" + name + options
}

func TestAURINamesAnotherDatabaseAndKeepsItsUser(t *testing.T) {
	for uri, want := range map[string]string{
		"mongodb://h":                          "mongodb://h/new",
		"mongodb://h:1,i:2/?replicaSet=r":      "mongodb://h:1,i:2/new?replicaSet=r",
		"mongodb://h/old?replicaSet=r":         "mongodb://h/new?replicaSet=r",
		"mongodb://u:p@h/?tls=true":            "mongodb://u:p@h/new?tls=true&authSource=admin",
		"mongodb+srv://u:p@h/old":              "mongodb+srv://u:p@h/new?authSource=old",
		"mongodb://u:p@h/old?authSource=known": "mongodb://u:p@h/new?authSource=known",
	} {
		if got := inDatabase(uri, "new"); got != want {
			t.Errorf("%s became %s, want %s", uri, got, want)
		}
	}
}

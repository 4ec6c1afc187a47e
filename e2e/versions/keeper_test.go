package versions

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/connstring"

	"github.com/waybook/waybook/internal/content"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/platform/service"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	"github.com/waybook/waybook/services/album"
	"github.com/waybook/waybook/services/blog"
	"github.com/waybook/waybook/services/poi"
)

// keeper is the present version's services in the test's process. They serve no calls, and they sweep when
// the test wants it. So a test does not wait for the minute between two sweeps.
type keeper struct {
	store    docstore.Engine
	services []service.Sweeper
}

// newKeeper opens the services' collections, and makes their indexes.
func newKeeper(t *testing.T, store docstore.Engine, accounts accountv1.AccountServiceClient) *keeper {
	t.Helper()
	deps := content.Deps{Deps: service.NewDeps(store, slog.New(slog.DiscardHandler)), Account: accounts}
	albums, err := album.New(t.Context(), deps)
	if err != nil {
		t.Fatal(err)
	}
	blogs, err := blog.New(t.Context(), deps, blog.Config{})
	if err != nil {
		t.Fatal(err)
	}
	pois, err := poi.New(t.Context(), deps)
	if err != nil {
		t.Fatal(err)
	}
	return &keeper{store, []service.Sweeper{albums, blogs, pois}}
}

// openStore opens a store as a program of the present version does.
func openStore(t *testing.T, uri string) docstore.Engine {
	t.Helper()
	flags := service.StoreFlags{MongoDBURI: uri}
	store, err := flags.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return store
}

// sweep completes the documents of older versions, and then sweeps.
func (k *keeper) sweep(ctx context.Context) error {
	_, err := k.store.Backfill(ctx)
	failed := []error{err}
	for _, each := range k.services {
		failed = append(failed, each.Sweep(ctx))
	}
	return errors.Join(failed...)
}

// database returns the database, over a connection of the test's own.
func database(t *testing.T, uri string) *mongo.Database {
	t.Helper()
	parsed, err := connstring.Parse(uri)
	if err != nil {
		t.Fatal(err)
	}
	client, err := mongo.Connect(options.Client().ApplyURI(uri))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.Disconnect(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return client.Database(parsed.Database)
}

// find returns the documents of a collection that match a filter.
func find(t *testing.T, collection *mongo.Collection, filter bson.D) []bson.Raw {
	t.Helper()
	cursor, err := collection.Find(t.Context(), filter, options.Find().SetComment(everywhere))
	if err != nil {
		t.Fatal(err)
	}
	var found []bson.Raw
	if err := cursor.All(t.Context(), &found); err != nil {
		t.Fatal(err)
	}
	return found
}

// isPlanted reports whether a document still has the field that plant stored at a path.
func isPlanted(document bson.Raw, path string) bool {
	value, err := document.LookupErr(strings.Split(path, ".")...)
	number, isNumber := value.Int64OK()
	return err == nil && isNumber && number == 7
}

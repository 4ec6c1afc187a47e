package operations_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/connstring"

	"github.com/waybook/waybook/e2e/mongotest"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/longform"
	"github.com/waybook/waybook/internal/platform/service"
	"github.com/waybook/waybook/internal/waybooktest"
	"github.com/waybook/waybook/standalone/app"
	"github.com/waybook/waybook/waybookctl/storekeeping"
)

// store is the store of a test. No service has it open.
type store struct {
	t     *testing.T
	flags service.StoreFlags
}

// onEachStore runs a test on an empty store of each kind, in the short form on the embedded one alone.
func onEachStore(t *testing.T, test func(t *testing.T, s store)) {
	t.Run("embedded", func(t *testing.T) {
		test(t, store{t, service.StoreFlags{Data: t.TempDir()}})
	})
	onMongoDB(t, test)
}

// onMongoDB runs a test, in the long form, on FerretDB, and on a real server if there is one.
func onMongoDB(t *testing.T, test func(t *testing.T, s store)) {
	t.Run("FerretDB", func(t *testing.T) {
		longform.Only(t)
		test(t, store{t, service.StoreFlags{MongoDBURI: mongotest.StartReplicaSet(t)}})
	})
	t.Run("real server", func(t *testing.T) {
		test(t, store{t, service.StoreFlags{MongoDBURI: mongotest.OnRealServer(t)}})
	})
}

func (s store) isEmbedded() bool { return s.flags.MongoDBURI == "" }

func (s store) file() string { return filepath.Join(s.flags.Data, "waybook.db") }

func (s store) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// client runs a function on the database, as an operator does with a shell.
func (s store) client(do func(context.Context, *mongo.Database) error) {
	s.t.Helper()
	ctx := context.WithoutCancel(s.t.Context())
	client, err := mongo.Connect(options.Client().ApplyURI(s.flags.MongoDBURI))
	s.must(err)
	s.must(do(ctx, client.Database(s.database())))
	s.must(client.Disconnect(ctx))
}

// serve runs Waybook on the store during a call of use.
func (s store) serve(use func(*waybooktest.Waybook)) {
	s.t.Helper()
	w := waybooktest.Start(s.t, waybooktest.Config(func(c *app.Config) { c.Store = s.flags }))
	use(w)
	w.Stop()
}

// recorder is a store that records the collections that are opened.
type recorder struct {
	docstore.Engine
	specs  []docstore.Spec
	tables map[string]docstore.Table
}

func (r *recorder) Open(ctx context.Context, spec docstore.Spec) (docstore.Table, error) {
	table, err := r.Engine.Open(ctx, spec)
	r.specs = append(r.specs, spec)
	r.tables[spec.Name] = table
	return table, err
}

// tamper runs a function on the collections of the services while no service runs.
func (s store) tamper(do func(ctx context.Context, r *recorder)) {
	s.t.Helper()
	ctx := s.t.Context()
	engine, err := s.flags.Open(ctx)
	s.must(err)
	r := &recorder{Engine: engine, tables: map[string]docstore.Table{}}
	w := waybooktest.StartOn(s.t, r)
	w.Stop()
	do(ctx, r)
	s.must(engine.Close())
}

// specs returns the declarations of all collections of the services.
func (s store) specs() (specs []docstore.Spec) {
	s.tamper(func(_ context.Context, r *recorder) { specs = r.specs })
	return specs
}

// dropIndex drops an index directly in the store.
func (s store) dropIndex(spec docstore.Spec, index string) {
	s.t.Helper()
	ctx := s.t.Context()
	if !s.isEmbedded() {
		s.client(func(ctx context.Context, db *mongo.Database) error {
			return db.Collection(spec.Name).Indexes().DropOne(ctx, index)
		})
		return
	}
	// The embedded engine drops an index that the opening program does not declare.
	spec.Indexes = slices.DeleteFunc(slices.Clone(spec.Indexes), func(ix docstore.Index) bool { return ix.Name == index })
	engine, err := s.flags.Open(ctx)
	s.must(err)
	_, err = engine.Open(ctx, spec)
	s.must(err)
	s.must(engine.Close())
}

func (s store) database() string {
	parsed, err := connstring.Parse(s.flags.MongoDBURI)
	s.must(err)
	return parsed.Database
}

// contents returns all documents and tombstones. It opens the store read-only.
func (s store) contents(specs []docstore.Spec) map[string]string {
	s.t.Helper()
	ctx := s.t.Context()
	engine, err := s.flags.OpenReadOnly(ctx)
	s.must(err)
	all := map[string]string{}
	for _, spec := range specs {
		inspection, err := engine.Inspect(ctx, spec)
		s.must(err)
		documents, _, err := inspection.Table.Scan(ctx, docstore.Scan{
			Where: docstore.All(docstore.IDIndex).Everywhere(), Limit: 10_000, WithTombstones: true,
		})
		s.must(err)
		for _, document := range documents {
			all[fmt.Sprintf("%s %s", spec.Name, document.Lookup("_id"))] = inAnyOrder(s.t, document)
		}
	}
	s.must(engine.Close())
	return all
}

// inAnyOrder returns a text of a document that does not depend on the order of its fields.
func inAnyOrder(t *testing.T, document bson.Raw) string {
	t.Helper()
	var fields bson.D
	if err := bson.Unmarshal(document, &fields); err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(fields, func(a, b bson.E) int { return strings.Compare(a.Key, b.Key) })
	sorted, err := bson.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	return bson.Raw(sorted).String()
}

func (s store) options() storekeeping.Options { return storekeeping.Options{Store: s.flags} }

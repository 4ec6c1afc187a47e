package conformance

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/waybook/waybook/e2e/mongotest"
	"github.com/waybook/waybook/internal/docstore"
	enginemongo "github.com/waybook/waybook/internal/docstore/mongo"
)

// guestSpec declares a collection with a unique index, and one for its order.
func guestSpec(unique, order string) docstore.Spec {
	field := func(name string) []docstore.Field { return []docstore.Field{{Name: name, Kind: docstore.String}} }
	return docstore.Spec{Name: "guests", ID: docstore.Int64, Indexes: []docstore.Index{
		{Name: "key", Fields: field(unique), Unique: true}, {Name: "order", Fields: field(order)},
	}}
}

// guests is a database with the view of its operator.
type guests struct {
	t        *testing.T
	uri      string
	database string
	indexes  mongo.IndexView
}

func onFreshDatabase(t *testing.T) guests {
	t.Helper()
	uri := mongotest.StartReplicaSet(t)
	g := guests{t: t, uri: uri, database: mongotest.NewDatabase(t, uri)}
	client, err := mongo.Connect(options.Client().ApplyURI(uri))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.Disconnect(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	g.indexes = client.Database(g.database).Collection("guests").Indexes()
	return g
}

func (g guests) create(name string, keys bson.D, unique bool) {
	g.t.Helper()
	model := mongo.IndexModel{Keys: keys, Options: options.Index().SetName(name).SetUnique(unique)}
	if _, err := g.indexes.CreateOne(g.t.Context(), model); err != nil {
		g.t.Fatal(err)
	}
}

// want checks the names and first fields of all indexes, such as key:email.
func (g guests) want(want ...string) {
	g.t.Helper()
	stored, err := g.indexes.ListSpecifications(g.t.Context())
	if err != nil {
		g.t.Fatal(err)
	}
	var got []string
	for _, index := range stored {
		first, err := index.KeysDocument.IndexErr(0)
		if err != nil {
			g.t.Fatal(err)
		}
		got = append(got, index.Name+":"+first.Key())
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		g.t.Errorf("the indexes are %v, want %v", got, want)
	}
}

func (g guests) engine() *enginemongo.Engine {
	g.t.Helper()
	return open(g.t, g.uri, g.database).(*enginemongo.Engine)
}

func (g guests) start(spec docstore.Spec) docstore.Table {
	g.t.Helper()
	table, err := g.engine().Open(g.t.Context(), spec)
	if err != nil {
		g.t.Fatal(err)
	}
	return table
}

func TestAStartDropsNoIndexAndRefusesOneOfADeclaredName(t *testing.T) {
	t.Parallel()
	g := onFreshDatabase(t)
	g.create("phones", bson.D{{Key: "phone", Value: 1}}, false)
	for range 2 {
		g.start(guestSpec("email", "phone"))
		g.want("_id_:_id", "key:email", "order:phone", "phones:phone")
	}
	for _, other := range []docstore.Spec{guestSpec("phone", "phone"), guestSpec("email", "email")} {
		_, err := g.engine().Open(t.Context(), other)
		if err == nil || errors.Is(err, docstore.ErrUnavailable) || !strings.Contains(err.Error(), "exists with another declaration; drop it") {
			t.Errorf("got %v", err)
		}
		g.want("_id_:_id", "key:email", "order:phone", "phones:phone")
	}
	inspection, err := g.engine().Inspect(t.Context(), guestSpec("phone", "phone"))
	if err != nil || !slices.Equal(inspection.Missing, []string{"key"}) || !slices.Equal(inspection.Undeclared, []string{"phones"}) {
		t.Errorf("got %+v, %v", inspection, err)
	}
}

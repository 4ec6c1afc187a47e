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

func guest(t *testing.T, id int64, email, phone string) bson.Raw {
	t.Helper()
	document, err := bson.Marshal(bson.D{
		{Key: "_id", Value: id}, {Key: docstore.RevisionField, Value: int64(1)},
		{Key: "email", Value: email}, {Key: "phone", Value: phone},
	})
	if err != nil {
		t.Fatal(err)
	}
	return document
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
		name := index.Name
		if base, _, isChanged := strings.Cut(name, "__"); isChanged {
			name = base + "'"
		}
		got = append(got, name+":"+first.Key())
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

func (g guests) prepare(spec docstore.Spec, preparation enginemongo.Preparation, created, dropped int) {
	g.t.Helper()
	got, err := g.engine().Prepare(g.t.Context(), spec, preparation)
	if err != nil || len(got.Created) != created || len(got.Dropped) != dropped {
		g.t.Fatalf("got %+v, %v; want %d created and %d dropped", got, err, created, dropped)
	}
}

// insert inserts a document and checks that the index, unless empty, refuses it.
func (g guests) insert(table docstore.Table, document bson.Raw, refusedBy string) {
	g.t.Helper()
	errs, err := table.Insert(g.t.Context(), []bson.Raw{document})
	if err != nil {
		g.t.Fatal(err)
	}
	var duplicate *docstore.DuplicateError
	switch {
	case refusedBy == "" && errs[0] != nil:
		g.t.Errorf("insert: %v", errs[0])
	case refusedBy != "" && (!errors.As(errs[0], &duplicate) || duplicate.Index != refusedBy):
		g.t.Errorf("insert: got %v, want a duplicate in %s", errs[0], refusedBy)
	}
}

func TestAnEqualIndexOfAnotherNameIsAccepted(t *testing.T) {
	t.Parallel()
	g := onFreshDatabase(t)
	g.create("theirs", bson.D{{Key: "email", Value: 1}}, true)
	table := g.start(guestSpec("email", "phone"))
	g.want("_id_:_id", "order:phone", "theirs:email")
	g.insert(table, guest(t, 1, "a", "1"), "")
	g.insert(table, guest(t, 2, "a", "2"), "key")
	inspection, err := g.engine().Inspect(t.Context(), guestSpec("email", "phone"))
	if err != nil || len(inspection.Missing)+len(inspection.Undeclared) > 0 {
		t.Errorf("got %+v, %v", inspection, err)
	}
}

func TestAStartDropsNobodysIndex(t *testing.T) {
	t.Parallel()
	g := onFreshDatabase(t)
	g.create("order", bson.D{{Key: "theirs", Value: 1}}, false)
	g.create("phones", bson.D{{Key: "phone", Value: 1}}, false)
	for range 2 {
		table := g.start(guestSpec("email", "phone"))
		g.want("_id_:_id", "key:email", "order':phone", "order:theirs", "phones:phone")
		if _, _, err := table.Scan(t.Context(), docstore.Scan{Where: docstore.All("order"), Limit: 1}); err != nil {
			t.Error(err)
		}
	}
}

func TestAChangedUniqueIndexIsPreparedBesideTheOldOne(t *testing.T) {
	t.Parallel()
	g := onFreshDatabase(t)
	before, after := guestSpec("email", "phone"), guestSpec("phone", "email")
	g.insert(g.start(before), guest(t, 1, "a", "1"), "")

	// A start makes no unique index while another version may insert duplicates, and says so.
	_, err := g.engine().Open(t.Context(), after)
	if err == nil || errors.Is(err, docstore.ErrUnavailable) || !strings.Contains(err.Error(), "run waybookctl store prepare") {
		t.Fatalf("got %v", err)
	}
	g.want("_id_:_id", "key:email", "order:phone")

	g.prepare(after, enginemongo.Preparation{}, 2, 0)
	g.prepare(after, enginemongo.Preparation{}, 0, 0)
	beside := []string{"_id_:_id", "key':phone", "key:email", "order':email", "order:phone"}
	g.want(beside...)

	// Both versions start and run, and each has the uniqueness that it declares.
	old, young := g.start(before), g.start(after)
	g.want(beside...)
	g.insert(old, guest(t, 2, "a", "2"), "key")
	g.insert(young, guest(t, 3, "c", "1"), "key")
	g.insert(young, guest(t, 4, "d", "4"), "")

	g.prepare(after, enginemongo.Preparation{DropReplaced: true}, 0, 2)
	g.want("_id_:_id", "key':phone", "order':email")
	g.insert(g.start(after), guest(t, 5, "a", "5"), "")
}

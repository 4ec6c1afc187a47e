package mongowire_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/waybook/waybook/e2e/mongotest"
	"github.com/waybook/waybook/e2e/mongowire"
	"github.com/waybook/waybook/internal/waybooktest"
)

// The commands before the index that declares the place are judged too.
func TestACommandThatAsksAllShardsUnannouncedIsAStray(t *testing.T) {
	at := func(place any) bson.D { return bson.D{{Key: "color", Value: 1}, {Key: "_place", Value: place}} }
	nowhere, set := bson.D{{Key: "color", Value: 1}}, bson.D{{Key: "$set", Value: bson.D{{Key: "color", Value: 2}}}}
	inserted := func(documents ...any) func(*mongo.Collection) error {
		return func(c *mongo.Collection) error { _, err := c.InsertMany(t.Context(), documents); return err }
	}
	wrote := func(models ...mongo.WriteModel) func(*mongo.Collection) error {
		return func(c *mongo.Collection) error { _, err := c.BulkWrite(t.Context(), models); return err }
	}
	updates := func(filter bson.D) mongo.WriteModel {
		return mongo.NewUpdateOneModel().SetFilter(filter).SetUpdate(set)
	}
	counted := func(filter bson.D, o ...options.Lister[options.CountOptions]) func(*mongo.Collection) error {
		return func(c *mongo.Collection) error { _, err := c.CountDocuments(t.Context(), filter, o...); return err }
	}
	found := func(filter bson.D, o ...options.Lister[options.FindOptions]) func(*mongo.Collection) error {
		return func(c *mongo.Collection) error {
			cursor, err := c.Find(t.Context(), filter, o...)
			if err != nil {
				return err
			}
			return cursor.Close(t.Context())
		}
	}
	server := mongotest.StartUnmonitored(t, mongowire.Config{})
	database := mongotest.Database()
	client, err := mongo.Connect(options.Client().ApplyURI(server.URI(database)))
	waybooktest.OK(t, err)
	defer func() { waybooktest.OK(t, client.Disconnect(t.Context())) }()
	for name, each := range map[string]struct {
		do      func(*mongo.Collection) error
		isStray bool
	}{
		"find at a place":              {found(at(5)), false},
		"find at several":              {found(at(bson.D{{Key: "$in", Value: bson.A{5, 6}}})), false},
		"find at exactly one":          {found(at(bson.D{{Key: "$eq", Value: 5}})), false},
		"find in a range":              {found(at(bson.D{{Key: "$gte", Value: 5}})), true},
		"find at none":                 {found(at(bson.D{{Key: "$in", Value: bson.A{}}})), true},
		"find":                         {found(nowhere), true},
		"find everywhere":              {found(nowhere, options.Find().SetComment("everywhere")), false},
		"find with another comment":    {found(nowhere, options.Find().SetComment("x")), true},
		"count at a place":             {counted(at(5)), false},
		"count":                        {counted(nowhere), true},
		"count everywhere":             {counted(nowhere, options.Count().SetComment("everywhere")), false},
		"insert at a place":            {inserted(at(5), at(6)), false},
		"one insert without a place":   {inserted(at(5), nowhere), true},
		"update at a place":            {wrote(updates(at(5)), updates(at(6))), false},
		"one update without a place":   {wrote(updates(at(5)), updates(nowhere)), true},
		"delete at a place":            {wrote(mongo.NewDeleteManyModel().SetFilter(at(5))), false},
		"delete":                       {wrote(mongo.NewDeleteManyModel().SetFilter(nowhere)), true},
		"a change that returns":        {func(c *mongo.Collection) error { return c.FindOneAndUpdate(t.Context(), nowhere, set).Err() }, true},
		"a command of another kind":    {func(c *mongo.Collection) error { return unknown(t.Context(), c) }, true},
		"a list of indexes":            {func(c *mongo.Collection) error { _, err := c.Indexes().List(t.Context()); return err }, false},
		"distinct values, one a place": {func(c *mongo.Collection) error { return c.Distinct(t.Context(), "color", at(5)).Err() }, false},
		"distinct values":              {func(c *mongo.Collection) error { return c.Distinct(t.Context(), "color", nowhere).Err() }, true},
	} {
		c := client.Database(database).Collection(strings.ReplaceAll(name, " ", "_"))
		isStray := func() bool {
			return slices.ContainsFunc(server.Strays(), func(stray string) bool { return strings.Contains(stray, database+"."+c.Name()+",") })
		}
		_ = each.do(c) // the backend may lack the command
		if isStray() {
			t.Errorf("%s is a stray before the index", name)
		}
		_, err = c.Indexes().CreateOne(t.Context(), mongo.IndexModel{Keys: bson.D{{Key: "_place", Value: 1}}})
		waybooktest.OK(t, err)
		if isStray() != each.isStray {
			t.Errorf("%s: got %q", name, server.Strays())
		}
	}
}

func unknown(ctx context.Context, c *mongo.Collection) error {
	return c.Database().RunCommand(ctx, bson.D{{Key: "mapReduce", Value: c.Name()}}).Err()
}

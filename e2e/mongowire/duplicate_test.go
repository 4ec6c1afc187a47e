package mongowire_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/waybook/waybook/e2e/mongotest"
	"github.com/waybook/waybook/e2e/mongowire"
	"github.com/waybook/waybook/internal/waybooktest"
)

// indexed returns a collection with two unique indexes and two documents.
func indexed(t *testing.T) *mongo.Collection {
	t.Helper()
	things := connect(t, mongotest.StartServer(t, mongowire.Config{}))
	unique := func() *options.IndexOptionsBuilder { return options.Index().SetUnique(true) }
	_, err := things.Indexes().CreateMany(t.Context(), []mongo.IndexModel{
		{Keys: bson.D{{Key: "title", Value: 1}}},
		{Keys: bson.D{{Key: "code", Value: 1}}, Options: unique()},
		{Keys: bson.D{{Key: "owner", Value: 1}, {Key: "slot", Value: 1}}, Options: unique()},
	})
	waybooktest.OK(t, err)
	insert(t, things, thing(1, "a", 1, 1), thing(2, "b", 1, 2))
	return things
}

func thing(id int, code string, owner, slot int64) bson.D {
	return bson.D{{Key: "_id", Value: id}, {Key: "code", Value: code}, {Key: "owner", Value: owner}, {Key: "slot", Value: slot}}
}

// refused is what a driver gets for a duplicate.
type refused struct {
	Index   int
	Text    string
	Pattern bson.D
	Key     bson.D
}

func byID(index, id int) refused {
	return refused{
		index, "index: _id_ dup key: { _id: " + string(rune('0'+id)) + " }",
		bson.D{{Key: "_id", Value: int32(1)}}, bson.D{{Key: "_id", Value: int32(id)}},
	}
}

func byCode(index int, code string) refused {
	return refused{
		index, `index: code_1 dup key: { code: "` + code + `" }`,
		bson.D{{Key: "code", Value: int32(1)}}, bson.D{{Key: "code", Value: code}},
	}
}

func bySlot(index int) refused {
	return refused{
		index, "index: owner_1_slot_1 dup key: { owner: 1, slot: 1 }",
		bson.D{{Key: "owner", Value: int32(1)}, {Key: "slot", Value: int32(1)}},
		bson.D{{Key: "owner", Value: int64(1)}, {Key: "slot", Value: int64(1)}},
	}
}

// wantRefused checks the write errors of the driver.
func wantRefused(t *testing.T, things *mongo.Collection, err error, want ...refused) {
	t.Helper()
	var failures []mongo.WriteError
	var one mongo.WriteException
	var bulk mongo.BulkWriteException
	switch {
	case errors.As(err, &one):
		failures = one.WriteErrors
	case errors.As(err, &bulk):
		for _, each := range bulk.WriteErrors {
			failures = append(failures, each.WriteError)
		}
	}
	var got []refused
	for _, failure := range failures {
		if failure.Code != 11000 {
			t.Errorf("got code %d", failure.Code)
		}
		var fields struct {
			Pattern bson.D `bson:"keyPattern"`
			Key     bson.D `bson:"keyValue"`
		}
		waybooktest.OK(t, bson.Unmarshal(failure.Raw, &fields))
		got = append(got, refused{failure.Index, failure.Message, fields.Pattern, fields.Key})
	}
	for i := range want {
		want[i].Text = "E11000 duplicate key error collection: " + things.Database().Name() + ".things " + want[i].Text
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
}

func TestARefusedInsertNamesTheIndexAndTheKey(t *testing.T) {
	things := indexed(t)
	for _, c := range []struct {
		document bson.D
		want     refused
	}{
		{thing(1, "c", 1, 3), byID(0, 1)},
		{thing(1, "a", 1, 1), byID(0, 1)},
		{thing(3, "a", 1, 3), byCode(0, "a")},
		{thing(3, "a", 1, 1), byCode(0, "a")},
		{thing(3, "c", 1, 1), bySlot(0)},
	} {
		_, err := things.InsertOne(t.Context(), c.document)
		wantRefused(t, things, err, c.want)
	}
	wantCount(t, things, 2)
}

func TestOfDocumentsThatExcludeEachOtherTheLaterIsRefused(t *testing.T) {
	things := indexed(t)
	_, err := things.InsertMany(t.Context(), []any{
		thing(3, "c", 2, 1), thing(3, "d", 2, 2), thing(4, "c", 2, 3), thing(5, "e", 2, 4), thing(6, "f", 1, 1),
		thing(7, "b", 2, 5), thing(6, "f", 2, 6), thing(7, "b", 2, 7),
	}, options.InsertMany().SetOrdered(false))
	wantRefused(t, things, err, byID(1, 3), byCode(2, "c"), bySlot(4), byCode(5, "b"), byCode(7, "b"))
	wantCount(t, things, 5)
}

// FerretDB alone goes on after 100 documents.
func TestAnOrderedInsertEndsAtTheFirstDuplicate(t *testing.T) {
	things := indexed(t)
	var documents []any
	for n := range 350 {
		documents = append(documents, thing(10+n, string(rune('α'+n)), 5, int64(n)))
	}
	documents[150] = thing(400, "a", 5, 150)
	_, err := things.InsertMany(t.Context(), documents)
	wantRefused(t, things, err, byCode(150, "a"))
	wantCount(t, things, 2+150)
}

func TestARefusedUpdateNamesTheIndexAndTheKey(t *testing.T) {
	upsert := options.UpdateOne().SetUpsert(true)
	for name, c := range map[string]struct {
		do   func(things *mongo.Collection) error
		want refused
	}{
		"$set": {func(things *mongo.Collection) error {
			_, err := things.UpdateOne(t.Context(), id(2), set("code", "a"))
			return err
		}, byCode(0, "a")},
		"$inc": {func(things *mongo.Collection) error {
			_, err := things.UpdateOne(t.Context(), id(2), inc("slot", -1))
			return err
		}, bySlot(0)},
		"replacement": {func(things *mongo.Collection) error {
			_, err := things.ReplaceOne(t.Context(), id(2), thing(2, "a", 9, 9))
			return err
		}, byCode(0, "a")},
		"insert by an upsert": {func(things *mongo.Collection) error {
			_, err := things.UpdateOne(t.Context(), id(3), bson.D{
				{Key: "$set", Value: bson.D{{Key: "owner", Value: int64(1)}}},
				{Key: "$setOnInsert", Value: bson.D{{Key: "slot", Value: int64(1)}}},
			}, upsert)
			return err
		}, bySlot(0)},
		"the second of many": {func(things *mongo.Collection) error {
			_, err := things.UpdateMany(t.Context(), bson.D{}, set("code", "c"))
			return err
		}, byCode(0, "c")},
	} {
		t.Run(name, func(t *testing.T) {
			things := indexed(t)
			wantRefused(t, things, c.do(things), c.want)
			wantCount(t, things, 2)
		})
	}
}

func TestARefusedBulkNamesTheStatementTheIndexAndTheKey(t *testing.T) {
	models := []mongo.WriteModel{
		mongo.NewUpdateOneModel().SetFilter(id(1)).SetUpdate(set("n", 1)),
		mongo.NewUpdateOneModel().SetFilter(id(2)).SetUpdate(set("code", "a")),
		mongo.NewReplaceOneModel().SetFilter(id(2)).SetReplacement(thing(2, "b", 1, 1)),
		mongo.NewUpdateOneModel().SetFilter(id(2)).SetUpdate(set("n", 1)),
	}
	t.Run("ordered", func(t *testing.T) {
		things := indexed(t)
		result, err := things.BulkWrite(t.Context(), models)
		wantRefused(t, things, err, byCode(1, "a"))
		if result.ModifiedCount != 1 {
			t.Errorf("got %+v", result)
		}
	})
	t.Run("unordered", func(t *testing.T) {
		things := indexed(t)
		result, err := things.BulkWrite(t.Context(), models, options.BulkWrite().SetOrdered(false))
		wantRefused(t, things, err, byCode(1, "a"), bySlot(2))
		if result.ModifiedCount != 2 {
			t.Errorf("got %+v", result)
		}
	})
}

func TestARefusedFindAndModifyNamesTheIndexAndTheKey(t *testing.T) {
	things := indexed(t)
	err := things.FindOneAndUpdate(t.Context(), id(2), set("code", "a")).Err()
	var refused mongo.CommandError
	if !errors.As(err, &refused) || refused.Code != 11000 {
		t.Fatalf("got %v", err)
	}
	if key, _ := refused.Raw.Lookup("keyValue", "code").StringValueOK(); key != "a" {
		t.Errorf("got %s", refused.Raw)
	}
	if _, err := refused.Raw.LookupErr("keyPattern", "code"); err != nil {
		t.Errorf("got %s", refused.Raw)
	}
}

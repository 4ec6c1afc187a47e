package conformance

import (
	"context"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/waybook/waybook/e2e/mongotest"
	enginemongo "github.com/waybook/waybook/internal/docstore/mongo"
	"github.com/waybook/waybook/internal/waybooktest"
)

func TestADatabaseOfAnotherFormatIsRefused(t *testing.T) {
	t.Parallel()
	const (
		unnamed = "a version of Waybook that was never released has written to the database"
		lower   = `has format "7" of a version that was never released, and this program reads 8: start with an empty store`
		higher  = `has format "9", and this program reads 8: start the version that wrote it`
	)
	guests := guestSpec("email", "phone")
	for what, c := range map[string]struct {
		// writes is what is in the database; there may be a format beside it.
		writes, format bson.D
		want           string
	}{
		"nothing":                          {nil, nil, ""},
		"a document of this format":        {bson.D{{Key: "_id", Value: int64(1)}}, bson.D{{Key: "_id", Value: "format"}, {Key: "format", Value: int64(8)}}, ""},
		"a document without a format":      {bson.D{{Key: "_id", Value: int64(1)}}, nil, unnamed},
		"a format that was never released": {nil, bson.D{{Key: "_id", Value: "format"}, {Key: "format", Value: int64(7)}}, lower},
		"a format of a later version":      {nil, bson.D{{Key: "_id", Value: "format"}, {Key: "format", Value: int64(9)}}, higher},
	} {
		t.Run(what, func(t *testing.T) {
			uri := mongotest.StartReplicaSet(t)
			database := mongotest.NewDatabase(t, uri)
			client := waybooktest.Must(mongo.Connect(options.Client().ApplyURI(uri)))(t)
			defer func() {
				if err := client.Disconnect(context.WithoutCancel(t.Context())); err != nil {
					t.Error(err)
				}
			}()
			if c.writes != nil {
				waybooktest.Must(client.Database(database).Collection("theirs").InsertOne(t.Context(), c.writes))(t)
			}
			if c.format != nil {
				waybooktest.Must(client.Database(database).Collection("store").InsertOne(t.Context(), c.format))(t)
			}
			engine := open(t, uri, database).(*enginemongo.Engine)
			_, inspected := engine.Inspect(t.Context(), guests)
			_, opened := engine.Open(t.Context(), guests)
			for _, err := range []error{inspected, opened} {
				if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n")) {
					t.Errorf("got %v, want %q", err, c.want)
				}
			}
			if c.want != "" {
				return
			}
			// Another process finds the format that this one has written.
			again := open(t, uri, database)
			if _, err := again.Open(t.Context(), guests); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestALookAtAnEmptyDatabaseWritesNothing(t *testing.T) {
	t.Parallel()
	uri := mongotest.StartReplicaSet(t)
	database := mongotest.NewDatabase(t, uri)
	waybooktest.Must(open(t, uri, database).Inspect(t.Context(), guestSpec("email", "phone")))(t)
	client := waybooktest.Must(mongo.Connect(options.Client().ApplyURI(uri)))(t)
	defer func() {
		if err := client.Disconnect(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	}()
	if names := waybooktest.Must(client.Database(database).ListCollectionNames(t.Context(), bson.D{}))(t); len(names) != 0 {
		t.Errorf("it has made %v", names)
	}
}

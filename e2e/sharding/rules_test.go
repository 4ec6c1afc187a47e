package sharding_test

import (
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	drivermongo "go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/waybook/waybook/e2e/mongowire"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/waybooktest"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
)

// shardKey returns the shard key that a declaration asks for, or "" for a collection that stays
// whole.
func shardKey(spec docstore.Spec) string {
	switch spec.Sharding {
	case docstore.ByPlace:
		return "_place"
	case docstore.ByID:
		return "_id"
	}
	return ""
}

func TestStorePrepareSpreadsTheCollectionsAsDeclared(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	for _, spec := range c.specs {
		if got := c.server.ShardKey(c.namespaceOf(spec)); got != shardKey(spec) {
			t.Errorf("%s has the shard key %q, want %q", spec.Name, got, shardKey(spec))
		}
		if spec.Sharding != docstore.ByPlace {
			continue
		}
		ranges := c.server.Ranges(c.namespaceOf(spec))
		if len(ranges) != shards {
			t.Fatalf("%s has the ranges %v", spec.Name, ranges)
		}
		const places = 65_536
		for i, each := range ranges {
			first, last := int64(i*places/shards), int64((i+1)*places/shards)
			if i == 0 {
				first = math.MinInt64
			}
			if i == shards-1 {
				last = math.MaxInt64
			}
			if each.Min != first || each.Max != last || slices.ContainsFunc(ranges[:i], func(r mongowire.Range) bool { return r.Shard == each.Shard }) {
				t.Errorf("%s has the range %+v as its %dth", spec.Name, each, i+1)
			}
		}
	}
}

// A cluster enforces a unique index on each shard. It is unique as a whole if the shard key is
// its prefix and is ranged (Unique Indexes). A sharded collection with documents needs an index
// that begins with the shard key (Shard Key Indexes). Both are in
// https://www.mongodb.com/docs/manual/core/sharding-shard-key/. The index of _id may be unique on
// each shard only: a document has the place that its _id names, so equal ids meet on one shard.
func TestTheIndexesOfShardedCollectionsBeginWithTheShardKey(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	client, err := drivermongo.Connect(options.Client().ApplyURI(c.uri))
	waybooktest.OK(t, err)
	defer func() { waybooktest.OK(t, client.Disconnect(t.Context())) }()
	kinds := map[docstore.Sharding]int{}
	for _, spec := range c.specs {
		kinds[spec.Sharding]++
		if spec.Sharding == docstore.OneShard {
			continue
		}
		cursor, err := client.Database(c.database).Collection(spec.Name).Indexes().List(t.Context())
		waybooktest.OK(t, err)
		var indexes []struct {
			Name   string
			Key    bson.D
			Unique bool
		}
		waybooktest.OK(t, cursor.All(t.Context(), &indexes))
		hasKey := false
		for _, index := range indexes {
			begins := index.Key[0].Key == shardKey(spec) && index.Name != "_id_"
			hasKey = hasKey || begins
			if index.Unique && !begins && index.Name != "_id_" {
				t.Errorf("%s: the unique index %s of %v does not begin with %s", spec.Name, index.Name, index.Key, shardKey(spec))
			}
		}
		if !hasKey {
			t.Errorf("%s: no index begins with the shard key %s", spec.Name, shardKey(spec))
		}
	}
	if kinds[docstore.OneShard] != 1 || kinds[docstore.ByID] == 0 || kinds[docstore.ByPlace] == 0 {
		t.Errorf("collections by kind: %v; a collection that grows with users or content is not OneShard", kinds)
	}
}

// sweptWrites are the writes of many documents with one command, and why nothing relies on one
// of them alone. While a range moves, such a command may miss a document or change it twice
// (https://www.mongodb.com/docs/manual/reference/cluster-parameters/pauseMigrationsDuringMultiUpdates/).
// Closing all sessions of a user is none: it is one change of the user's document.
func sweptWrites() map[string]string {
	const (
		children = "a sweep repeats it until five minutes after the deletion; store check finds what is left"
		expired  = "each sweep repeats it; nobody accepts an expired document"
		gone     = "they are of a user who is deleted: nobody accepts or reads them, and a repeated deletion finds them"
	)
	swept := map[string]string{}
	for _, each := range []string{"album", "blog", "poi"} {
		swept["delete "+each+"_comments"], swept["delete "+each+"_recommendations"] = children, children
	}
	swept["delete album_photos"], swept["delete poi_photos"] = children, children
	swept["delete blog_ballots"], swept["delete rewards"] = children, gone
	for _, each := range []string{"sessions", "login_attempts", "invitations"} {
		swept["delete "+each] = expired
	}
	return swept
}

// A write of one document names the shard key, or the cluster refuses it or asks every shard; an
// upsert is refused without it. See Sharded Collections in
// https://www.mongodb.com/docs/manual/reference/command/update/ and
// https://www.mongodb.com/docs/manual/reference/command/delete/.
func TestWritesNameTheirShardAndThoseOfManyDocumentsAreSwept(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	p := c.start(c.engine)
	about := c.fill(p)
	sent := c.commandsOf(p, func() { c.runEverything(p, about) })
	swept, seen := sweptWrites(), map[string]bool{}
	for _, command := range sent {
		key := c.server.ShardKey(command.Database + "." + command.Collection)
		for _, statement := range command.Statements {
			isMulti, _ := statement.Lookup("multi").BooleanOK()
			if limit, isDelete := statement.Lookup("limit").AsInt64OK(); isDelete {
				isMulti = limit == 0
			}
			what := command.Name + " " + command.Collection
			if isMulti {
				seen[what] = true
				if swept[what] == "" {
					t.Errorf("%s of many documents: a cluster that moves a range may miss some; say in sweptWrites why that is harmless: %v", what, statement)
				}
				continue
			}
			one := mongowire.Command{Name: command.Name, Collection: command.Collection, Statements: []bson.Raw{statement}}
			if values, _, _ := one.ShardKeys(key); key != "" && len(values) != 1 {
				t.Errorf("%s of one document names no %s: %v", what, key, statement)
			}
			ids, _, _ := one.ShardKeys("_id")
			if isUpsert, _ := statement.Lookup("upsert").BooleanOK(); isUpsert && len(ids) != 1 {
				t.Errorf("%s is an upsert that names no _id: %v", what, statement)
			}
		}
		if command.Name == "findAndModify" {
			if values, _, _ := command.ShardKeys(key); key != "" && len(values) != 1 {
				t.Errorf("findAndModify on %s names no %s: %v", command.Collection, key, command.Body)
			}
		}
	}
	for what := range swept {
		if !seen[what] {
			t.Errorf("sweptWrites has %s, which was not sent", what)
		}
	}
}

// runEverything runs each operation, the deletions that are none, and the sweeps, which find something of each
// kind that expires.
func (c *cluster) runEverything(p *replica, about material) {
	t := c.t
	t.Helper()
	for _, each := range operations() {
		each.run(t, p, about)
	}
	_, err := p.Account.UpdateUser(t.Context(), &accountv1.UpdateUserRequest{UserId: about.owner.id, Disabled: new(true)})
	waybooktest.OK(t, err)
	_, err = p.Account.DeleteUser(t.Context(), &accountv1.DeleteUserRequest{UserId: about.owner.id})
	waybooktest.OK(t, err)
	_, err = p.Poi.DeletePoi(t.Context(), &poiv1.DeletePoiRequest{ActorId: about.owner.id, PoiId: about.poi})
	waybooktest.OK(t, err)
	for _, spec := range c.specs {
		if isDeletedByTime(spec) {
			c.insertExpired(spec)
		}
	}
	for range 2 {
		c.clock.Advance(365 * 24 * time.Hour)
		for _, each := range p.Services {
			waybooktest.OK(t, each.Sweep(t.Context()))
		}
	}
}

// A range that moves cannot leave a session open: what closes them is one change of one document,
// which comes before the sessions are removed, each by itself.
func TestClosingAllSessionsIsOneChangeOfTheUser(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	p := c.start(c.engine)
	u := c.newUser(p, "owner")
	sent := c.commandsOf(p, func() {
		_, err := p.Account.CloseAllSessions(t.Context(), &accountv1.CloseAllSessionsRequest{UserId: u.id})
		waybooktest.OK(t, err)
	})
	writes := slices.DeleteFunc(sent, func(command mongowire.Command) bool { return len(command.Statements) == 0 })
	if len(writes) != 2 || writes[0].Name != "update" || writes[0].Collection != "users" || len(writes[0].Statements) != 1 {
		t.Fatalf("it writes %v", writes)
	}
	if limit, _ := writes[1].Statements[0].Lookup("limit").AsInt64OK(); writes[1].Name != "delete" || limit != 1 {
		t.Errorf("then it writes %v", writes[1])
	}
}

// insertExpired stores an expired document in a collection.
func (c *cluster) insertExpired(spec docstore.Spec) {
	const number = int64(1) << 40 // as a time, it is in 2004
	document := bson.D{{Key: docstore.IDIndex, Value: number}, {Key: docstore.RevisionField, Value: int64(1)}}
	if spec.ID == docstore.String {
		document[0].Value = "x"
	}
	for _, index := range spec.Indexes {
		for _, field := range index.Fields {
			if !slices.ContainsFunc(document, func(e bson.E) bool { return e.Key == field.Name }) {
				value := map[docstore.Kind]any{docstore.Int64: number, docstore.String: "x"}[field.Kind]
				document = append(document, bson.E{Key: field.Name, Value: value})
			}
		}
	}
	c.insert(spec, document)
}

// insert stores a document without its service.
func (c *cluster) insert(spec docstore.Spec, document bson.D) {
	raw, err := bson.Marshal(document)
	waybooktest.OK(c.t, err)
	table, err := c.engine.Open(c.t.Context(), spec)
	waybooktest.OK(c.t, err)
	refused, err := table.Insert(c.t.Context(), []bson.Raw{raw})
	waybooktest.OK(c.t, errors.Join(append(refused, err)...))
}

// isDeletedByTime reports whether documents of a collection expire.
func isDeletedByTime(spec docstore.Spec) bool {
	return slices.ContainsFunc(spec.Indexes, func(index docstore.Index) bool { return index.Name == "expiry" })
}

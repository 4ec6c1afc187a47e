package mongo

import (
	"context"
	"errors"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/waybook/waybook/internal/docstore"
)

func TestAnIndexServesIfItHasAllDocumentsInTheDeclaredOrder(t *testing.T) {
	email := usersTable().spec.Indexes[0]
	right := storedIndex{Key: bson.D{{Key: "email", Value: 1.0}}, Unique: true}
	if !right.serves(email) {
		t.Error("an equal index does not serve")
	}
	document, err := bson.Marshal(bson.D{{Key: "locale", Value: "de"}})
	must(t, err)
	for what, change := range map[string]func(*storedIndex){
		"hidden":       func(s *storedIndex) { s.Hidden = true },
		"not unique":   func(s *storedIndex) { s.Unique = false },
		"sparse":       func(s *storedIndex) { s.Sparse = true },
		"partial":      func(s *storedIndex) { s.Partial = document },
		"in German":    func(s *storedIndex) { s.Collation = document },
		"descending":   func(s *storedIndex) { s.Key = bson.D{{Key: "email", Value: -1}} },
		"hashed":       func(s *storedIndex) { s.Key = bson.D{{Key: "email", Value: "hashed"}} },
		"on one more":  func(s *storedIndex) { s.Key = append(slices.Clone(s.Key), bson.E{Key: "_id", Value: 1}) },
		"on something": func(s *storedIndex) { s.Key = bson.D{{Key: "work", Value: 1}} },
	} {
		wrong := right
		if change(&wrong); wrong.serves(email) {
			t.Errorf("an index that is %s serves", what)
		}
	}
}

func TestASparseIndexIsOnItsFieldAlone(t *testing.T) {
	flag := keyedSpec().Indexes[1]
	for want, stored := range map[bool]storedIndex{
		true:  {Key: bson.D{{Key: "flag", Value: 1}}, Sparse: true},
		false: {Key: bson.D{{Key: "flag", Value: 1}, {Key: "_id", Value: 1}}, Sparse: true}, // it has all documents
	} {
		if stored.serves(flag) != want {
			t.Errorf("%+v serves: %v", stored, !want)
		}
	}
	engine, peer := openOn(t, (&catalog{indexes: make(map[string]bson.D)}).answer)
	if _, err := engine.Open(t.Context(), keyedSpec()); err != nil {
		t.Fatal(err)
	}
	sent := peer.commands("createIndexes")
	if len(sent) != 1 {
		t.Fatalf("got %v", sent)
	}
	var command struct{ Indexes []storedIndex }
	must(t, bson.Unmarshal(sent[0], &command))
	for _, index := range command.Indexes {
		if index.Sparse != (index.Name == "flag") {
			t.Errorf("created %+v", index)
		}
	}
}

// catalog is the list of indexes of a peer.
type catalog struct {
	collation string
	indexes   map[string]bson.D
	// refuse, if not nil, answers a createIndexes instead.
	refuse func(name string) bson.D
}

func (c *catalog) answer(command string, body bson.Raw) bson.D {
	switch command {
	case "listCollections":
		settings := bson.D{}
		if c.collation != "" {
			settings = bson.D{{Key: "collation", Value: bson.D{{Key: "locale", Value: c.collation}}}}
		}
		return firstBatch(bson.D{{Key: "name", Value: "users"}, {Key: "type", Value: "collection"}, {Key: "options", Value: settings}})
	case "listIndexes":
		return firstBatch(slices.Collect(maps.Values(c.indexes))...)
	case "createIndexes":
		var command struct{ Indexes []bson.D }
		if err := bson.Unmarshal(body, &command); err != nil {
			return refusal(9)
		}
		for _, index := range command.Indexes {
			var stored storedIndex
			if raw, err := bson.Marshal(index); err != nil || bson.Unmarshal(raw, &stored) != nil {
				return refusal(9)
			}
			if c.refuse != nil {
				return c.refuse(stored.Name)
			}
			c.indexes[stored.Name] = index
		}
		return done
	}
	return firstBatch()
}

func refusal(code int) bson.D {
	return bson.D{{Key: "ok", Value: 0}, {Key: "code", Value: code}, {Key: "errmsg", Value: "no"}}
}

func TestTheStartThatLosesARaceForAnIndexTakesTheOneThatExists(t *testing.T) {
	for _, code := range []int{indexAlreadyExists, indexOptionsConflict, indexKeySpecsConflict} {
		c := &catalog{indexes: make(map[string]bson.D)}
		c.refuse = func(string) bson.D {
			// Another process has created them all in the meantime.
			c.refuse = nil
			for _, index := range usersTable().spec.Indexes {
				c.indexes[index.Name] = bson.D{
					{Key: "name", Value: index.Name}, {Key: "key", Value: keysOf(index)}, {Key: "unique", Value: index.Unique},
				}
			}
			return refusal(code)
		}
		engine, _ := openOn(t, c.answer)
		if _, err := engine.Open(t.Context(), usersTable().spec); err != nil {
			t.Errorf("%d: %v", code, err)
		}
		if len(c.indexes) != 3 {
			t.Errorf("%d: the indexes are now %v", code, slices.Sorted(maps.Keys(c.indexes)))
		}
	}
}

func TestAConflictThatStaysEndsTheStart(t *testing.T) {
	c := &catalog{indexes: make(map[string]bson.D), refuse: func(string) bson.D { return refusal(indexOptionsConflict) }}
	engine, peer := openOn(t, c.answer)
	if _, err := engine.Open(t.Context(), usersTable().spec); err == nil || errors.Is(err, docstore.ErrUnavailable) {
		t.Errorf("got %v", err)
	}
	if n := len(peer.commands("createIndexes")); n != reconcileTries {
		t.Errorf("%d tries", n)
	}
}

// scansOf returns the finds of a peer that look for documents that do not fit an index.
func scansOf(p *peer) []bson.Raw {
	return slices.DeleteFunc(p.commands("find"), func(find bson.Raw) bool { return !strings.Contains(find.String(), "$or") })
}

func TestAStartWaitsForIndexesAndReadsTheCollectionOnlyIfOneIsMissing(t *testing.T) {
	c := &catalog{indexes: make(map[string]bson.D)}
	for start, want := range []struct{ scans, creates int }{{1, 1}, {0, 3}} {
		engine, peer := openOn(t, c.answer)
		if _, err := engine.Open(t.Context(), usersTable().spec); err != nil {
			t.Fatal(err)
		}
		// A server that is asked to create an index which is being built answers when it is built.
		if got := len(peer.commands("createIndexes")); got != want.creates || len(scansOf(peer)) != want.scans {
			t.Errorf("start %d: %d commands create indexes and %d read the collection, want %+v", start, got, len(scansOf(peer)), want)
		}
	}
}

func TestABuildNeedsAMajorityAndIsNotAbortedWhenTheStartsTimeEnds(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	for name, start := range map[string]struct {
		ctx     context.Context
		options string
	}{
		"a start with a deadline": {ctx, ""},
		"a start without one":     {t.Context(), ""},
		"a URI with a time limit": {t.Context(), "&timeoutMS=5000"},
		"a deadline and a limit":  {ctx, "&timeoutMS=5000"},
	} {
		c := &catalog{indexes: make(map[string]bson.D)}
		for range 2 { // the second start waits for the builds of the first
			engine, peer := openWith(t, ofReplicaSet, start.options, c.answer)
			if _, err := engine.Open(start.ctx, usersTable().spec); err != nil {
				t.Fatal(err)
			}
			for _, command := range append(peer.commands("createIndexes"), scansOf(peer)...) {
				// A read without a limit has the cluster's defaultMaxTimeMS, since MongoDB 8.
				want := map[string]int64{"find": math.MaxInt32}[nameOf(command)]
				if limit, _ := command.Lookup("maxTimeMS").AsInt64OK(); limit != want {
					t.Errorf("%s: the server may take %d ms for %s, want %d", name, limit, nameOf(command), want)
				}
				// A member that is down, or one that builds no indexes, must not keep a majority of the set from a build.
				if quorum, _ := command.Lookup("commitQuorum").StringValueOK(); nameOf(command) == "createIndexes" && quorum != "majority" {
					t.Errorf("%s: %s waits for %q", name, command, quorum)
				}
			}
		}
	}
}

func TestAStartThatEndsStopsWaitingForABuild(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	building := &catalog{indexes: make(map[string]bson.D)}
	answered := make(chan struct{})
	engine, _ := openOn(t, func(command string, body bson.Raw) bson.D {
		if command == "createIndexes" {
			cancel()
			<-answered
		}
		return building.answer(command, body)
	})
	_, err := engine.Open(ctx, usersTable().spec)
	close(answered)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// The planner passes over a hidden index, so queries would read the whole collection.
func TestAStartRefusesAHiddenIndex(t *testing.T) {
	c := &catalog{indexes: make(map[string]bson.D)}
	engine, _ := openOn(t, c.answer)
	if _, err := engine.Open(t.Context(), usersTable().spec); err != nil {
		t.Fatal(err)
	}
	c.indexes["email"] = append(c.indexes["email"], bson.E{Key: "hidden", Value: true})
	engine, _ = openOn(t, c.answer)
	inspection, err := engine.Inspect(t.Context(), usersTable().spec)
	if err != nil || !slices.Equal(inspection.Missing, []string{"email"}) || len(inspection.Undeclared) > 0 {
		t.Errorf("got %+v, %v", inspection, err)
	}
	if _, err := engine.Open(t.Context(), usersTable().spec); err == nil || !strings.Contains(err.Error(), `index "email"`) {
		t.Errorf("got %v", err)
	}
}

func TestACollectionWithACollationIsRefused(t *testing.T) {
	engine, peer := openOn(t, (&catalog{collation: "de", indexes: make(map[string]bson.D)}).answer)
	_, err := engine.Open(t.Context(), usersTable().spec)
	if err == nil || !strings.Contains(err.Error(), "collation") || errors.Is(err, docstore.ErrUnavailable) {
		t.Errorf("got %v", err)
	}
	if len(peer.commands("createIndexes")) > 0 {
		t.Error("indexes were created")
	}
}

package versions

import (
	"maps"
	"os"
	"slices"
	"strconv"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/waybook/waybook/e2e/mongotest"
	"github.com/waybook/waybook/e2e/mongowire"
	"github.com/waybook/waybook/internal/content/integrity"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/longform"
	"github.com/waybook/waybook/internal/platform/service"
	"github.com/waybook/waybook/internal/waybooktest"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
	"github.com/waybook/waybook/waybookctl/storekeeping"
)

// roundsFlag is the environment variable with the number of calls that each worker makes at a time. The
// default keeps the tests short.
const roundsFlag, defaultRounds = "WAYBOOK_VERSIONS_ROUNDS", 6

func rounds(t *testing.T) int {
	t.Helper()
	text := os.Getenv(roundsFlag)
	if text == "" {
		return defaultRounds
	}
	rounds, err := strconv.Atoi(text)
	if err != nil || rounds < 1 {
		t.Fatalf("%s is %q; it must be a number from 1 on", roundsFlag, text)
	}
	return rounds
}

func TestNothingIsLostWhenAVersionReplacesAnOlderOne(t *testing.T) {
	longform.Only(t)
	uri := store(t)
	older := start(t, programs.older, uri)
	w := newWorld(t, uri, older)
	w.plant()
	w.drive(rounds(t), older)
	present := start(t, programs.present, uri)
	w.keep = newKeeper(t, openStore(t, uri), present.Account)
	w.drive(2*rounds(t), older, present)
	w.expectShown(older)
	w.expectShown(present)
	end(t, older)
	w.drive(rounds(t), present)
	w.expectNothingLost(present)
}

func TestNothingIsLostWhenAnOlderVersionReplacesAVersion(t *testing.T) {
	longform.Only(t)
	uri := store(t)
	present := start(t, programs.present, uri)
	w := newWorld(t, uri, present)
	w.plant()
	w.keep = newKeeper(t, openStore(t, uri), present.Account)
	w.drive(rounds(t), present)
	older := start(t, programs.older, uri)
	w.drive(2*rounds(t), present, older)
	w.expectShown(older)
	w.expectShown(present)
	end(t, present)
	w.drive(rounds(t), older)
	w.expectShown(older)
	w.expectNothingLost(start(t, programs.present, uri))
}

// store returns the URI of an empty store. It skips the test if there is no older program to share it.
func store(t *testing.T) string {
	t.Helper()
	skipWithoutOlder(t)
	return mongotest.StartServer(t, mongowire.Config{}).URI(mongotest.Database())
}

func skipWithoutOlder(t *testing.T) {
	t.Helper()
	if programs.missing != "" {
		t.Skipf("SKIPPED: no program of the older version: %s", programs.missing)
	}
}

func end(t *testing.T, p *program) {
	t.Helper()
	if status := p.End(syscall.SIGTERM); status != 0 {
		t.Errorf("exit status %d\n%s", status, p.Printed())
	}
}

// choices are the collections of choices.
func choices() []string {
	return []string{"album_recommendations", "blog_recommendations", "poi_recommendations", "blog_ballots"}
}

// everywhere is the comment of the test's own commands, which ask all shards; see e2e/mongowire.
const everywhere = "everywhere"

// plant stores fields that no version knows in the shared documents.
func (w *world) plant() {
	w.t.Helper()
	for collection, paths := range planted() {
		fields := bson.D{}
		for _, path := range paths {
			fields = append(fields, bson.E{Key: path, Value: int64(7)})
		}
		if _, err := database(w.t, w.uri).Collection(collection).UpdateMany(w.t.Context(), bson.D{}, bson.D{{Key: "$set", Value: fields}}, options.UpdateMany().SetComment(everywhere)); err != nil {
			w.t.Fatal(err)
		}
	}
}

// planted returns the paths of fields that no version knows, by collection.
func planted() map[string][]string {
	return map[string][]string{
		"albums": {"later", "recommendations.later"},
		"pois":   {"later", "recommendations.later"},
		"blogs":  {"later", "recommendations.later", "vote.later", "vote.ballots.later", "vote.choices.1.later"},
	}
}

// expectShown expects that a program shows each document as recorded, and no deleted one.
func (w *world) expectShown(p *program) {
	w.t.Helper()
	for _, d := range slices.Concat(w.shared, w.others) {
		got, err := d.show(w.t.Context(), p, d.id)
		if d.isDeleted {
			if status.Code(err) != codes.NotFound {
				w.t.Errorf("older=%t: the deleted document %d of %s: %+v, %v", p.isOlder, d.id, d.documents, got, err)
			}
			continue
		}
		if err != nil {
			w.t.Errorf("older=%t: document %d of %s: %v", p.isOlder, d.id, d.documents, err)
			continue
		}
		if difference := cmp.Diff(d.want(), got, cmp.AllowUnexported(shown{})); difference != "" {
			w.t.Errorf("older=%t: document %d of %s (- acknowledged, + shown):\n%s", p.isOlder, d.id, d.documents, difference)
		}
	}
}

// expectNothingLost expects that the store holds what was acknowledged, after the sweeps too.
func (w *world) expectNothingLost(p *program) {
	w.t.Helper()
	w.expectShown(p)
	if err := w.keep.sweep(w.t.Context()); err != nil {
		w.t.Error(err)
	}
	w.expectShown(p)
	w.expectFound(p)
	w.expectRewarded(p)
	db := database(w.t, w.uri)
	for _, name := range choices() {
		w.expectSettled(db.Collection(name))
	}
	for collection := range planted() {
		w.expectStored(db.Collection(collection))
	}
	report, err := storekeeping.Check(w.t.Context(), storekeeping.Options{Store: service.StoreFlags{MongoDBURI: w.uri}}, integrity.Look)
	if err != nil || len(report.Findings) > 0 {
		w.t.Errorf("the check: %v, %+v", err, report.Findings)
	}
}

// expectFound expects that a search in a category finds exactly the landmarks that are not deleted.
func (w *world) expectFound(p *program) {
	w.t.Helper()
	found, err := p.Poi.SearchNearby(w.t.Context(), &poiv1.SearchNearbyRequest{
		Circle:   &typev1.Circle{Center: place(), RadiusMeters: 100},
		Category: category, PageSize: pageSize,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	got, want := map[int64]string{}, map[int64]string{}
	for _, each := range found.GetPois() {
		got[each.GetPoiId()] = each.GetName()
	}
	for id, d := range w.alive("pois") {
		want[id] = d.title
	}
	if !maps.Equal(got, want) {
		w.t.Errorf("the search finds (- acknowledged, + found):\n%s", cmp.Diff(want, got))
	}
}

// expectRewarded expects that each author has one reward for each entry, also for the deleted ones.
func (w *world) expectRewarded(p *program) {
	w.t.Helper()
	const reward = 10
	entries := map[int64]int64{}
	for _, d := range slices.Concat(w.shared, w.others) {
		if d.documents == "blogs" {
			entries[d.owner]++
		}
	}
	for author, count := range entries {
		got, err := waybooktest.RewardsOf(w.t.Context(), p.Account, author)
		if err != nil || got.Count != count || got.Total != count*reward {
			w.t.Errorf("the author of %d entries has the rewards %+v, %v", count, got, err)
		}
	}
}

// expectSettled expects that every choice is settled. The choices under deleted documents are left for
// the sweep that removes them.
func (w *world) expectSettled(collection *mongo.Collection) {
	w.t.Helper()
	shared := bson.A{}
	for _, d := range w.shared {
		shared = append(shared, d.id)
	}
	under := bson.D{{Key: "parent_id", Value: bson.D{{Key: "$in", Value: shared}}}}
	for _, choice := range find(w.t, collection, under) {
		if pending, _ := choice.Lookup("pending").Int64OK(); pending != 0 || !choice.Lookup("wanted").Equal(choice.Lookup("counted")) {
			w.t.Errorf("%s: not settled: %s", collection.Name(), choice)
		}
	}
}

// expectStored expects exact counts, and the planted fields in the shared documents.
func (w *world) expectStored(collection *mongo.Collection) {
	w.t.Helper()
	alive := w.alive(collection.Name())
	shared := map[int64]bool{}
	for _, d := range w.shared {
		shared[d.id] = true
	}
	for _, stored := range find(w.t, collection, bson.D{}) {
		id := stored.Lookup("_id").Int64()
		d := alive[id]
		if docstore.IsTombstone(stored) {
			if d != nil {
				w.t.Errorf("%s: nobody has deleted %s", collection.Name(), stored)
			}
			continue
		}
		if d == nil {
			w.t.Errorf("%s: a document that is deleted or was never acknowledged: %s", collection.Name(), stored)
			continue
		}
		delete(alive, id)
		for _, path := range planted()[collection.Name()] {
			if shared[id] && !isPlanted(stored, path) {
				w.t.Errorf("%s %d has lost %s: %s", collection.Name(), id, path, stored)
			}
		}
	}
	for id := range alive {
		w.t.Errorf("%s %d is not stored", collection.Name(), id)
	}
}

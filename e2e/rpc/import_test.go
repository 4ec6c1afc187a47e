package rpc_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

func (w *waybook) importPois(ctx context.Context, request *poiv1.ImportPoisRequest) (*poiv1.ImportPoisResponse, error) {
	return w.Poi.ImportPois(ctx, request)
}

func importedPoi(key, name string) *poiv1.ImportedPoi {
	return &poiv1.ImportedPoi{Key: key, Name: name, Category: poiv1.PoiCategory_POI_CATEGORY_THRILL, Location: taipei}
}

func batchOf(owner int64, pois ...*poiv1.ImportedPoi) *poiv1.ImportPoisRequest {
	return &poiv1.ImportPoisRequest{OwnerId: owner, Pois: pois}
}

func expectImport(t *testing.T, got *poiv1.ImportPoisResponse, created, unchanged, failed int64) {
	t.Helper()
	if got.GetCreatedCount() != created || got.GetUnchangedCount() != unchanged || got.GetFailedCount() != failed {
		t.Errorf("got %v, want %d created, %d unchanged, %d failed", got, created, unchanged, failed)
	}
}

// imported returns an owner's landmarks as they can be imported again, by key.
func (w *waybook) imported(owner int64) (all []*poiv1.ImportedPoi) {
	w.t.Helper()
	for _, p := range must(w.Poi.ListPois(w.t.Context(), &poiv1.ListPoisRequest{OwnerId: owner, PageSize: 1000}))(w.t).GetPois() {
		key := cmp.Or(p.GetImportKey(), fmt.Sprint("poi:", p.GetPoiId()))
		all = append(all, &poiv1.ImportedPoi{Key: key, Name: p.GetName(), Category: p.GetCategory(), Location: p.GetLocation()})
	}
	return byKey(all)
}

func byKey(pois []*poiv1.ImportedPoi) []*poiv1.ImportedPoi {
	return slices.SortedFunc(slices.Values(pois), func(a, b *poiv1.ImportedPoi) int { return cmp.Compare(a.GetKey(), b.GetKey()) })
}

func expectSame(t *testing.T, got, want []*poiv1.ImportedPoi) {
	t.Helper()
	if !slices.EqualFunc(got, want, func(a, b *poiv1.ImportedPoi) bool { return proto.Equal(a, b) }) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

func TestARepeatedImportReportsUnchangedLandmarks(t *testing.T) {
	t.Parallel()
	w := start(t)
	owner, other := w.newUser("a"), w.newUser("b")
	var pois []*poiv1.ImportedPoi
	for i := range 1000 {
		pois = append(pois, importedPoi(fmt.Sprint(i), fmt.Sprint("landmark ", i)))
	}
	for _, step := range []struct{ owner, created, unchanged int64 }{{owner, 1000, 0}, {owner, 0, 1000}, {other, 1000, 0}} {
		expectImport(t, must(w.importPois(t.Context(), batchOf(step.owner, pois...)))(t), step.created, step.unchanged, 0)
	}
	if count := len(w.thrills()); count != 2000 {
		t.Errorf("%d landmarks", count)
	}
}

func TestAnInvalidItemOfAnImportFailsAlone(t *testing.T) {
	t.Parallel()
	w := start(t)
	owner := w.newUser("a")
	moved := importedPoi("1", "one")
	moved.Location = &typev1.Location{Lat: 1, Lng: 2}
	reply := must(w.importPois(t.Context(), batchOf(owner, importedPoi("1", "one"), importedPoi("1", "one"), importedPoi("1", "other"), &poiv1.ImportedPoi{},
		moved, importedPoi(strings.Repeat("中", 34), "two"), importedPoi("2", long(200)),
	)))(t)
	expectImport(t, reply, 2, 1, 4)
	var failures []string
	for _, f := range reply.GetFailures() {
		failures = append(failures, fmt.Sprint(f.GetIndex(), " ", f.GetKey(), " ", f.GetReason()))
	}
	want := []string{"2 1 KEY_TAKEN", "3  INVALID_PARAMETER", "4 1 KEY_TAKEN", "5 " + strings.Repeat("中", 33) + " INVALID_PARAMETER"}
	if !slices.Equal(failures, want) {
		t.Fatalf("got %q\nwant %q", failures, want)
	}
	for _, field := range []string{"key", "name", "category", "location"} {
		if message := reply.GetFailures()[1].GetMessage(); !strings.Contains(message, field+": ") {
			t.Errorf("%s is not named in %q", field, message)
		}
	}
}

func TestAnImportUpdatesWhatDiffersIfAskedToOnEachStore(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, p *parts) {
		owner, other := p.newUser("a"), p.newUser("b")
		single := p.newPoi(owner, "singly")
		pois := func(name string) []*poiv1.ImportedPoi {
			moved, own := importedPoi("moved", "x"), importedPoi(fmt.Sprint("poi:", single), name)
			if name != "x" {
				moved.Location, moved.Category = &typev1.Location{Lat: -1, Lng: 2}, poiv1.PoiCategory_POI_CATEGORY_TENDER
			}
			return []*poiv1.ImportedPoi{moved, importedPoi("renamed", name), own, importedPoi("same", "x")}
		}
		send := func(batch *poiv1.ImportPoisRequest, mode poiv1.ImportMode, validateOnly bool, created, updated, unchanged, failed int64) {
			t.Helper()
			batch.Mode, batch.ValidateOnly = mode, validateOnly
			reply := must(p.importPois(t.Context(), batch))(t)
			expectImport(t, reply, created, unchanged, failed)
			if reply.GetUpdatedCount() != updated {
				t.Errorf("%d updated, want %d", reply.GetUpdatedCount(), updated)
			}
		}
		const refuse, update = poiv1.ImportMode_IMPORT_MODE_UNSPECIFIED, poiv1.ImportMode_IMPORT_MODE_UPDATE
		first := []*poiv1.ImportedPoi{pois("x")[0], pois("x")[1], pois("x")[3]}
		for _, user := range []int64{owner, other} {
			send(batchOf(user, first...), update, true, 3, 0, 0, 0)
			send(batchOf(user, first...), update, false, 3, 0, 0, 0)
		}
		before, others := p.imported(owner), p.imported(other)
		ids := p.thrills()

		changed := append(pois("y"), importedPoi("new", "x"))
		send(batchOf(owner, changed...), refuse, true, 1, 0, 1, 3)
		send(batchOf(owner, changed...), update, true, 1, 3, 1, 0)
		expectSame(t, p.imported(owner), before)
		send(batchOf(owner, changed...), update, false, 1, 3, 1, 0)
		expectSame(t, p.imported(owner), byKey(changed))
		expectSame(t, p.imported(other), others)
		send(batchOf(owner, changed...), update, false, 0, 0, 5, 0)
		// They are the same landmarks, and are found where they are now.
		for _, poiID := range append(ids, single) {
			p.getPoi(poiID)
		}
		near := must(p.Poi.SearchNearby(t.Context(), &poiv1.SearchNearbyRequest{
			Circle: &typev1.Circle{Center: &typev1.Location{Lat: -1, Lng: 2}},
		}))(t)
		if found := near.GetPois(); len(found) != 1 || !slices.Contains(ids, found[0].GetPoiId()) {
			t.Errorf("nearby there are %v", found)
		}
	})
}

func TestAKeyCanNameALandmarkThatWasNotImported(t *testing.T) {
	t.Parallel()
	w := start(t)
	owner, other := w.newUser("a"), w.newUser("b")
	must(w.importPois(t.Context(), batchOf(owner, importedPoi("k", "x"))))(t)
	imported := w.thrills()[0]
	single, deleted := w.newPoi(owner, "x"), w.newPoi(owner, "x")
	must(w.Poi.DeletePoi(t.Context(), &poiv1.DeletePoiRequest{ActorId: owner, PoiId: deleted}))(t)
	key := fmt.Sprint("poi:", single)
	same := importedPoi(key, "x")
	same.Category = poiv1.PoiCategory_POI_CATEGORY_TENDER
	for _, step := range []struct {
		name                       string
		owner                      int64
		item                       *poiv1.ImportedPoi
		created, unchanged, failed int64
	}{
		{"the same content", owner, same, 0, 1, 0},
		{"other content", owner, importedPoi(key, "y"), 0, 0, 1},
		{"another owner", other, same, 1, 0, 0},
		{"another owner again", other, same, 0, 1, 0},
		{"a landmark that was imported", owner, importedPoi(fmt.Sprint("poi:", imported), "x"), 1, 0, 0},
		{"a landmark that was deleted", owner, importedPoi(fmt.Sprint("poi:", deleted), "x"), 1, 0, 0},
		{"no identifier", owner, importedPoi(fmt.Sprint("poi:0", single), "x"), 1, 0, 0},
		{"too high an identifier", owner, importedPoi("poi:9007199254740992", "x"), 1, 0, 0},
		{"a negative identifier", owner, importedPoi("poi:-1", "x"), 1, 0, 0},
	} {
		reply, err := w.importPois(t.Context(), batchOf(step.owner, step.item))
		if err != nil {
			t.Fatal(err)
		}
		if reply.GetCreatedCount() != step.created || reply.GetUnchangedCount() != step.unchanged || reply.GetFailedCount() != step.failed {
			t.Errorf("%s: %v", step.name, reply)
		}
		for _, failure := range reply.GetFailures() {
			if failure.GetReason() != "KEY_TAKEN" || failure.GetKey() != key {
				t.Errorf("%s: %v", step.name, failure)
			}
		}
	}
}

// thrills returns the identifiers of the landmarks of the category of importedPoi.
func (w *waybook) thrills() []int64 {
	w.t.Helper()
	pois := w.kinds()[2]
	category := fields{"category": int(poiv1.PoiCategory_POI_CATEGORY_THRILL)}
	return summaryIDs(must(pois.summaries(w.t.Context(), category, 1000))(w.t))
}

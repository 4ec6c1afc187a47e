package rpc_test

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/google/uuid"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// export returns all landmarks that ExportPois sends.
func (w *waybook) export(owner int64, category poiv1.PoiCategory) (all []*poiv1.ImportedPoi) {
	w.t.Helper()
	sent := must(collect(w.Poi.ExportPois(w.t.Context(), &poiv1.ExportPoisRequest{OwnerId: owner, Category: category})))(w.t)
	for _, batch := range sent {
		all = append(all, batch.GetPois()...)
	}
	return all
}

func expectExport(t *testing.T, got, want []*poiv1.ImportedPoi) {
	t.Helper()
	if !slices.EqualFunc(got, want, func(a, b *poiv1.ImportedPoi) bool { return proto.Equal(a, b) }) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

// somePois returns landmarks whose order does not follow from their keys, names or locations.
func somePois(count int) (pois []*poiv1.ImportedPoi) {
	for i := range count {
		place := &typev1.Location{Lat: 90 - float64(i*i%180), Lng: math.Nextafter(float64(i%360-180), 0)}
		pois = append(pois, &poiv1.ImportedPoi{
			Key: fmt.Sprint("鍵 ", i*7919%count), Name: fmt.Sprintf("\"%d\",\r\n<地標>", i%11),
			Category: poiv1.PoiCategory(1 + i%5), Location: place,
		})
	}
	return pois
}

// byKey returns the landmarks in the order of an export.
func byKey(pois []*poiv1.ImportedPoi) []*poiv1.ImportedPoi {
	return slices.SortedFunc(slices.Values(pois), func(a, b *poiv1.ImportedPoi) int { return cmp.Compare(a.GetKey(), b.GetKey()) })
}

func batchesOf(owner int64, size int, pois []*poiv1.ImportedPoi) (batches []*poiv1.ImportPoisRequest) {
	for chunk := range slices.Chunk(pois, size) {
		batches = append(batches, batchOf(owner, chunk...))
	}
	return batches
}

func TestAnExportIsInTheOrderOfOwnersAndKeysInEveryStoreOnEachStore(t *testing.T) {
	t.Parallel()
	elsewhere := start(t)
	onEachStore(t, func(t *testing.T, p *parts) {
		var owners []int64
		for range 6 {
			owners = append(owners, p.newUser("x"))
		}
		slices.Sort(owners)
		var everybodys []*poiv1.ImportedPoi
		for i, singles := range []int{1, 3, 120, 2, 0, 1} { // one of them has more than a page
			owner := owners[i]
			// Their keys begin with "poi:", and their requests are in another order.
			for k := range singles {
				p.kinds()[2].createWith(owner, fmt.Sprint("by request ", k), fields{"request_id": uuid.NewString()})
				p.newPoi(owner, fmt.Sprint("singly ", k))
			}
			pois := somePois(singles)
			for _, around := range []string{"po", "poi", "poi:", "poi:0", "poi:9", "poi;", "a", "~"} {
				pois = append(pois, importedPoi(around, "x"))
			}
			reply := must(p.importPois(t.Context(), batchOf(owner, pois...)))(t)
			expectImport(t, reply, int64(len(pois)), 0, 0)
			exported := p.export(owner, 0)
			expectExport(t, exported, byKey(exported))
			there := elsewhere.newUser("there")
			reply = must(elsewhere.importPois(t.Context(), batchesOf(there, 100, exported)...))(t)
			expectImport(t, reply, int64(len(pois)+2*singles), 0, 0)
			expectExport(t, elsewhere.export(there, 0), exported)
			everybodys = append(everybodys, exported...)
		}
		expectExport(t, p.export(0, 0), everybodys)
	})
}

func TestAnExportHasTheIdentifiersIfAskedFor(t *testing.T) {
	t.Parallel()
	w := start(t)
	a, b := w.newUser("a"), w.newUser("b")
	want := map[int64]int64{w.newPoi(a, "x"): a, w.newPoi(b, "x"): b}
	reply := must(w.importPois(t.Context(), batchOf(a, importedPoi("k", "x"))))(t)
	expectImport(t, reply, 1, 0, 0)
	want[w.thrills()[0]] = a

	sent, err := collect(w.Poi.ExportPois(t.Context(), &poiv1.ExportPoisRequest{WithIds: true}))
	owners := map[int64]int64{}
	var items []*poiv1.ImportedPoi
	for _, batch := range got(t, sent, err) {
		for _, item := range batch.GetPois() {
			owners[item.GetPoiId()] = item.GetOwnerId()
			if item.GetOwnerId() == a {
				items = append(items, item)
			}
		}
	}
	if !maps.Equal(owners, want) {
		t.Errorf("got the owners %v, want %v", owners, want)
	}
	// An import ignores them.
	reply = must(w.importPois(t.Context(), batchOf(b, items[0])))(t)
	expectImport(t, reply, 1, 0, 0)
	reply = must(w.importPois(t.Context(), batchOf(a, items...)))(t)
	expectImport(t, reply, 0, 2, 0)
	if len(w.export(a, 0)) != 2 || len(w.export(b, 0)) != 2 {
		t.Error("an import gave landmarks to the owner in the file")
	}
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

func TestAnExportFailsAsTheContractSays(t *testing.T) {
	t.Parallel()
	w := start(t)
	expectFault(t, failed(collect(w.Poi.ExportPois(t.Context(), &poiv1.ExportPoisRequest{OwnerId: -1, Category: 6}))),
		codes.InvalidArgument, "INVALID_PARAMETER", "owner_id", "category")
	expectFault(t, failed(collect(w.Poi.ExportPois(t.Context(), &poiv1.ExportPoisRequest{OwnerId: 1}))), codes.NotFound, "USER_NOT_FOUND")
}

// thrills returns the identifiers of the landmarks of the category of importedPoi.
func (w *waybook) thrills() []int64 {
	w.t.Helper()
	pois := w.kinds()[2]
	return pois.ids(must(pois.streamed(w.t.Context(), fields{"category": int(poiv1.PoiCategory_POI_CATEGORY_THRILL)}))(w.t))
}

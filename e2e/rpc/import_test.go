package rpc_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// importPois sends batches of landmarks.
func (w *waybook) importPois(ctx context.Context, batches ...*poiv1.ImportPoisRequest) (*poiv1.ImportPoisResponse, error) {
	stream, err := w.Poi.ImportPois(ctx)
	if err != nil {
		return nil, err
	}
	for _, batch := range batches {
		// If the service has ended the call, CloseAndRecv returns the cause.
		if stream.Send(batch) != nil {
			break
		}
	}
	return stream.CloseAndRecv()
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

func TestARepeatedImportReportsUnchangedLandmarks(t *testing.T) {
	t.Parallel()
	w := start(t)
	owner, other := w.newUser("a"), w.newUser("b")
	batches := func(owner int64) []*poiv1.ImportPoisRequest {
		var batches []*poiv1.ImportPoisRequest
		for b := range 3 {
			batch := batchOf(owner)
			for i := range 500 {
				batch.Pois = append(batch.Pois, importedPoi(fmt.Sprint(b, "-", i), fmt.Sprint("landmark ", i)))
			}
			batches = append(batches, batch)
		}
		return batches
	}
	for _, step := range []struct{ owner, created, unchanged int64 }{{owner, 1500, 0}, {owner, 0, 1500}, {other, 1500, 0}} {
		expectImport(t, must(w.importPois(t.Context(), batches(step.owner)...))(t), step.created, step.unchanged, 0)
	}
	if count := len(w.thrills()); count != 3000 {
		t.Errorf("%d landmarks", count)
	}
	expectImport(t, must(w.importPois(t.Context()))(t), 0, 0, 0)
}

func TestAnInvalidItemOfAnImportFailsAlone(t *testing.T) {
	t.Parallel()
	w := start(t)
	owner := w.newUser("a")
	moved := importedPoi("1", "one")
	moved.Location = &typev1.Location{Lat: 1, Lng: 2}
	reply := must(w.importPois(t.Context(),
		batchOf(owner, importedPoi("1", "one"), importedPoi("1", "one"), importedPoi("1", "other"), &poiv1.ImportedPoi{}),
		batchOf(owner, moved, importedPoi(strings.Repeat("中", 34), "two"), importedPoi("2", long(200))),
	))(t)
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

func TestAnImportListsTheFirstThousandFailuresAndCountsAll(t *testing.T) {
	t.Parallel()
	w := start(t)
	bad := batchOf(w.newUser("a"))
	for range 600 {
		bad.Pois = append(bad.Pois, importedPoi("", ""))
	}
	reply := must(w.importPois(t.Context(), bad, bad))(t)
	expectImport(t, reply, 0, 0, 1200)
	if failures := reply.GetFailures(); len(failures) != 1000 || failures[999].GetIndex() != 999 {
		t.Errorf("%d failures are listed", len(failures))
	}
}

func TestAnImportedLandmarkIsLikeAnyOther(t *testing.T) {
	t.Parallel()
	w := start(t)
	owner := w.newUser("a")
	reply := must(w.importPois(t.Context(), batchOf(owner, importedPoi("k", "x"))))(t)
	expectImport(t, reply, 1, 0, 0)
	p := must(w.Poi.ListPois(t.Context(), &poiv1.ListPoisRequest{Category: poiv1.PoiCategory_POI_CATEGORY_THRILL}))(t).GetPois()[0]
	if p.GetName() != "x" || p.GetOwner().GetUserId() != owner || !proto.Equal(p.GetLocation(), taipei) {
		t.Errorf("got %v", p)
	}
	// The key is free again after its landmark is deleted.
	must(w.Poi.DeletePoi(t.Context(), &poiv1.DeletePoiRequest{ActorId: owner, PoiId: p.GetPoiId()}))(t)
	reply = must(w.importPois(t.Context(), batchOf(owner, importedPoi("k", "y"))))(t)
	expectImport(t, reply, 1, 0, 0)
}

func TestAWholeImportFailsAsTheContractSays(t *testing.T) {
	t.Parallel()
	w, ctx := start(t), t.Context()
	owner, other := w.newUser("a"), w.newUser("b")
	item := importedPoi("1", "x")
	tooMany := batchOf(owner)
	for range 1001 {
		tooMany.Pois = append(tooMany.Pois, item)
	}
	expectFault(t, failed(w.importPois(ctx, batchOf(1, item))), codes.NotFound, "USER_NOT_FOUND")
	expectFault(t, failed(w.importPois(ctx, batchOf(0, item))), codes.InvalidArgument, "INVALID_PARAMETER", "owner_id")
	expectFault(t, failed(w.importPois(ctx, batchOf(owner))), codes.InvalidArgument, "INVALID_PARAMETER", "pois")
	expectFault(t, failed(w.importPois(ctx, tooMany)), codes.InvalidArgument, "INVALID_PARAMETER", "pois")
	badMode := batchOf(owner, item)
	badMode.Mode = 9
	expectFault(t, failed(w.importPois(ctx, badMode)), codes.InvalidArgument, "INVALID_PARAMETER", "mode")
	expectFault(t, failed(w.importPois(ctx, batchOf(owner, item), batchOf(1, item))), codes.NotFound, "USER_NOT_FOUND")
	// Landmarks of the earlier batch remain.
	reply := must(w.importPois(ctx, batchOf(owner, item)))(t)
	expectImport(t, reply, 0, 1, 0)
	reply = must(w.importPois(ctx, batchOf(owner, item), batchOf(other, item), batchOf(owner, item)))(t)
	expectImport(t, reply, 1, 2, 0)
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
		before, others := p.export(owner, 0), p.export(other, 0)
		ids := p.thrills()

		changed := append(pois("y"), importedPoi("new", "x"))
		send(batchOf(owner, changed...), refuse, true, 1, 0, 1, 3)
		send(batchOf(owner, changed...), update, true, 1, 3, 1, 0)
		expectExport(t, p.export(owner, 0), before)
		send(batchOf(owner, changed...), update, false, 1, 3, 1, 0)
		expectExport(t, p.export(owner, 0), byKey(changed))
		expectExport(t, p.export(other, 0), others)
		send(batchOf(owner, changed...), update, false, 0, 0, 5, 0)
		// They are the same landmarks, and are found where they are now.
		for _, poiID := range append(ids, single) {
			p.getPoi(poiID)
		}
		near := must(p.Poi.SearchNearby(t.Context(), &poiv1.SearchNearbyRequest{
			Area: &poiv1.SearchNearbyRequest_Circle{Circle: &typev1.Circle{Center: &typev1.Location{Lat: -1, Lng: 2}}},
		}))(t)
		if found := near.GetPois(); len(found) != 1 || !slices.Contains(ids, found[0].GetPoi().GetPoiId()) {
			t.Errorf("nearby there are %v", found)
		}
	})
}

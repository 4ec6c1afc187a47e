package poi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/google/uuid"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/docstore/observed"
	"github.com/waybook/waybook/internal/id"
)

// own returns landmarks that were not imported, half of them created by requests with an id.
func (s *server) own(t *testing.T, owner int64, count int) []poi {
	t.Helper()
	pois := make([]poi, count)
	for i := range pois {
		request, place := uuid.NewString(), id.AnyPlace()
		if i%2 == 0 {
			place = id.PlaceOfKey(owner, request)
		}
		poiID, err := s.ids.Next(place, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		if i%2 == 1 {
			request = fmt.Sprint("#", poiID)
		}
		pois[i] = poi{ID: poiID, OwnerID: owner, RequestKey: docstore.OwnedKey(owner, request)}
	}
	return pois
}

func TestFewIdentifiersInMemoryAreEnoughForTheOrderOfKeys(t *testing.T) {
	s := newServer(t)
	const count = 300
	s.store(t, slices.Concat(s.own(t, 7, count), s.own(t, 6, 1), s.own(t, 8, 1)))
	for _, kept := range []int{1, 7, count / 3, count - 1, count, count + 1} {
		var keys []string
		for p, err := range s.ofOwner(t.Context(), 7, kept) {
			if err != nil {
				t.Fatal(err)
			}
			keys = append(keys, exportKey(p))
		}
		if len(keys) != count || !slices.IsSorted(keys) {
			t.Errorf("with %d identifiers in memory there are %d landmarks, in order: %v", kept, len(keys), slices.IsSorted(keys))
		}
	}
}

func TestAnExportOfSmallOwnersReadsPagesOfMany(t *testing.T) {
	scans := 0
	s := newObservedServer(t, func(call observed.Call) {
		if call.Verb == "scan" {
			scans++
		}
	})
	const owners = 500
	var pois []poi
	for owner := range int64(owners) {
		pois = append(pois, s.own(t, owner+1, 2)...)
	}
	s.store(t, pois)
	scans = 0
	count := 0
	for _, err := range s.inKeyOrder(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		count++
	}
	if count != 2*owners || scans > 10 {
		t.Errorf("%d landmarks were read in %d scans", count, scans)
	}
}

func TestAReaderMayLeaveAnExportAndACancelledOneFails(t *testing.T) {
	s := newServer(t)
	s.store(t, slices.Concat(s.own(t, 1, 3), s.own(t, 2, 250)))
	for stop := range 253 {
		count := 0
		for _, err := range s.inKeyOrder(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			if count == stop {
				break
			}
			count++
		}
	}
	for _, owner := range []int64{0, 2} {
		ctx, cancel := context.WithCancel(t.Context())
		failed := error(nil)
		count := 0
		for _, err := range s.inKeyOrder(ctx, owner) {
			cancel()
			count, failed = count+1, err
		}
		cancel()
		if !errors.Is(failed, context.Canceled) || count > 250 {
			t.Errorf("owner %d: %v after %d landmarks", owner, failed, count)
		}
	}
}

func TestNumbersAreInTheOrderOfTheirDigits(t *testing.T) {
	some := []int64{0, 1, 9, 10, 19, 100, 11, 2, id.Max, id.Max - 1, id.Max / 10}
	for range 1000 {
		some = append(some, rand.Int64N(id.Max)>>rand.N(53))
	}
	for _, a := range some {
		for _, b := range some {
			want := cmp.Compare(strconv.FormatInt(a, 10), strconv.FormatInt(b, 10))
			if a == 0 || b == 0 {
				want = cmp.Compare(a, b) // 0 stands for the beginning
			}
			if got := compareDecimals(a, b); got != want {
				t.Fatalf("%d and %d compare as %d", a, b, got)
			}
		}
	}
}

package nearby

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/golang/geo/s2"

	"github.com/waybook/waybook/internal/docstore"
)

// scatter returns points all over the world, and some at the poles and on the antimeridian.
func scatter(random *rand.Rand, count int) []point {
	points := make([]point, count)
	for i := range points {
		lat, lng := math.Asin(2*random.Float64()-1)*180/math.Pi, 360*random.Float64()-180
		switch random.IntN(12) {
		case 0:
			lat = 90 - 180*float64(random.IntN(2))
		case 1:
			lng = 180 - 360*float64(random.IntN(2))
		case 2, 3, 4: // close to the one before
			before := points[max(0, i-1)]
			lat, lng = max(-90, min(90, before.lat+random.NormFloat64()*1e-4)), math.Remainder(before.lng+random.NormFloat64()*1e-4, 360)
		}
		points[i] = pointAt(lat, lng)
	}
	return points
}

func TestDistancesMatchVectorsOnTheSphere(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	places := scatter(random, 2000)
	vector := func(p point) s2.Point { return s2.PointFromLatLng(s2.LatLngFromDegrees(p.lat, p.lng)) }
	for i := range places[1:] {
		a, b := places[i], places[i+1]
		want := float64(vector(a).Distance(vector(b))) * earthRadius
		if want > 19_000_000 {
			// Close to the antipode the formula loses digits, but no search reaches that
			// far.
			continue
		}
		if got := distance(a, b); math.Abs(got-want) > 1e-6*max(1, want/1000) {
			t.Errorf("from %v to %v: %v, want %v", a, b, got, want)
		}
	}
}

func TestEqualPlacesAreEqualPoints(t *testing.T) {
	for _, pair := range [][2]point{
		{pointAt(90, 12), pointAt(90, -170)}, {pointAt(-90, 180), pointAt(-90, 0)}, {pointAt(25, 180), pointAt(25, -180)},
		{pointAt(0, math.Copysign(0, -1)), pointAt(0, 0)},
	} {
		if away := distance(pair[0], pair[1]); away != 0 || pair[0] != pair[1] {
			t.Errorf("%v and %v are %v apart", pair[0], pair[1], away)
		}
	}
	if d := distance(pointAt(0, 179.5), pointAt(0, -179.5)); math.Abs(d-earthRadius*math.Pi/180) > 1e-6 {
		t.Errorf("a degree across the antimeridian is %v", d)
	}
}

func TestABoxHoldsItsEdgesAndNothingBeyond(t *testing.T) {
	crossing := Box{south: -1, west: 179, north: 1, east: -179}
	arctic := Box{south: 88, west: 10, north: 90, east: 12}
	for _, test := range []struct {
		box      Box
		lat, lng float64
		want     bool
	}{
		{Box{0, 0, 1, 1}, 0, 0, true},
		{Box{0, 0, 1, 1}, 1, 1, true},
		{Box{0, 0, 1, 1}, math.Nextafter(1, 2), 1, false},
		{Box{0, 0, 1, 1}, 1, math.Nextafter(1, 2), false},
		{Box{0, 0, 0, 0}, 0, 0, true},
		{crossing, 0, 179, true},
		{crossing, 0, -179, true},
		{crossing, 0, 180, true},
		{crossing, 0, -180, true},
		{crossing, 0, 178.9, false},
		{crossing, 0, -178.9, false},
		{crossing, 0, 0, false},
		{Box{0, 175, 1, 180}, 0.5, -180, true},
		{Box{0, -180, 1, -175}, 0.5, 180, true},
		{Box{0, 180, 1, -180}, 0.5, 180, true},
		{Box{0, 180, 1, -180}, 0.5, 179.9, false},
		{Box{0, 170, 1, 175}, 0.5, 180, false},
		{arctic, 90, -77, true},
		{arctic, 89.999, 11, true},
		{arctic, 89.999, -77, false},
		{Box{-90, 10, -88, 12}, -90, -180, true},
		{Box{88, 10, 89, 12}, 90, 11, false},
	} {
		if _, got := test.box.Locate(test.lat, test.lng); got != test.want {
			t.Errorf("%v holds %v, %v: %v", test.box, test.lat, test.lng, got)
		}
	}
}

// No document of a circle lies outside the cells that a search reads, or far from its own.
func FuzzNoPlaceOfACircleIsOutsideItsCells(f *testing.F) {
	f.Add(25.03, 121.56, 500.0, 25.031, 121.561)
	f.Add(-90.0, 180.0, 20_000.0, -89.99, -180.0)
	f.Add(0.0, -180.0, 1e5, 0.0, 180.0)
	f.Add(89.99999, 10.0, 1.2, 90.0, 0.0)
	f.Fuzz(func(t *testing.T, lat, lng, radius, placeLat, placeLng float64) {
		for _, degrees := range []float64{lat, placeLat} {
			if !(degrees >= -90 && degrees <= 90) {
				return
			}
		}
		for _, degrees := range []float64{lng, placeLng} {
			if !(degrees >= -180 && degrees <= 180) {
				return
			}
		}
		if !(radius >= 0 && radius <= 1e5) {
			return
		}
		circle := Circle{pointAt(lat, lng), pointAt(lat, lng).onSphere(), radius}
		away, isInside := circle.Locate(placeLat, placeLng)
		if !isInside {
			return
		}
		leaf := CellOf(placeLat, placeLng)
		if cells := covering(circle.within(radius+slack), fewCells); !cells.ContainsCellID(cellID(leaf)) {
			t.Errorf("%+v: %v, %v, %v away, is outside of all cells", circle, placeLat, placeLng, away)
		}
		if ofCell := float64(circle.center.Distance(cellID(leaf).Point())) * earthRadius; math.Abs(ofCell-away) > cellError/2 {
			t.Errorf("%+v: %v, %v is %v away, and its cell %v", circle, placeLat, placeLng, away, ofCell)
		}
	})
}

var world = Box{south: -90, west: -180, north: 90, east: 180}

// A token is either rejected as bad or read as a position that produces the same token
// again.
func FuzzParseToken(f *testing.F) {
	s, other := search[int]{area: world}, search[int]{area: world, Query: Query{Filter: Filter{Category: 1}}}
	key := Key{Cell: CellOf(25, 121), Day: 20260501, Category: 3, ID: 7}
	for _, seed := range []string{
		s.tokenOf(position{0, key}), s.tokenOf(position{12345, Key{ID: math.MaxInt64}}), other.tokenOf(position{0, key}),
		s.tokenOf(position{away: -1}), s.tokenOf(position{away: 1e9}),
	} {
		raw, err := docstore.DecodeToken(seed)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
		f.Add(raw[:len(raw)-1])
		f.Add(append(raw, 0))
	}
	if p, err := s.parse(""); p != nil || err != nil {
		f.Errorf("no token is %v, %v", p, err)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		token := docstore.EncodeToken(raw)
		p, err := s.parse(token)
		switch {
		case err != nil:
			if !errors.Is(err, docstore.ErrBadToken) {
				t.Fatalf("got error %v", err)
			}
		case s.tokenOf(*p) != token || p.away < 0:
			t.Fatalf("%q was read as %v", token, p)
		}
	})
}

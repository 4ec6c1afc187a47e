package nearby

import (
	"math"

	"github.com/golang/geo/r1"
	"github.com/golang/geo/s1"
	"github.com/golang/geo/s2"
)

// slack is how far, in metres, cells extend beyond a ring. So rounding never leaves out a
// document that the exact distance or edge includes. It is far more than rounding needs,
// and small compared with any search.
const slack = 0.1

// boxSlack is the slack for the edges of a box, in degrees.
const boxSlack = 1e-5

// ring is the part of an area that is more than inner and at most outer metres from its
// middle. It is an s2.Region that may include slightly more.
type ring struct {
	inner, outer s2.Cap
	// rect bounds the area's box; it is the whole sphere without one.
	rect s2.Rect
}

func (a Area) ring(inner, outer float64) ring {
	middle := a.middle.onSphere()
	r := ring{inner: s2.EmptyCap(), outer: capAround(middle, outer+slack), rect: s2.FullRect()}
	if inner > slack {
		r.inner = capAround(middle, inner-slack)
	}
	if a.box != nil {
		r.rect = a.box.rect()
	}
	return r
}

// onSphere returns the point on the unit sphere.
func (p point) onSphere() s2.Point { return s2.PointFromLatLng(s2.LatLngFromDegrees(p.lat, p.lng)) }

func capAround(middle s2.Point, radius float64) s2.Cap {
	return s2.CapFromCenterAngle(middle, s1.Angle(radius/earthRadius))
}

// rect returns the box, slightly enlarged. Near a pole it includes all longitudes.
func (b Box) rect() s2.Rect { return b.enlarged().PolarClosure() }

// enlarged returns the box, slightly enlarged.
func (b Box) enlarged() s2.Rect {
	radians := func(degrees float64) float64 { return degrees * math.Pi / 180 }
	turn := func(degrees float64) float64 { return radians(math.Remainder(degrees, 360)) }
	lng := s1.FullInterval()
	if b.width()+2*boxSlack < 360 {
		lng = s1.IntervalFromEndpoints(turn(b.west-boxSlack), turn(b.east+boxSlack))
	}
	return s2.Rect{
		Lat: r1.Interval{Lo: radians(max(b.south-boxSlack, -90)), Hi: radians(min(b.north+boxSlack, 90))},
		Lng: lng,
	}
}

const (
	// fewCells cover a wide ring, manyCells a thin or a crowded one. A few large cells would
	// lie mostly outside of a thin ring, while each cell costs a seek.
	fewCells, manyCells = 16, 256
)

// cells returns a set of cells that covers the ring, and possibly more: about maxCells,
// and more for a thin ring.
func (r ring) cells(maxCells int) cellSet {
	if outer := float64(r.outer.Radius()); !r.inner.IsEmpty() {
		thin := 8 * outer / (outer - float64(r.inner.Radius()))
		maxCells = int(min(max(float64(maxCells), thin), manyCells))
	}
	coverer := s2.RegionCoverer{MaxLevel: 30, LevelMod: 1, MaxCells: maxCells}
	return cellsOf(coverer.Covering(r))
}

// CapBound returns the outer circle.
func (r ring) CapBound() s2.Cap { return r.outer }

// RectBound returns a rectangle around the outer circle.
func (r ring) RectBound() s2.Rect { return r.outer.RectBound() }

// ContainsCell reports whether all of a cell is in the ring.
func (r ring) ContainsCell(c s2.Cell) bool {
	return r.outer.ContainsCell(c) && !r.inner.IntersectsCell(c) && (r.rect.IsFull() || r.rect.Contains(c.RectBound()))
}

// IntersectsCell reports whether part of a cell may be in the ring.
func (r ring) IntersectsCell(c s2.Cell) bool {
	return r.outer.IntersectsCell(c) && !r.inner.ContainsCell(c) && (r.rect.IsFull() || r.rect.Intersects(c.RectBound()))
}

// ContainsPoint reports whether a point is in the ring.
func (r ring) ContainsPoint(p s2.Point) bool {
	return r.outer.ContainsPoint(p) && !r.inner.ContainsPoint(p) && r.rect.ContainsPoint(p)
}

// CellUnionBound covers the outer circle with a few cells.
func (r ring) CellUnionBound() []s2.CellID { return r.outer.CellUnionBound() }

var _ s2.Region = ring{}

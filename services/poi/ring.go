package poi

import (
	"math"

	"github.com/golang/geo/r1"
	"github.com/golang/geo/s1"
	"github.com/golang/geo/s2"
)

// slack is how far, in metres, cells extend beyond a ring. So rounding never leaves out a
// landmark that the exact distance or edge includes. It is far more than rounding needs,
// and small compared with any search.
const slack = 0.1

// boxSlack is the slack for the edges of a box, in degrees.
const boxSlack = 1e-5

// cellOf returns the S2 leaf cell of a place as an integer with the same order. Cells that
// are close in that order are mostly close on the map.
func cellOf(lat, lng float64) int64 {
	return sortable(s2.CellIDFromLatLng(s2.LatLngFromDegrees(lat, lng)))
}

func sortable(cell s2.CellID) int64 { return int64(uint64(cell) ^ 1<<63) }

// cells is a range of leaf cells, including both ends.
type cells struct{ from, to int64 }

// ring is the part of an area that is more than inner and at most outer metres from its
// middle. It is an s2.Region that may include slightly more.
type ring struct {
	inner, outer s2.Cap
	// rect bounds the area's box; it is the whole sphere without one.
	rect s2.Rect
}

func (a area) ring(inner, outer float64) ring {
	middle := s2.PointFromLatLng(s2.LatLngFromDegrees(a.middle.lat, a.middle.lng))
	r := ring{inner: s2.EmptyCap(), outer: capAround(middle, outer+slack), rect: s2.FullRect()}
	if inner > slack {
		r.inner = capAround(middle, inner-slack)
	}
	if a.box != nil {
		r.rect = a.box.rect()
	}
	return r
}

func capAround(middle s2.Point, radius float64) s2.Cap {
	return s2.CapFromCenterAngle(middle, s1.Angle(radius/earthRadius))
}

// rect returns the box, slightly enlarged. Near a pole it includes all longitudes.
func (b box) rect() s2.Rect {
	radians := func(degrees float64) float64 { return degrees * math.Pi / 180 }
	turn := func(degrees float64) float64 { return radians(math.Remainder(degrees, 360)) }
	return s2.Rect{
		Lat: r1.Interval{Lo: radians(max(b.south-boxSlack, -90)), Hi: radians(min(b.north+boxSlack, 90))},
		Lng: s1.IntervalFromEndpoints(turn(b.west-boxSlack), turn(b.east+boxSlack)),
	}.PolarClosure()
}

// cells returns ranges of cells that cover the ring, and possibly more.
func (r ring) cells() []cells {
	coverer := s2.RegionCoverer{MaxLevel: 30, LevelMod: 1, MaxCells: r.maxCells()}
	var ranges []cells
	for _, cell := range coverer.Covering(r) {
		next := cells{from: sortable(cell.RangeMin()), to: sortable(cell.RangeMax())}
		// The numbers of adjacent leaf cells differ by two.
		if last := len(ranges) - 1; last >= 0 && ranges[last].to+2 == next.from {
			ranges[last].to = next.to
			continue
		}
		ranges = append(ranges, next)
	}
	return ranges
}

// maxCells returns more cells for a thinner ring. A few large cells would lie mostly
// outside of it, while each cell costs a read.
func (r ring) maxCells() int {
	const few, many = 16, 256
	if r.inner.IsEmpty() {
		return few
	}
	outer := float64(r.outer.Radius())
	return int(min(max(few, 8*outer/(outer-float64(r.inner.Radius()))), many))
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

package nearby

import (
	"math"

	"github.com/golang/geo/r1"
	"github.com/golang/geo/s1"
	"github.com/golang/geo/s2"

	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// earthRadius is the mean radius of the Earth in metres. Distances are those on a sphere of
// that radius.
const earthRadius = 6371008.8

// point is a place on the map, in degrees. The poles have longitude 0 and the antimeridian
// has 180, so equal places are equal points.
type point struct{ lat, lng float64 }

func pointAt(lat, lng float64) point {
	switch {
	case math.Abs(lat) == 90:
		lng = 0
	case lng == -180:
		lng = 180
	}
	return point{lat, lng}
}

// distance returns the distance of two points along the surface, in metres.
func distance(a, b point) float64 {
	// The haversine formula is exact for small distances. Differences are taken in degrees,
	// which loses no digits, even across the antimeridian.
	const degree = math.Pi / 180
	north := math.Sin((a.lat - b.lat) * degree / 2)
	east := math.Sin(math.Remainder(a.lng-b.lng, 360) * degree / 2)
	h := north*north + math.Cos(a.lat*degree)*math.Cos(b.lat*degree)*east*east
	return 2 * earthRadius * math.Asin(math.Sqrt(min(1, h)))
}

// Circle is the area of a search: all points within radius, in metres, of its middle.
type Circle struct {
	middle point
	radius float64
}

// CircleOf returns the circle of a request.
func CircleOf(c *typev1.Circle) Circle {
	return Circle{middle: pointAt(c.GetCenter().GetLat(), c.GetCenter().GetLng()), radius: c.GetRadiusMeters()}
}

// Box is the set of points between two parallels and two meridians, in degrees. It crosses the
// antimeridian when west is greater than east. A pole is on every meridian.
type Box struct{ south, west, north, east float64 }

// NewBox returns a box.
func NewBox(south, west, north, east float64) Box { return Box{south, west, north, east} }

// BoxOf returns the box of a request.
func BoxOf(b *typev1.Box) Box {
	return NewBox(b.GetSouth(), b.GetWest(), b.GetNorth(), b.GetEast())
}

// Holds reports whether a place is in the box, or on its edge.
func (b Box) Holds(lat, lng float64) bool { return b.holds(pointAt(lat, lng)) }

// width returns how many degrees of longitude the box spans.
func (b Box) width() float64 {
	if b.west > b.east {
		return b.east - b.west + 360
	}
	return b.east - b.west
}

// Locate returns a place's distance from the middle in metres, and whether it is in the circle.
func (c Circle) Locate(lat, lng float64) (away float64, isInside bool) {
	away = distance(c.middle, pointAt(lat, lng))
	return away, away <= c.radius
}

func (b Box) holds(p point) bool {
	if p.lat < b.south || p.lat > b.north {
		return false
	}
	if math.Abs(p.lat) == 90 {
		// All meridians meet at a pole.
		return true
	}
	return b.holdsLng(p.lng) || p.lng == 180 && b.holdsLng(-180)
}

func (b Box) holdsLng(lng float64) bool {
	if b.west <= b.east {
		return b.west <= lng && lng <= b.east
	}
	return lng >= b.west || lng <= b.east
}

// slack is how far, in metres, cells extend beyond a ring. So rounding never leaves out a
// document that the exact distance or edge includes. It is far more than rounding needs,
// and small compared with any search.
const slack = 0.1

// boxSlack is the slack for the edges of a box, in degrees.
const boxSlack = 1e-5

// ring is the part of a circle that is more than inner and at most outer metres from its
// middle. It is an s2.Region that may include slightly more.
type ring struct{ inner, outer s2.Cap }

func (c Circle) ring(inner, outer float64) ring {
	middle := c.middle.onSphere()
	r := ring{inner: s2.EmptyCap(), outer: capAround(middle, outer+slack)}
	if inner > slack {
		r.inner = capAround(middle, inner-slack)
	}
	return r
}

// onSphere returns the point on the unit sphere.
func (p point) onSphere() s2.Point { return s2.PointFromLatLng(s2.LatLngFromDegrees(p.lat, p.lng)) }

func capAround(middle s2.Point, radius float64) s2.Cap {
	return s2.CapFromCenterAngle(middle, s1.Angle(radius/earthRadius))
}

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
	return r.outer.ContainsCell(c) && !r.inner.IntersectsCell(c)
}

// IntersectsCell reports whether part of a cell may be in the ring.
func (r ring) IntersectsCell(c s2.Cell) bool {
	return r.outer.IntersectsCell(c) && !r.inner.ContainsCell(c)
}

// ContainsPoint reports whether a point is in the ring.
func (r ring) ContainsPoint(p s2.Point) bool {
	return r.outer.ContainsPoint(p) && !r.inner.ContainsPoint(p)
}

// CellUnionBound covers the outer circle with a few cells.
func (r ring) CellUnionBound() []s2.CellID { return r.outer.CellUnionBound() }

var _ s2.Region = ring{}

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

// onSphere returns the point on the unit sphere.
func (p point) onSphere() s2.Point { return s2.PointFromLatLng(s2.LatLngFromDegrees(p.lat, p.lng)) }

// area is where a search looks.
type area interface {
	// Locate returns a place's distance from the middle in metres, and whether the place is in the
	// area.
	Locate(lat, lng float64) (away float64, isInside bool)
	// positionOf returns the position of a document in the order of the search.
	positionOf(Key) position
}

// Circle is the area of all points within radius, in metres, of its middle.
type Circle struct {
	middle point
	center s2.Point // the middle on the sphere
	radius float64
}

// CircleOf returns the circle of a request.
func CircleOf(c *typev1.Circle) Circle {
	middle := pointAt(c.GetCenter().GetLat(), c.GetCenter().GetLng())
	return Circle{middle, middle.onSphere(), c.GetRadiusMeters()}
}

// Locate implements area.
func (c Circle) Locate(lat, lng float64) (away float64, isInside bool) {
	away = distance(c.middle, pointAt(lat, lng))
	return away, away <= c.radius
}

// Documents in a circle are in the order of the distances of their cells, to a tenth of a metre,
// then in that of the index.
func (c Circle) positionOf(k Key) position {
	away := float64(c.center.Distance(cellID(k.Cell).Point())) * earthRadius
	return position{int64(math.Round(10 * away)), k}
}

// slack is how far, in metres, cells extend beyond a circle. So rounding never leaves out a
// document that the exact distance includes. It is far more than rounding needs, and small
// compared with any search.
const slack = 0.1

// within returns the part of a circle within a radius.
func (c Circle) within(radius float64) s2.Cap {
	return s2.CapFromCenterAngle(c.center, s1.Angle(radius/earthRadius))
}

// Box is the set of points between two parallels and two meridians, in degrees. It crosses the
// antimeridian when west is greater than east. A pole is on every meridian.
type Box struct{ south, west, north, east float64 }

// BoxOf returns the box of a request.
func BoxOf(b *typev1.Box) Box {
	return Box{south: b.GetSouth(), west: b.GetWest(), north: b.GetNorth(), east: b.GetEast()}
}

// Locate implements area. A box has no middle, and its edge is inside.
func (b Box) Locate(lat, lng float64) (away float64, isInside bool) {
	p := pointAt(lat, lng)
	isPole := math.Abs(p.lat) == 90
	return 0, p.lat >= b.south && p.lat <= b.north && (isPole || b.holdsLng(p.lng) || p.lng == 180 && b.holdsLng(-180))
}

func (b Box) holdsLng(lng float64) bool {
	if b.west <= b.east {
		return b.west <= lng && lng <= b.east
	}
	return lng >= b.west || lng <= b.east
}

// Documents in a box are in the order of the index.
func (Box) positionOf(k Key) position { return position{0, k} }

// enlarged returns the box, enlarged by more than rounding needs.
func (b Box) enlarged() s2.Rect {
	const more = 1e-5 // degrees
	radians := func(degrees float64) float64 { return degrees * math.Pi / 180 }
	turn := func(degrees float64) float64 { return radians(math.Remainder(degrees, 360)) }
	width, lng := b.east-b.west, s1.FullInterval()
	if width < 0 {
		width += 360
	}
	if width+2*more < 360 {
		lng = s1.IntervalFromEndpoints(turn(b.west-more), turn(b.east+more))
	}
	return s2.Rect{
		Lat: r1.Interval{Lo: radians(max(b.south-more, -90)), Hi: radians(min(b.north+more, 90))},
		Lng: lng,
	}
}

// cells covers the box, and possibly more, with about so many cells. A pole in the box is
// covered by itself, because its documents may have any longitude.
func (b Box) cells(about int) s2.CellUnion {
	all := covering(b.enlarged(), about)
	for _, lat := range [...]float64{-90, 90} {
		if b.south <= lat && lat <= b.north {
			all = s2.CellUnionFromUnion(all, covering(Circle{center: point{lat: lat}.onSphere()}.within(slack), about))
		}
	}
	return all
}

// mayHold reports whether a document in a cell may be in a box, which was enlarged. Close to a
// pole, a cell has many longitudes.
func mayHold(enlarged s2.Rect, cell int64) bool {
	const closeToPole = 89 * math.Pi / 180
	at := cellID(cell).LatLng()
	return enlarged.ContainsLatLng(at) ||
		math.Abs(float64(at.Lat)) > closeToPole && enlarged.Lat.Contains(float64(at.Lat))
}

// covering covers a region, and possibly more, with about so many cells.
func covering(region s2.Region, about int) s2.CellUnion {
	coverer := s2.RegionCoverer{MaxLevel: 30, LevelMod: 1, MaxCells: about}
	return coverer.Covering(region)
}

package nearby

import (
	"math"

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

// Area is the area of a search.
type Area struct {
	// middle is the point from which distances are measured. No point of the area is
	// farther from it than radius, in metres.
	middle point
	radius float64
	// box is nil when the area is the whole circle.
	box *Box
}

// Box is the set of points between two parallels and two meridians, in degrees. It crosses the
// antimeridian when west is greater than east. A pole is on every meridian.
type Box struct{ south, west, north, east float64 }

// NewBox returns a box.
func NewBox(south, west, north, east float64) Box { return Box{south, west, north, east} }

// BoxOf returns the box of a request.
func BoxOf(b interface {
	GetSouth() float64
	GetWest() float64
	GetNorth() float64
	GetEast() float64
}) Box {
	return NewBox(b.GetSouth(), b.GetWest(), b.GetNorth(), b.GetEast())
}

// Holds reports whether a place is in the box, or on its edge.
func (b Box) Holds(lat, lng float64) bool { return b.holds(pointAt(lat, lng)) }

// Circle returns all points within a distance in metres of a point.
func Circle(lat, lng, radius float64) Area { return Area{middle: pointAt(lat, lng), radius: radius} }

// AreaOf returns the area of a request, which has a circle or a box.
func AreaOf(request interface {
	GetCircle() *typev1.Circle
	GetBox() *typev1.Box
}) Area {
	if c := request.GetCircle(); c != nil {
		return Circle(c.GetCenter().GetLat(), c.GetCenter().GetLng(), c.GetRadiusMeters())
	}
	return BoxOf(request.GetBox()).Area()
}

// Area returns the box as an area. It must span a few degrees at most.
func (b Box) Area() Area {
	middle := pointAt((b.south+b.north)/2, math.Remainder(b.west+b.width()/2, 360))
	// In a box of a few degrees, no point is farther from the middle than a corner.
	radius := max(
		distance(middle, pointAt(b.south, b.west)), distance(middle, pointAt(b.south, b.east)),
		distance(middle, pointAt(b.north, b.west)), distance(middle, pointAt(b.north, b.east)),
	)
	return Area{middle: middle, radius: radius + slack, box: &b}
}

// width returns how many degrees of longitude the box spans.
func (b Box) width() float64 {
	if b.west > b.east {
		return b.east - b.west + 360
	}
	return b.east - b.west
}

// Locate returns a place's distance from the middle in metres, and whether it is in the area.
func (a Area) Locate(lat, lng float64) (away float64, isInside bool) {
	place := pointAt(lat, lng)
	away = distance(a.middle, place)
	return away, a.holds(place, away)
}

// holds reports whether a point at a distance from the middle is in the area.
func (a Area) holds(p point, distance float64) bool {
	if distance > a.radius {
		return false
	}
	return a.box == nil || a.box.holds(p)
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

package poi

import (
	"math"

	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
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

// area is the area of a search.
type area struct {
	// middle is the point from which distances are measured. No point of the area is
	// farther from it than radius, in metres.
	middle point
	radius float64
	// box is nil when the area is the whole circle.
	box *box
}

// box is the set of points between two parallels and two meridians. It crosses the
// antimeridian when west is greater than east.
type box struct{ south, west, north, east float64 }

func areaOf(request *poiv1.SearchNearbyRequest) area {
	if circle := request.GetCircle(); circle != nil {
		center := circle.GetCenter()
		return area{middle: pointAt(center.GetLat(), center.GetLng()), radius: circle.GetRadiusMeters()}
	}
	b := request.GetBox()
	return areaOfBox(box{south: b.GetSouth(), west: b.GetWest(), north: b.GetNorth(), east: b.GetEast()})
}

func areaOfBox(b box) area {
	middle := pointAt((b.south+b.north)/2, math.Remainder(b.west+b.width()/2, 360))
	// In a box of a few degrees, no point is farther from the middle than a corner.
	radius := max(
		distance(middle, pointAt(b.south, b.west)), distance(middle, pointAt(b.south, b.east)),
		distance(middle, pointAt(b.north, b.west)), distance(middle, pointAt(b.north, b.east)),
	)
	return area{middle: middle, radius: radius + slack, box: &b}
}

// width returns how many degrees of longitude the box spans.
func (b box) width() float64 {
	if b.west > b.east {
		return b.east - b.west + 360
	}
	return b.east - b.west
}

// holds reports whether a point at a distance from the middle is in the area.
func (a area) holds(p point, distance float64) bool {
	if distance > a.radius {
		return false
	}
	return a.box == nil || a.box.holds(p)
}

func (b box) holds(p point) bool {
	if p.lat < b.south || p.lat > b.north {
		return false
	}
	if math.Abs(p.lat) == 90 {
		// All meridians meet at a pole.
		return true
	}
	return b.holdsLng(p.lng) || p.lng == 180 && b.holdsLng(-180)
}

func (b box) holdsLng(lng float64) bool {
	if b.west <= b.east {
		return b.west <= lng && lng <= b.east
	}
	return lng >= b.west || lng <= b.east
}

package operation

import (
	"github.com/waybook/waybook/edge/form"
	"github.com/waybook/waybook/edge/reply"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

func requiredLocation(in *Input) *typev1.Location {
	return &typev1.Location{
		Lat: required(in, &paramLat, "location.lat", form.Decimal),
		Lng: required(in, &paramLng, "location.lng", form.Decimal),
	}
}

// writeLocation writes the location of an album, a blog or a landmark (rule 4.2).
func writeLocation(out reply.Writer, location *typev1.Location) {
	out.Begin("Location")
	out.Decimal("lat", location.GetLat())
	out.Decimal("lng", location.GetLng())
	out.End("Location")
}

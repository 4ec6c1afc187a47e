package edge

import typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"

func requiredLocation(in *input) *typev1.Location {
	return &typev1.Location{
		Lat: required(in, &paramLat, asDecimal),
		Lng: required(in, &paramLng, asDecimal),
	}
}

// writeLocation: contract 2.2, for albums, blogs and landmarks alike.
func writeLocation(out reply, location *typev1.Location) {
	out.begin("Location")
	out.decimal("lat", location.GetLat())
	out.decimal("lng", location.GetLng())
	out.end("Location")
}

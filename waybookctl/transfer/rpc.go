package transfer

import (
	"fmt"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
	"github.com/waybook/waybook/waybookctl/landmarkfile"
)

func imported(p landmarkfile.Place) *poiv1.ImportedPoi {
	return &poiv1.ImportedPoi{
		Key: p.Key, Name: p.Name, Category: poiv1.PoiCategory(p.Category),
		Location: &typev1.Location{Lat: p.Lat, Lng: p.Lng},
	}
}

func exported(p *poiv1.ImportedPoi) landmarkfile.Place {
	return landmarkfile.Place{
		Key: p.GetKey(), Name: p.GetName(), Category: landmarkfile.Category(p.GetCategory()),
		Lat: p.GetLocation().GetLat(), Lng: p.GetLocation().GetLng(),
		OwnerID: p.GetOwnerId(), PoiID: p.GetPoiId(),
	}
}

// mayPass reports whether a retry of a failed call may succeed.
func mayPass(err error) bool {
	switch status.Code(err) {
	case codes.Unavailable, codes.DeadlineExceeded, codes.Aborted:
		return true
	}
	return false
}

// explained adds an explanation for people to a failed call.
func explained(err error) error {
	switch status.Code(err) {
	case codes.Unavailable:
		return fmt.Errorf("the service can't be reached or can't reach its store: %w", err)
	case codes.DeadlineExceeded:
		return fmt.Errorf("the service did not answer in time: %w", err)
	}
	return fmt.Errorf("the service refused: %w", err)
}

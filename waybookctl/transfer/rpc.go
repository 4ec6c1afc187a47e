package transfer

import (
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

package poi

import (
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/waybook/waybook/internal/content/aliases"
	"github.com/waybook/waybook/internal/content/profiles"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

func poiProto(p poi, owner profiles.Profile) *poiv1.Poi {
	return &poiv1.Poi{
		PoiId:      p.ID,
		Owner:      owner.Proto(p.OwnerID),
		Name:       p.Name,
		Category:   poiv1.PoiCategory(p.Category),
		Location:   &typev1.Location{Lat: p.Lat, Lng: p.Lng},
		CreateTime: timestamppb.New(p.CreateTime),
		UpdateTime: timestamppb.New(p.UpdateTime),
		Score:      p.Score + p.UnnamedScore,
		OldId:      aliases.OldID(p.ID, p.RequestKey),
	}
}

func photoProto(p photo) *poiv1.Photo {
	return &poiv1.Photo{PhotoId: p.ID, PhotoUrl: p.URL, Description: p.Description, OldId: aliases.OldID(p.ID, p.RequestKey)}
}

func photosProto(photos []photo) []*poiv1.Photo {
	shown := make([]*poiv1.Photo, len(photos))
	for i, p := range photos {
		shown[i] = photoProto(p)
	}
	return shown
}

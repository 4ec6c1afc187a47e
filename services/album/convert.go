package album

import (
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/waybook/waybook/internal/content/aliases"
	"github.com/waybook/waybook/internal/content/profiles"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

func albumProto(a album, owner profiles.Profile) *albumv1.Album {
	return &albumv1.Album{
		AlbumId:    a.ID,
		Owner:      owner.Proto(a.OwnerID),
		Title:      a.Title,
		Category:   albumv1.AlbumCategory(a.Category),
		Location:   &typev1.Location{Lat: a.Lat, Lng: a.Lng},
		CreateTime: timestamppb.New(a.CreateTime),
		UpdateTime: timestamppb.New(a.UpdateTime),
		Score:      a.Score + a.UnnamedScore,
		OldId:      aliases.OldID(a.ID, a.RequestKey),
	}
}

func photoProto(p photo) *albumv1.Photo {
	return photosProto([]photo{p})[0]
}

func photosProto(photos []photo) []*albumv1.Photo {
	shown := make([]*albumv1.Photo, len(photos))
	messages := make([]albumv1.Photo, len(photos)) // one allocation for all
	for i, p := range photos {
		shown[i] = &messages[i]
		shown[i].PhotoId, shown[i].ThumbnailUrl, shown[i].Description = p.ID, p.ThumbnailURL, p.Description
		shown[i].OldId = aliases.OldID(p.ID, p.RequestKey)
	}
	return shown
}

package poi

import (
	"context"
	"strconv"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/waybook/waybook/internal/content/aliases"
	"github.com/waybook/waybook/internal/content/comments"
	"github.com/waybook/waybook/internal/content/owned"
	"github.com/waybook/waybook/internal/content/photos"
	"github.com/waybook/waybook/internal/content/profiles"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/id"
	"github.com/waybook/waybook/internal/platform/service"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
)

// CreatePoi creates a landmark.
func (s *server) CreatePoi(ctx context.Context, request *poiv1.CreatePoiRequest) (*poiv1.CreatePoiResponse, error) {
	owner, err := s.profiles.Require(ctx, request.GetOwnerId())
	if err != nil {
		return nil, err
	}
	place := id.AnyPlace()
	if request.GetRequestId() != "" {
		place = id.PlaceOfKey(request.GetOwnerId(), request.GetRequestId())
	}
	created, _, err := docstore.Create(ctx, s.pois.Documents, s.pois.DrawInOrder(ctx, s.ids, place),
		docstore.Request{By: byRequest().All().At(int64(place)), Owner: request.GetOwnerId(),
			ID: request.GetRequestId(), Digest: service.Digest(request)},
		func(id int64, requestKey string) poi {
			now := s.now()
			made := poi{ID: id, OwnerID: request.GetOwnerId(), RequestKey: requestKey, CreateTime: now,
				UpdateTime: now}
			poiFields.Create(&made, request)
			return made
		})
	return &poiv1.CreatePoiResponse{Poi: poiProto(&created, owner)}, err
}

// UpdatePoi changes a landmark.
func (s *server) UpdatePoi(ctx context.Context, request *poiv1.UpdatePoiRequest) (*poiv1.UpdatePoiResponse, error) {
	var updated poi
	update := func() (err error) {
		updated, err = s.pois.SetBy(ctx, request.GetActorId(), request.GetPoiId(), request.GetEtag(), s.now(), false,
			func(*poi) map[string]any { return poiFields.Change(&poi{}, request) })
		return err
	}
	name := func() error { s.profiles.Expect(ctx, request.GetActorId()); return nil }
	if err := s.pois.Together(update, name); err != nil {
		return nil, err
	}
	return &poiv1.UpdatePoiResponse{Poi: s.show(ctx, updated)}, nil
}

// DeletePoi deletes a landmark. The next sweep removes its photos and comments. The key of an
// imported one becomes free, because an import makes landmarks what the file says.
func (s *server) DeletePoi(ctx context.Context, request *poiv1.DeletePoiRequest) (*poiv1.DeletePoiResponse, error) {
	found, err := s.pois.GetBy(ctx, request.GetActorId(), request.GetPoiId())
	if err != nil {
		return nil, err
	}
	var set []docstore.Condition
	if importKey(&found) != "" {
		set = append(set, docstore.Is("request_key",
			docstore.OwnedKey(found.OwnerID, freedPrefix+strconv.FormatInt(found.ID, 10))))
	}
	return &poiv1.DeletePoiResponse{}, s.pois.DeleteBy(ctx, request.GetActorId(), request.GetPoiId(),
		request.GetEtag(), set...)
}

// GetPoi returns a landmark with its first photos and comments.
func (s *server) GetPoi(ctx context.Context, request *poiv1.GetPoiRequest) (*poiv1.GetPoiResponse, error) {
	mask, err := service.ReadMaskOf(request.GetReadMask(), (*poiv1.GetPoiResponse)(nil))
	if err != nil {
		return nil, err
	}
	found, err := s.pois.Get(ctx, request.GetPoiId())
	if err != nil {
		return nil, err
	}
	var shown docstore.Page[photos.Photo]
	var written docstore.Page[comments.Comment]
	err = s.pois.Together(mask.Read(func() (err error) {
		shown, err = s.pois.Photos.First(ctx, found.ID, &found, photos.FirstPage)
		return err
	}, "photos", "next_photos_token"), mask.Read(func() (err error) {
		written, err = s.pois.Comments.First(ctx, found.ID, &found, comments.FirstPage)
		return err
	}, "comments", "next_comments_token"),
		mask.Read(func() error { s.profiles.Expect(ctx, found.OwnerID); return nil }, "poi.owner"))
	if err != nil {
		return nil, err
	}
	names := comments.Authors(written.Documents)
	if mask.Wants("poi.owner") {
		names = append(names, found.OwnerID)
	}
	profiles := s.profiles.Show(ctx, names...)
	reply := &poiv1.GetPoiResponse{
		Poi:               poiProto(&found, profiles.Of(found.OwnerID)),
		Photos:            s.pois.Photos.Proto(ctx, shown.Documents),
		NextPhotosToken:   shown.Next,
		Comments:          comments.Proto(ctx, written.Documents, profiles),
		NextCommentsToken: written.Next,
	}
	mask.Keep(reply)
	return reply, nil
}

func (s *server) show(ctx context.Context, p poi) *poiv1.Poi {
	return poiProto(&p, s.profiles.Show(ctx, p.OwnerID).Of(p.OwnerID))
}

func poiProto(p *poi, owner profiles.Profile) *poiv1.Poi {
	shown := &poiv1.Poi{
		PoiId:      p.ID,
		Owner:      owner.Proto(p.OwnerID),
		CreateTime: timestamppb.New(p.CreateTime),
		UpdateTime: timestamppb.New(p.UpdateTime),
		Score:      p.shownScore(),
		OldId:      aliases.OldID(p.ID, p.RequestKey),
		Etag:       owned.EtagOf(p.ContentRevision, p.UpdateTime),
		IsSmall:    aliases.IsSmall(p.ID, p.RequestKey),
		ImportKey:  importKey(p),
	}
	poiFields.Show(p, shown)
	return shown
}

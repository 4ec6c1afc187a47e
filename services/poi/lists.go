package poi

import (
	"context"

	"github.com/waybook/waybook/internal/content/nearby"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/platform/service"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// ListPois returns a page of landmarks.
func (s *server) ListPois(ctx context.Context, request *poiv1.ListPoisRequest) (*poiv1.ListPoisResponse, error) {
	if request.GetBox() != nil {
		return s.listInBox(ctx, request)
	}
	owner, token, hidden := request.GetOwnerId(), request.GetPageToken(), s.pois.HiddenIn(ctx, request)
	if err := hidden.Require(owner); err != nil {
		return nil, err
	}
	query := docstore.Query{
		Where: listed(request), Descending: request.GetOrder() == typev1.ListOrder_LIST_ORDER_NEWEST_FIRST,
		Token: token, Limit: service.PageSize(request.GetPageSize(), 100, service.MaxPage),
	}
	reply := &poiv1.ListPoisResponse{}
	if request.GetView() == typev1.View_VIEW_SUMMARY {
		var err error
		if reply.Summaries, reply.NextPageToken, err = s.summaries.Page(ctx, query,
			func(p *summary) bool { return !hidden[p.OwnerID] }); err != nil {
			return nil, err
		}
	} else {
		page, err := s.pois.Documents.Page(ctx, query)
		if err != nil {
			return nil, err
		}
		reply.Pois, reply.NextPageToken = s.showAll(ctx, s.pois.Without(hidden, page.Documents)), page.Next
	}
	if len(reply.GetSummaries())+len(reply.GetPois()) == 0 && owner != 0 && token == "" {
		if err := s.pois.RequireOwner(ctx, s.profiles, owner, ofOwner(owner)); err != nil {
			return nil, err
		}
	}
	return reply, nil
}

// listed selects the landmarks of a list.
func listed(request *poiv1.ListPoisRequest) docstore.Where {
	if owner := request.GetOwnerId(); owner != 0 {
		return ofOwner(owner)
	}
	where := docstore.All(docstore.IDIndex)
	if category := request.GetCategory(); category != poiv1.PoiCategory_POI_CATEGORY_UNSPECIFIED {
		where = byCategory().Is(int64(category))
	}
	if after := request.GetAfterPoiId(); after != 0 {
		where = where.FromID(after + 1)
	}
	return where.Everywhere()
}

// ofOwner selects an owner's landmarks, in the order of their request keys: those are the only
// index by owners.
func ofOwner(owner int64) docstore.Where {
	return byRequest().In(docstore.Between(docstore.OwnedKey(owner, ""), docstore.OwnedKey(owner+1, ""))).Everywhere()
}

// BatchGetPois returns several landmarks.
func (s *server) BatchGetPois(ctx context.Context,
	request *poiv1.BatchGetPoisRequest) (*poiv1.BatchGetPoisResponse, error) {
	batch, err := s.pois.Batch(ctx, request.GetPoiIds())
	if err != nil {
		return nil, err
	}
	return &poiv1.BatchGetPoisResponse{
		Pois: s.showAll(ctx, batch.Found), MissingPoiIds: batch.Missing, UnreadPoiIds: batch.Unread,
	}, nil
}

// showAll returns landmarks of any owners for a reply.
func (s *server) showAll(ctx context.Context, pois []poi) []*poiv1.Poi {
	owners := s.profiles.Show(ctx, s.pois.OwnersOf(pois)...)
	shown := make([]*poiv1.Poi, len(pois))
	for i := range pois {
		shown[i] = poiProto(&pois[i], owners.Of(pois[i].OwnerID))
	}
	return shown
}

// summary is the part of a landmark that VIEW_SUMMARY reads.
type summary struct {
	ID      int64  `bson:"_id"`
	OwnerID int64  `bson:"owner_id"`
	Name    string `bson:"name"`
}

func showSummary(p *summary) (id int64, title string) { return p.ID, p.Name }

// SearchNearby returns a page of the landmarks in an area, nearest first.
func (s *server) SearchNearby(ctx context.Context,
	request *poiv1.SearchNearbyRequest) (*poiv1.SearchNearbyResponse, error) {
	page, err := s.nearby.Around(ctx, nearby.CircleOf(request.GetCircle()), nearby.Query{
		Filter: nearby.Filter{Category: int64(request.GetCategory())}, Hidden: s.pois.Hidden.Users(ctx),
		Size: service.PageSize(request.GetPageSize(), 100, service.MaxPage), Token: request.GetPageToken(),
	})
	if err != nil {
		return nil, err
	}
	pois := s.showAll(ctx, page.Documents())
	for i, f := range page.Found {
		pois[i].DistanceMeters = new(f.Distance)
	}
	return &poiv1.SearchNearbyResponse{Pois: pois, NextPageToken: page.Next, ReadCount: page.Read}, nil
}

// entry is a landmark as onMap shows it.
type entry struct {
	ID       int64 `bson:"_id"`
	Cell     int64 `bson:"cell"`
	Category int64 `bson:"category"`
}

func keyOf(e *entry) nearby.Key { return nearby.Key{Cell: e.Cell, Category: e.Category, ID: e.ID} }

func locationOf(p *poi) nearby.Location {
	return nearby.Location{Key: nearby.Key{Cell: p.Cell, Category: p.Category, ID: p.ID}, Lat: p.Lat, Lng: p.Lng,
		Owner: p.OwnerID}
}

// located is the part of a landmark that a map reads.
type located struct {
	ID       int64   `bson:"_id"`
	OwnerID  int64   `bson:"owner_id"`
	Name     string  `bson:"name"`
	Category int64   `bson:"category"`
	Lat      float64 `bson:"lat"`
	Lng      float64 `bson:"lng"`
	Cell     int64   `bson:"cell"`
}

func locationOfLocated(p *located) nearby.Location {
	return nearby.Location{Key: nearby.Key{Cell: p.Cell, Category: p.Category, ID: p.ID}, Lat: p.Lat, Lng: p.Lng,
		Owner: p.OwnerID}
}

// listInBox returns a page of the landmarks in a box, in a stable order.
func (s *server) listInBox(ctx context.Context, request *poiv1.ListPoisRequest) (*poiv1.ListPoisResponse, error) {
	page, err := s.boxes.In(ctx, nearby.BoxOf(request.GetBox()), nearby.Query{
		Filter: nearby.Filter{Category: int64(request.GetCategory())}, Hidden: s.pois.Hidden.Users(ctx),
		Size: service.PageSize(request.GetPageSize(), 100, service.MaxPage), Token: request.GetPageToken(),
	})
	if err != nil {
		return nil, err
	}
	reply := &poiv1.ListPoisResponse{Summaries: make([]*typev1.Summary, len(page.Found)), NextPageToken: page.Next,
		ReadCount: page.Read}
	for i, p := range page.Documents() {
		reply.Summaries[i] = &typev1.Summary{
			Id: p.ID, Title: p.Name, Location: &typev1.Location{Lat: p.Lat, Lng: p.Lng}, Category: int32(p.Category),
		}
	}
	return reply, nil
}

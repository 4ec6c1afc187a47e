package poi

import (
	"context"

	"google.golang.org/grpc"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/platform/service"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
)

// ListPois returns a page of a category's landmarks.
func (s *Server) ListPois(ctx context.Context, request *poiv1.ListPoisRequest) (*poiv1.ListPoisResponse, error) {
	page, err := s.pois.Documents.Page(ctx, docstore.Query{
		Where: byCategory().Is(int64(request.GetCategory())).Everywhere(),
		Token: request.GetPageToken(), Limit: service.PageSize(request.GetPageSize(), 100),
	})
	if err != nil {
		return nil, err
	}
	return &poiv1.ListPoisResponse{Pois: s.showAll(ctx, page.Documents), NextPageToken: page.Next}, nil
}

// BatchGetPois returns several landmarks.
func (s *Server) BatchGetPois(ctx context.Context, request *poiv1.BatchGetPoisRequest) (*poiv1.BatchGetPoisResponse, error) {
	batch, err := s.pois.Batch(ctx, request.GetPoiIds())
	if err != nil {
		return nil, err
	}
	return &poiv1.BatchGetPoisResponse{
		Pois: s.showAll(ctx, batch.Found), MissingPoiIds: batch.Missing, UnreadPoiIds: batch.Unread,
	}, nil
}

// showAll returns landmarks of any owners for a reply.
func (s *Server) showAll(ctx context.Context, pois []poi) []*poiv1.Poi {
	owners := s.profiles.Show(ctx, s.pois.OwnersOf(pois)...)
	shown := make([]*poiv1.Poi, len(pois))
	for i, p := range pois {
		shown[i] = poiProto(p, owners[p.OwnerID])
	}
	return shown
}

// summary is the part of a landmark that a list shows.
type summary struct {
	ID   int64  `bson:"_id"`
	Name string `bson:"name"`
}

func showSummary(message *poiv1.PoiSummary, p *summary) {
	message.PoiId, message.Name = p.ID, p.Name
}

func idOfSummary(p *summary) int64 { return p.ID }

func tellOldID(message *poiv1.PoiSummary, oldID string) { message.OldId = oldID }

// StreamPois sends the landmarks of a category.
func (s *Server) StreamPois(request *poiv1.StreamPoisRequest, stream grpc.ServerStreamingServer[poiv1.StreamPoisResponse]) error {
	query := docstore.Query{
		Where: byCategory().Is(int64(request.GetCategory())).FromID(request.GetAfterPoiId() + 1).Everywhere(),
		Limit: service.StreamBatch,
	}
	_, err := s.summaries.Send(stream.Context(), query, request.GetLimit(), nil, func(batch []*poiv1.PoiSummary) error {
		return stream.Send(&poiv1.StreamPoisResponse{Pois: batch})
	})
	return err
}

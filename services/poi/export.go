package poi

import (
	"strconv"
	"strings"

	"google.golang.org/grpc"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/id"
	"github.com/waybook/waybook/internal/platform/service"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// ownPrefix begins the export key of a landmark that was not imported.
const ownPrefix = "poi:"

// ExportPois sends landmarks in the form that ImportPois accepts, by owner and key.
func (s *Server) ExportPois(request *poiv1.ExportPoisRequest, stream grpc.ServerStreamingServer[poiv1.ExportPoisResponse]) error {
	selected := byRequest().All()
	if request.GetOwnerId() != 0 {
		selected = byRequest().First(request.GetOwnerId())
	}
	query := docstore.Query{Where: selected.Everywhere(), Limit: service.StreamBatch}
	for pois, err := range s.pois.Documents.Batches(stream.Context(), query) {
		if err != nil {
			return err
		}
		batch := &poiv1.ExportPoisResponse{}
		for _, p := range pois {
			if request.GetCategory() != 0 && p.Category != int64(request.GetCategory()) {
				continue
			}
			batch.Pois = append(batch.Pois, exported(p))
		}
		if len(batch.GetPois()) == 0 {
			continue
		}
		if err := stream.Send(batch); err != nil {
			return err
		}
	}
	return nil
}

// exported returns the importable form of a landmark.
func exported(p poi) *poiv1.ImportedPoi {
	key, isImported := strings.CutPrefix(p.RequestKey, importPrefix)
	if !isImported {
		key = ownPrefix + strconv.FormatInt(p.ID, 10)
	}
	return &poiv1.ImportedPoi{
		Key: key, Name: p.Name, Category: poiv1.PoiCategory(p.Category),
		Location: &typev1.Location{Lat: p.Lat, Lng: p.Lng},
	}
}

// ownID returns the id of the landmark that may have been exported under a key.
func ownID(key string) (poiID int64, ok bool) {
	digits, ok := strings.CutPrefix(key, ownPrefix)
	if !ok {
		return 0, false
	}
	poiID, err := strconv.ParseInt(digits, 10, 64)
	// A key that exported would write differently is another key.
	return poiID, err == nil && poiID > 0 && poiID <= id.Max && strconv.FormatInt(poiID, 10) == digits
}

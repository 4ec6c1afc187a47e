package poi

import (
	"strconv"
	"strings"

	"google.golang.org/grpc"

	"github.com/waybook/waybook/internal/id"
	"github.com/waybook/waybook/internal/platform/service"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// ownPrefix begins the export key of a landmark that was not imported.
const ownPrefix = "poi:"

// ExportPois sends landmarks in the form that ImportPois accepts, by owner and key.
func (s *Server) ExportPois(request *poiv1.ExportPoisRequest, stream grpc.ServerStreamingServer[poiv1.ExportPoisResponse]) error {
	isFound := false
	batch := &poiv1.ExportPoisResponse{}
	for p, err := range s.inKeyOrder(stream.Context(), request.GetOwnerId()) {
		if err != nil {
			return err
		}
		isFound = true
		if request.GetCategory() != 0 && p.Category != int64(request.GetCategory()) {
			continue
		}
		batch.Pois = append(batch.Pois, exported(p, request.GetWithIds()))
		if len(batch.GetPois()) < service.StreamBatch {
			continue
		}
		if err := stream.Send(batch); err != nil {
			return err
		}
		batch = &poiv1.ExportPoisResponse{}
	}
	if len(batch.GetPois()) > 0 {
		return stream.Send(batch)
	}
	if isFound || request.GetOwnerId() == 0 {
		return nil
	}
	_, err := s.profiles.Require(stream.Context(), request.GetOwnerId())
	return err
}

// exported returns the importable form of a landmark.
func exported(p poi, withIDs bool) *poiv1.ImportedPoi {
	item := &poiv1.ImportedPoi{
		Key: exportKey(p), Name: p.Name, Category: poiv1.PoiCategory(p.Category),
		Location: &typev1.Location{Lat: p.Lat, Lng: p.Lng},
	}
	if withIDs {
		item.OwnerId, item.PoiId = p.OwnerID, p.ID
	}
	return item
}

// exportKey returns the key of a landmark in exports.
func exportKey(p poi) string {
	if key, isImported := strings.CutPrefix(p.RequestKey, importPrefix); isImported {
		return key
	}
	return ownPrefix + strconv.FormatInt(p.ID, 10)
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

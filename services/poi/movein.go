package poi

import (
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/waybook/waybook/internal/content/movein"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/id"
	moveinv1 "github.com/waybook/waybook/proto/gen/waybook/movein/v1"
)

// newMover returns what takes the landmarks, photos and comments of an old service.
func (s *server) newMover() *movein.Mover[poi] {
	return movein.Open(&movein.Mover[poi]{
		Name: "landmark", Kind: s.pois, Profiles: s.profiles, Content: poiForm(),
		PlaceOf: id.PlaceOfKey,
	})
}

func poiForm() movein.Form[poi] {
	return movein.Form[poi]{
		ID: func(p *poi) int64 { return p.ID },
		Identify: func(p *poi, id, _ int64, requestKey string) {
			p.ID, p.RequestKey = id, docstore.OwnedKey(p.OwnerID, requestKey)
		},
		Document: func(record *moveinv1.Record) poi {
			given := record.GetLandmark()
			p := poi{
				OwnerID: given.GetOwnerId(), MovedScore: given.GetScore(),
				CreateTime: movein.Time(given.GetCreateTime()),
				UpdateTime: movein.TimeOr(given.GetUpdateTime(), given.GetCreateTime()),
			}
			poiFields.Take(&p, given)
			return p
		},
		Record: func(p *poi) proto.Message {
			record := &moveinv1.Landmark{
				OwnerId: p.OwnerID, Score: p.MovedScore, CreateTime: timestamppb.New(p.CreateTime),
				UpdateTime: timestamppb.New(p.UpdateTime),
			}
			poiFields.Record(p, record)
			return record
		},
	}
}

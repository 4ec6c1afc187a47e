package album

import (
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/waybook/waybook/internal/content/movein"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/id"
	moveinv1 "github.com/waybook/waybook/proto/gen/waybook/movein/v1"
)

// newMover returns what takes the albums, photos and comments of an old service.
func (s *server) newMover() *movein.Mover[album] {
	return movein.Open(&movein.Mover[album]{
		Name: "album", Kind: s.albums, Profiles: s.profiles, Content: albumForm(),
		PlaceOf: func(ownerID int64, _ string) id.Place { return id.PlaceOf(ownerID) },
	})
}

func albumForm() movein.Form[album] {
	return movein.Form[album]{
		ID: func(a *album) int64 { return a.ID },
		Identify: func(a *album, id, _ int64, requestKey string) {
			a.ID, a.RequestKey = id, docstore.OwnedKey(a.OwnerID, requestKey)
		},
		Document: func(record *moveinv1.Record) album {
			given := record.GetAlbum()
			a := album{
				OwnerID: given.GetOwnerId(), MovedScore: given.GetScore(),
				CreateTime: movein.Time(given.GetCreateTime()),
				UpdateTime: movein.TimeOr(given.GetUpdateTime(), given.GetCreateTime()),
			}
			albumFields.Take(&a, given)
			return a
		},
		Record: func(a *album) proto.Message {
			record := &moveinv1.Album{
				OwnerId: a.OwnerID, Score: a.MovedScore, CreateTime: timestamppb.New(a.CreateTime),
				UpdateTime: timestamppb.New(a.UpdateTime),
			}
			albumFields.Record(a, record)
			return record
		},
	}
}

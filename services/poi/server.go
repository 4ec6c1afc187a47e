// Package poi is the landmark (POI) service: landmarks with their photos and comments.
package poi

import (
	"context"
	"errors"
	"time"

	"buf.build/go/protovalidate"
	"google.golang.org/grpc"

	"github.com/waybook/waybook/internal/content"
	"github.com/waybook/waybook/internal/content/child"
	"github.com/waybook/waybook/internal/content/choices"
	"github.com/waybook/waybook/internal/content/comments"
	"github.com/waybook/waybook/internal/content/integrity"
	"github.com/waybook/waybook/internal/content/owned"
	"github.com/waybook/waybook/internal/content/profiles"
	"github.com/waybook/waybook/internal/content/tombstone"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/platform/apierror"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
)

// Server implements PoiService. It may be used concurrently.
type Server struct {
	poiv1.UnimplementedPoiServiceServer

	pois *owned.Collection[poi]
	// summaries are the landmarks as lists show them.
	summaries *docstore.Part[summary]

	photos  *child.Set[poi, photo]
	threads *comments.Set[poi]
	// recommendations counts who recommends what.
	recommendations *choices.Counter[poi]
	profiles        *profiles.Directory
	validator       protovalidate.Validator
	newID           func() int64
	now             func() time.Time
}

// New returns the service over a store.
func New(ctx context.Context, deps content.Deps) (*Server, error) {
	documents, err := docstore.Open[poi](ctx, deps.Store, poisSpec())
	if err != nil {
		return nil, err
	}
	photos, err := docstore.Open[photo](ctx, deps.Store, photosSpec())
	if err != nil {
		return nil, err
	}
	written, err := docstore.Open[comments.Comment](ctx, deps.Store, comments.Spec("poi_comments"))
	if err != nil {
		return nil, err
	}
	recommendations, err := docstore.Open[choices.Choice](ctx, deps.Store, choices.Spec("poi_recommendations"))
	if err != nil {
		return nil, err
	}
	tombstones, err := tombstone.Open(ctx, deps.Store, "poi_trash", deps.Now)
	if err != nil {
		return nil, err
	}
	pois := &owned.Collection[poi]{
		Documents: documents, Tombstones: tombstones,
		ID:       func(p *poi) int64 { return p.ID },
		Owner:    func(p *poi) int64 { return p.OwnerID },
		NotFound: noPoi, NotOwner: notOwner,
	}
	return &Server{
		pois:      pois,
		summaries: docstore.PartOf[summary](documents),
		photos: &child.Set[poi, photo]{
			Parents: pois, Children: photos, NewID: deps.NewID,
			Count:    func(p *poi) *int64 { return &p.PhotoCount },
			ParentOf: func(p *photo) int64 { return p.PoiID },
			NoChild:  noPhoto,
		},
		threads: &comments.Set[poi]{
			Set: child.Set[poi, comments.Comment]{
				Parents: pois, Children: written, NewID: deps.NewID,
				Count:    func(p *poi) *int64 { return &p.CommentCount },
				ParentOf: comments.ParentOf,
				NoChild:  comments.NotFound,
			},
			Profiles: deps.Profiles, Now: deps.Now,
		},
		recommendations: &choices.Counter[poi]{
			Parents: pois, Choices: recommendations, NewID: deps.NewID,
			Mark:    func(p *poi) *choices.Mark { return &p.Recommendations },
			Add:     func(p *poi, _ int32, by int64) { p.Score += by },
			Numbers: func(p *poi) []int64 { return []int64{p.Score} },
		},
		profiles: deps.Profiles, validator: deps.Validator, newID: deps.NewID, now: deps.Now,
	}, nil
}

// Name is the service's name in metrics and logs.
func (s *Server) Name() string { return "poi" }

// Register registers the service.
func (s *Server) Register(registrar grpc.ServiceRegistrar) {
	poiv1.RegisterPoiServiceServer(registrar, s)
}

// Sweep removes what deleted landmarks left behind.
func (s *Server) Sweep(ctx context.Context) error {
	return s.pois.Sweep(ctx, func(ctx context.Context, id int64) error {
		return errors.Join(s.photos.RemoveAll(ctx, id), s.threads.RemoveAll(ctx, id), s.recommendations.Forget(ctx, id))
	})
}

// Constraints are what hangs on landmarks.
func (s *Server) Constraints() []integrity.Constraint {
	return []integrity.Constraint{s.photos.Constraint(), s.threads.Constraint(), s.recommendations.Constraint()}
}

func noPoi(id int64) *apierror.Error {
	return apierror.NotFound("POI_NOT_FOUND", "there is no landmark %d", id)
}

func noPhoto(id int64) *apierror.Error {
	return apierror.NotFound("PHOTO_NOT_FOUND", "there is no photo %d", id)
}

func notOwner(id int64) *apierror.Error {
	return apierror.NotOwner("landmark %d belongs to somebody else", id)
}

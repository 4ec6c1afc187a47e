// Package poi is the landmark (POI) service: landmarks with their photos and comments.
package poi

import (
	"context"
	"errors"
	"time"

	"buf.build/go/protovalidate"
	"google.golang.org/grpc"

	"github.com/waybook/waybook/internal/content/child"
	"github.com/waybook/waybook/internal/content/choices"
	"github.com/waybook/waybook/internal/content/comments"
	"github.com/waybook/waybook/internal/content/integrity"
	"github.com/waybook/waybook/internal/content/owned"
	"github.com/waybook/waybook/internal/content/profiles"
	"github.com/waybook/waybook/internal/content/tombstone"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/platform/apierror"
	"github.com/waybook/waybook/internal/platform/service"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
)

// Server implements PoiService. It may be used concurrently.
type Server struct {
	poiv1.UnimplementedPoiServiceServer

	pois *owned.Collection[poi]
	// summaries are the landmarks as lists show them.
	summaries *docstore.Projection[summary]

	photos  *child.Set[poi, photo]
	threads *comments.Threads[poi]
	// recommendations counts who recommends what.
	recommendations *choices.Tally[poi]
	people          *profiles.Directory
	validator       protovalidate.Validator
	draw            func() int64
	now             func() time.Time
}

// New returns the service over a store.
func New(ctx context.Context, deps service.Deps) (*Server, error) {
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
	bin, err := tombstone.Open(ctx, deps.Store, "poi_trash", deps.Now)
	if err != nil {
		return nil, err
	}
	pois := &owned.Collection[poi]{
		Documents: documents, Bin: bin,
		ID:       func(p *poi) int64 { return p.ID },
		Owner:    func(p *poi) int64 { return p.OwnerID },
		NotFound: noPoi, NotOwner: notOwner,
	}
	return &Server{
		pois:      pois,
		summaries: docstore.Project[summary](documents),
		photos: &child.Set[poi, photo]{
			Parents: pois, Children: photos, Draw: deps.Draw,
			Count:    func(p *poi) *int64 { return &p.PhotoCount },
			ParentOf: func(p *photo) int64 { return p.PoiID },
			NoChild:  noPhoto,
		},
		threads: &comments.Threads[poi]{
			Set: child.Set[poi, comments.Comment]{
				Parents: pois, Children: written, Draw: deps.Draw,
				Count:    func(p *poi) *int64 { return &p.CommentCount },
				ParentOf: comments.ParentOf,
				NoChild:  comments.NotFound,
			},
			People: deps.People, Now: deps.Now,
		},
		recommendations: &choices.Tally[poi]{
			Parents: pois, Choices: recommendations, Draw: deps.Draw,
			Mark:    func(p *poi) *choices.Mark { return &p.Recommendations },
			Add:     func(p *poi, _ int32, by int64) { p.Score += by },
			Numbers: func(p *poi) []int64 { return []int64{p.Score} },
		},
		people: deps.People, validator: deps.Validator, draw: deps.Draw, now: deps.Now,
	}, nil
}

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

// Relations are what hangs on landmarks.
func (s *Server) Relations() []integrity.Relation {
	return []integrity.Relation{s.photos.Relation(), s.threads.Relation(), s.recommendations.Relation()}
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

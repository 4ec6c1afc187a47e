// Package poi is the landmark (POI) service: landmarks with their photos and comments.
package poi

import (
	"context"
	"time"

	"google.golang.org/grpc"

	"github.com/waybook/waybook/internal/content"
	"github.com/waybook/waybook/internal/content/choices"
	"github.com/waybook/waybook/internal/content/integrity"
	"github.com/waybook/waybook/internal/content/movein"
	"github.com/waybook/waybook/internal/content/nearby"
	"github.com/waybook/waybook/internal/content/owned"
	"github.com/waybook/waybook/internal/content/profiles"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/id"
	"github.com/waybook/waybook/internal/platform/service"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// server implements PoiService. It may be used concurrently.
type server struct {
	poiv1.UnimplementedPoiServiceServer
	// Resolver resolves the old identifiers in requests.
	*movein.Resolver
	// mover takes records of an old service.
	mover *movein.Mover[poi]

	pois *content.Kind[poi]
	// summaries are the landmarks as lists show them.
	summaries *content.Summaries[summary]
	// nearby finds landmarks by their place, and boxes as maps show them.
	nearby   *nearby.Documents[poi]
	boxes    *nearby.Documents[located]
	profiles *profiles.Directory
	ids      *id.Source
	now      func() time.Time
}

// New returns the service over a store.
func New(ctx context.Context, deps content.Deps) (_ content.Service, err error) {
	s := &server{profiles: deps.Profiles, ids: deps.NewIDs(), now: deps.Now}
	s.pois, err = content.Open(ctx, deps, content.Spec[poi]{
		Kind:      typev1.Kind_KIND_POI,
		Documents: poisSpec(deps.Changes),
		Name:      "poi", Noun: "landmark", NotFound: "POI_NOT_FOUND",
		ID:            func(p *poi) int64 { return p.ID },
		Owner:         func(p *poi) int64 { return p.OwnerID },
		OwnerField:    "owner_id",
		RequestKey:    func(p *poi) string { return docstore.BareKey(p.RequestKey) },
		Etag:          func(p *poi) string { return owned.EtagOf(p.ContentRevision, p.UpdateTime) },
		LatestPhoto:   func(p *poi) *int64 { return &p.LatestPhoto },
		Revision:      func(p *poi) *int64 { return &p.ContentRevision },
		LatestComment: func(p *poi) *int64 { return &p.LatestComment },
		Score:         func(p *poi) choices.Number { return choices.Number{Count: &p.Score, Moved: &p.NamedScore} },
		ScoreRound:    func(p *poi) *int64 { return &p.ScoreRound },
		ShownScore:    (*poi).shownScore,
	})
	if err != nil {
		return nil, err
	}
	s.summaries = content.Summarize(s.pois, showSummary)
	s.mover = s.newMover()
	s.Resolver = s.mover.Resolver
	s.nearby = nearby.New(s.pois.Documents, onMap(), keyOf, &s.pois.Documents.Reader, locationOf)
	s.boxes = nearby.New(s.pois.Documents, onMap(), keyOf, docstore.Project[located](s.pois.Documents),
		locationOfLocated)
	return s, nil
}

// Name is the service's name in metrics and logs.
func (s *server) Name() string { return "poi" }

// Register registers the service.
func (s *server) Register(registrar grpc.ServiceRegistrar) {
	poiv1.RegisterPoiServiceServer(registrar, s)
}

// Parts implements service.Service.
func (s *server) Parts() service.Parts {
	parts := s.pois.Parts()
	parts.Records, parts.Resolver = s.mover, s.Resolver
	return parts
}

// Sweep removes the photos, comments and recommendations of deleted landmarks, and forgets old
// deletions.
func (s *server) Sweep(ctx context.Context) error {
	return s.pois.Sweep(ctx)
}

// Constraints returns the constraints between landmarks and their attachments.
func (s *server) Constraints() []integrity.Constraint { return s.pois.Constraints() }

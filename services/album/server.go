// Package album is the album service: albums with their photos and comments.
package album

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
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// server implements AlbumService. It may be used concurrently.
type server struct {
	albumv1.UnimplementedAlbumServiceServer
	// Resolver resolves the old identifiers in requests.
	*movein.Resolver
	// mover takes records of an old service.
	mover *movein.Mover[album]

	albums *content.Kind[album]
	// summaries are the albums as lists show them.
	summaries *content.Summaries[summary]
	// nearby finds albums by their place, and boxes as maps show them.
	nearby   *nearby.Documents[album]
	boxes    *nearby.Documents[located]
	profiles *profiles.Directory
	ids      *id.Source
	now      func() time.Time
}

// New returns the service over a store.
func New(ctx context.Context, deps content.Deps) (_ content.Service, err error) {
	s := &server{profiles: deps.Profiles, ids: deps.NewIDs(), now: deps.Now}
	s.albums, err = content.Open(ctx, deps, content.Spec[album]{
		Kind:      typev1.Kind_KIND_ALBUM,
		Documents: albumsSpec(deps.Changes),
		Name:      "album", Noun: "album", NotFound: "ALBUM_NOT_FOUND",
		ID:            func(a *album) int64 { return a.ID },
		Owner:         func(a *album) int64 { return a.OwnerID },
		OwnerField:    "owner_id",
		RequestKey:    func(a *album) string { return docstore.BareKey(a.RequestKey) },
		Etag:          func(a *album) string { return owned.EtagOf(a.ContentRevision, a.UpdateTime) },
		LatestPhoto:   func(a *album) *int64 { return &a.LatestPhoto },
		Revision:      func(a *album) *int64 { return &a.ContentRevision },
		LatestComment: func(a *album) *int64 { return &a.LatestComment },
		Score:         func(a *album) choices.Number { return choices.Number{Count: &a.Score, Moved: &a.NamedScore} },
		ScoreRound:    func(a *album) *int64 { return &a.ScoreRound },
		ShownScore:    (*album).shownScore,
	})
	if err != nil {
		return nil, err
	}
	s.summaries = content.Summarize(s.albums, showSummary)
	s.nearby = nearby.New(s.albums.Documents, onMap(), keyOf, &s.albums.Documents.Reader, locationOf)
	s.boxes = nearby.New(s.albums.Documents, onMap(), keyOf, docstore.Project[located](s.albums.Documents),
		locationOfLocated)
	s.mover = s.newMover()
	s.Resolver = s.mover.Resolver
	return s, nil
}

// Name is the service's name in metrics and logs.
func (s *server) Name() string { return "album" }

// Register registers the service.
func (s *server) Register(registrar grpc.ServiceRegistrar) {
	albumv1.RegisterAlbumServiceServer(registrar, s)
}

// Parts implements service.Service.
func (s *server) Parts() service.Parts {
	parts := s.albums.Parts()
	parts.Records, parts.Resolver = s.mover, s.Resolver
	return parts
}

// Sweep removes the photos, comments and recommendations of deleted albums, and forgets old
// deletions.
func (s *server) Sweep(ctx context.Context) error {
	return s.albums.Sweep(ctx)
}

// Constraints returns the constraints between albums and their attachments.
func (s *server) Constraints() []integrity.Constraint { return s.albums.Constraints() }

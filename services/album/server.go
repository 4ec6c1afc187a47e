// Package album is the album service: albums with their photos and comments.
package album

import (
	"context"
	"time"

	"google.golang.org/grpc"

	"github.com/waybook/waybook/internal/content"
	"github.com/waybook/waybook/internal/content/child"
	"github.com/waybook/waybook/internal/content/choices"
	"github.com/waybook/waybook/internal/content/integrity"
	"github.com/waybook/waybook/internal/content/profiles"
	"github.com/waybook/waybook/internal/id"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
)

// Server implements AlbumService. It may be used concurrently.
type Server struct {
	albumv1.UnimplementedAlbumServiceServer

	albums *content.Kind[album]
	// summaries are the albums as lists show them.
	summaries *content.Summaries[summary, albumv1.AlbumSummary]
	photos    *child.Set[album, photo]
	profiles  *profiles.Directory
	ids       *id.Source
	now       func() time.Time
}

// New returns the service over a store.
func New(ctx context.Context, deps content.Deps) (_ *Server, err error) {
	s := &Server{profiles: deps.Profiles, ids: deps.NewIDs(), now: deps.Now}
	s.albums, err = content.Open(ctx, deps, content.Spec[album]{
		Documents: albumsSpec(),
		Name:      "album", Noun: "album", NotFound: "ALBUM_NOT_FOUND",
		ID:              func(a *album) int64 { return a.ID },
		Owner:           func(a *album) int64 { return a.OwnerID },
		CommentCount:    func(a *album) *int64 { return &a.CommentCount },
		Score:           func(a *album) *int64 { return &a.Score },
		Recommendations: func(a *album) *choices.Mark { return &a.Recommendations },
		Attached: []content.Attachment[album]{
			content.Children(&s.photos, content.ChildSpec[album, photo]{
				Documents: child.Spec("album_photos", byAlbum(), byPhotoRequest().Declare()), ByParent: byAlbum(),
				Noun: "photo", NotFound: "PHOTO_NOT_FOUND",
				Count:    func(a *album) *int64 { return &a.PhotoCount },
				Counter:  photoCounter,
				ParentOf: func(p *photo) int64 { return p.AlbumID },
			}),
		},
	})
	if err != nil {
		return nil, err
	}
	s.summaries = content.Summarize(s.albums, showSummary)
	return s, nil
}

// Name is the service's name in metrics and logs.
func (s *Server) Name() string { return "album" }

// Register registers the service.
func (s *Server) Register(registrar grpc.ServiceRegistrar) {
	albumv1.RegisterAlbumServiceServer(registrar, s)
}

// Sweep removes the photos, comments and recommendations of deleted albums.
func (s *Server) Sweep(ctx context.Context) error { return s.albums.Sweep(ctx) }

// Constraints returns the constraints between albums and their attachments.
func (s *Server) Constraints() []integrity.Constraint { return s.albums.Constraints() }

// Package album is the album service: albums with their photos and comments.
package album

import (
	"context"
	"errors"
	"time"

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
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
)

// Server implements AlbumService. It may be used concurrently.
type Server struct {
	albumv1.UnimplementedAlbumServiceServer

	albums *owned.Collection[album]
	// summaries are the albums as lists show them.
	summaries *docstore.Projection[summary]

	photos  *child.Set[album, photo]
	threads *comments.Threads[album]
	// recommendations counts who recommends what.
	recommendations *choices.Tally[album]
	people          *profiles.Directory
	draw            func() int64
	now             func() time.Time
}

// New returns the service over a store.
func New(ctx context.Context, deps service.Deps) (*Server, error) {
	documents, err := docstore.Open[album](ctx, deps.Store, albumsSpec())
	if err != nil {
		return nil, err
	}
	photos, err := docstore.Open[photo](ctx, deps.Store, photosSpec())
	if err != nil {
		return nil, err
	}
	written, err := docstore.Open[comments.Comment](ctx, deps.Store, comments.Spec("album_comments"))
	if err != nil {
		return nil, err
	}
	recommendations, err := docstore.Open[choices.Choice](ctx, deps.Store, choices.Spec("album_recommendations"))
	if err != nil {
		return nil, err
	}
	bin, err := tombstone.Open(ctx, deps.Store, "album_trash", deps.Now)
	if err != nil {
		return nil, err
	}
	albums := &owned.Collection[album]{
		Documents: documents, Bin: bin,
		ID:       func(a *album) int64 { return a.ID },
		Owner:    func(a *album) int64 { return a.OwnerID },
		NotFound: noAlbum, NotOwner: notOwner,
	}
	return &Server{
		albums:    albums,
		summaries: docstore.Project[summary](documents),
		photos: &child.Set[album, photo]{
			Parents: albums, Children: photos, Draw: deps.Draw,
			Count:    func(a *album) *int64 { return &a.PhotoCount },
			ParentOf: func(p *photo) int64 { return p.AlbumID },
			NoChild:  noPhoto,
		},
		threads: &comments.Threads[album]{
			Set: child.Set[album, comments.Comment]{
				Parents: albums, Children: written, Draw: deps.Draw,
				Count:    func(a *album) *int64 { return &a.CommentCount },
				ParentOf: comments.ParentOf,
				NoChild:  comments.NotFound,
			},
			People: deps.People, Now: deps.Now,
		},
		recommendations: &choices.Tally[album]{
			Parents: albums, Choices: recommendations, Draw: deps.Draw,
			Mark:    func(a *album) *choices.Mark { return &a.Recommendations },
			Add:     func(a *album, _ int32, by int64) { a.Score += by },
			Numbers: func(a *album) []int64 { return []int64{a.Score} },
		},
		people: deps.People, draw: deps.Draw, now: deps.Now,
	}, nil
}

// Register registers the service.
func (s *Server) Register(registrar grpc.ServiceRegistrar) {
	albumv1.RegisterAlbumServiceServer(registrar, s)
}

// Sweep removes what deleted albums left behind.
func (s *Server) Sweep(ctx context.Context) error {
	return s.albums.Sweep(ctx, func(ctx context.Context, id int64) error {
		return errors.Join(s.photos.RemoveAll(ctx, id), s.threads.RemoveAll(ctx, id), s.recommendations.Forget(ctx, id))
	})
}

// Relations are what hangs on albums.
func (s *Server) Relations() []integrity.Relation {
	return []integrity.Relation{s.photos.Relation(), s.threads.Relation(), s.recommendations.Relation()}
}

func noAlbum(id int64) *apierror.Error {
	return apierror.NotFound("ALBUM_NOT_FOUND", "there is no album %d", id)
}

func noPhoto(id int64) *apierror.Error {
	return apierror.NotFound("PHOTO_NOT_FOUND", "there is no photo %d", id)
}

func notOwner(id int64) *apierror.Error {
	return apierror.NotOwner("album %d belongs to somebody else", id)
}

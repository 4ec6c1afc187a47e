package album

import (
	"cmp"
	"context"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/waybook/waybook/internal/content/aliases"
	"github.com/waybook/waybook/internal/content/comments"
	"github.com/waybook/waybook/internal/content/owned"
	"github.com/waybook/waybook/internal/content/photos"
	"github.com/waybook/waybook/internal/content/profiles"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/id"
	"github.com/waybook/waybook/internal/platform/service"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
)

// CreateAlbum creates an album.
func (s *server) CreateAlbum(ctx context.Context,
	request *albumv1.CreateAlbumRequest) (*albumv1.CreateAlbumResponse, error) {
	owner, err := s.profiles.Require(ctx, request.GetOwnerId())
	if err != nil {
		return nil, err
	}
	place := id.PlaceOf(request.GetOwnerId())
	created, _, err := docstore.Create(ctx, s.albums.Documents, s.albums.DrawIn(ctx, s.ids, place),
		docstore.Request{By: byRequest().All().At(request.GetOwnerId()), Owner: request.GetOwnerId(),
			ID: request.GetRequestId(), Digest: service.Digest(request)},
		func(id int64, requestKey string) album {
			now := s.now()
			made := album{ID: id, OwnerID: request.GetOwnerId(), RequestKey: requestKey, CreateTime: now,
				UpdateTime: now}
			albumFields.Create(&made, request)
			return made
		})
	return &albumv1.CreateAlbumResponse{Album: albumProto(&created, owner)}, err
}

// UpdateAlbum changes an album.
func (s *server) UpdateAlbum(ctx context.Context,
	request *albumv1.UpdateAlbumRequest) (*albumv1.UpdateAlbumResponse, error) {
	var updated album
	update := func() (err error) {
		needsOther := (request.Lat == nil) != (request.Lng == nil)
		updated, err = s.albums.SetBy(ctx, request.GetActorId(), request.GetAlbumId(), request.GetEtag(), s.now(),
			needsOther,
			func(was *album) map[string]any { return albumFields.Change(cmp.Or(was, &album{}), request) })
		return err
	}
	name := func() error { s.profiles.Expect(ctx, request.GetActorId()); return nil }
	if err := s.albums.Together(update, name); err != nil {
		return nil, err
	}
	return &albumv1.UpdateAlbumResponse{Album: s.show(ctx, updated)}, nil
}

// DeleteAlbum deletes an album. The next sweep removes its photos and comments.
func (s *server) DeleteAlbum(ctx context.Context,
	request *albumv1.DeleteAlbumRequest) (*albumv1.DeleteAlbumResponse, error) {
	return &albumv1.DeleteAlbumResponse{}, s.albums.DeleteBy(ctx, request.GetActorId(), request.GetAlbumId(),
		request.GetEtag())
}

// GetAlbum returns an album with its first photos and comments.
func (s *server) GetAlbum(ctx context.Context, request *albumv1.GetAlbumRequest) (*albumv1.GetAlbumResponse, error) {
	mask, err := service.ReadMaskOf(request.GetReadMask(), (*albumv1.GetAlbumResponse)(nil))
	if err != nil {
		return nil, err
	}
	found, err := s.albums.Get(ctx, request.GetAlbumId())
	if err != nil {
		return nil, err
	}
	var shown docstore.Page[photos.Photo]
	var written docstore.Page[comments.Comment]
	err = s.albums.Together(mask.Read(func() (err error) {
		shown, err = s.albums.Photos.First(ctx, found.ID, &found, photos.FirstPage)
		return err
	}, "photos", "next_photos_token"), mask.Read(func() (err error) {
		written, err = s.albums.Comments.First(ctx, found.ID, &found, comments.FirstPage)
		return err
	}, "comments", "next_comments_token"),
		mask.Read(func() error { s.profiles.Expect(ctx, found.OwnerID); return nil }, "album.owner"))
	if err != nil {
		return nil, err
	}
	names := comments.Authors(written.Documents)
	if mask.Wants("album.owner") {
		names = append(names, found.OwnerID)
	}
	profiles := s.profiles.Show(ctx, names...)
	reply := &albumv1.GetAlbumResponse{
		Album:             albumProto(&found, profiles.Of(found.OwnerID)),
		Photos:            s.albums.Photos.Proto(ctx, shown.Documents),
		NextPhotosToken:   shown.Next,
		Comments:          comments.Proto(ctx, written.Documents, profiles),
		NextCommentsToken: written.Next,
	}
	mask.Keep(reply)
	return reply, nil
}

// BatchGetAlbums returns several albums.
func (s *server) BatchGetAlbums(ctx context.Context,
	request *albumv1.BatchGetAlbumsRequest) (*albumv1.BatchGetAlbumsResponse, error) {
	batch, err := s.albums.Batch(ctx, request.GetAlbumIds())
	if err != nil {
		return nil, err
	}
	return &albumv1.BatchGetAlbumsResponse{
		Albums: s.showAll(ctx, batch.Found), MissingAlbumIds: batch.Missing, UnreadAlbumIds: batch.Unread,
	}, nil
}

// showAll returns albums of any owners for a reply.
func (s *server) showAll(ctx context.Context, albums []album) []*albumv1.Album {
	owners := s.profiles.Show(ctx, s.albums.OwnersOf(albums)...)
	shown := make([]*albumv1.Album, len(albums))
	for i := range albums {
		shown[i] = albumProto(&albums[i], owners.Of(albums[i].OwnerID))
	}
	return shown
}

func (s *server) show(ctx context.Context, a album) *albumv1.Album {
	return albumProto(&a, s.profiles.Show(ctx, a.OwnerID).Of(a.OwnerID))
}

func albumProto(a *album, owner profiles.Profile) *albumv1.Album {
	shown := &albumv1.Album{
		AlbumId:    a.ID,
		Owner:      owner.Proto(a.OwnerID),
		CreateTime: timestamppb.New(a.CreateTime),
		UpdateTime: timestamppb.New(a.UpdateTime),
		Score:      a.shownScore(),
		OldId:      aliases.OldID(a.ID, a.RequestKey),
		Etag:       owned.EtagOf(a.ContentRevision, a.UpdateTime),
		IsSmall:    aliases.IsSmall(a.ID, a.RequestKey),
	}
	albumFields.Show(a, shown)
	return shown
}

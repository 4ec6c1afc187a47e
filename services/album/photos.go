package album

import (
	"context"

	"github.com/waybook/waybook/internal/content/owned"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/platform/service"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
)

// AddPhoto adds a photo to an album.
func (s *Server) AddPhoto(ctx context.Context, request *albumv1.AddPhotoRequest) (*albumv1.AddPhotoResponse, error) {
	added, err := s.photos.Add(ctx, request.GetActorId(), request.GetAlbumId(),
		docstore.Request{By: byPhotoRequest().First(request.GetAlbumId()), ID: request.GetRequestId(), Digest: service.Digest(request)},
		nil, owned.ChangedAt(s.now()),
		func(id int64, requestKey string) photo {
			return photo{
				ID: id, AlbumID: request.GetAlbumId(), RequestKey: requestKey,
				ThumbnailURL: request.GetThumbnailUrl(), Description: request.GetDescription(),
			}
		})
	return &albumv1.AddPhotoResponse{Photo: photosProto(ctx, []photo{added})[0]}, err
}

// UpdatePhoto changes a photo of an album.
func (s *Server) UpdatePhoto(ctx context.Context, request *albumv1.UpdatePhotoRequest) (*albumv1.UpdatePhotoResponse, error) {
	updated, err := s.photos.Update(ctx, request.GetActorId(), request.GetAlbumId(), request.GetPhotoId(), request.GetEtag(), owned.ChangedAt(s.now()), func(p *photo) {
		if request.ThumbnailUrl != nil {
			p.ThumbnailURL = request.GetThumbnailUrl()
		}
		if request.Description != nil {
			p.Description = request.GetDescription()
		}
	})
	if err != nil {
		return nil, err
	}
	return &albumv1.UpdatePhotoResponse{Photo: photosProto(ctx, []photo{updated})[0]}, nil
}

// RemovePhoto removes a photo from an album.
func (s *Server) RemovePhoto(ctx context.Context, request *albumv1.RemovePhotoRequest) (*albumv1.RemovePhotoResponse, error) {
	err := s.photos.Remove(ctx, request.GetAlbumId(), request.GetPhotoId(), request.GetEtag(),
		func(a *album, _ *photo) error { return s.albums.Allow(a, request.GetActorId(), a.ID) },
		owned.ChangedAt(s.now()))
	if err != nil {
		return nil, err
	}
	return &albumv1.RemovePhotoResponse{}, nil
}

// ListPhotos returns a page of an album's photos.
func (s *Server) ListPhotos(ctx context.Context, request *albumv1.ListPhotosRequest) (*albumv1.ListPhotosResponse, error) {
	page, err := s.photos.Page(ctx, request.GetAlbumId(), service.PageSize(request.GetPageSize(), firstPhotos, service.MaxPage), request.GetPageToken())
	return &albumv1.ListPhotosResponse{Photos: photosProto(ctx, page.Documents), NextPageToken: page.Next}, err
}

// etagOfPhoto returns the etag of a photo.
func etagOfPhoto(p *photo) string { return owned.EtagOfTexts(p.ThumbnailURL, p.Description) }

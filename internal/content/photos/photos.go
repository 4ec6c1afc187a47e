// Package photos keeps the photos of albums and landmarks.
package photos

import (
	"context"
	"flag"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/waybook/waybook/internal/arena"
	"github.com/waybook/waybook/internal/blob"
	"github.com/waybook/waybook/internal/content/aliases"
	"github.com/waybook/waybook/internal/content/child"
	"github.com/waybook/waybook/internal/content/owned"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/parent"
	"github.com/waybook/waybook/internal/platform/apierror"
	"github.com/waybook/waybook/internal/platform/service"
	"github.com/waybook/waybook/internal/upload"
	photov1 "github.com/waybook/waybook/proto/gen/waybook/photo/v1"
)

// FirstPage is how many photos a reply includes with the content itself.
const FirstPage = 200

// Photo is a photo as it is stored.
type Photo struct {
	ID         int64  `bson:"_id"`
	ParentID   int64  `bson:"parent_id"`
	RequestKey string `bson:"request_key"`
	// URL is the address of a photo without files. One that was moved in keeps it when it gets its
	// files; of one that was uploaded it is empty.
	URL         string `bson:"url"`
	Description string `bson:"description"`
	// File is the identifier of the files of an uploaded photo, or 0. Format, Width, Height and
	// Size are those of the original, upright. Once there, they never change.
	File   int64 `bson:"file,omitempty"`
	Format int32 `bson:"format,omitempty"`
	Width  int32 `bson:"width,omitempty"`
	Height int32 `bson:"height,omitempty"`
	Size   int64 `bson:"size,omitempty"`
}

// Spec declares a collection of photos.
func Spec(collection string) docstore.Spec {
	return child.Spec(collection, ByParent(), byRequest().Declare())
}

// ByParent orders the photos by the documents that they belong to.
func ByParent() docstore.Index1[int64] { return child.ByParent("parent_id") }

// byRequest finds the photo that a request added.
func byRequest() docstore.Index2[int64, string] {
	return docstore.Index2[int64, string]{Name: docstore.RequestIndex, A: "parent_id", B: "request_key", Unique: true}
}

// Set holds the photos of documents of type P, and implements PhotoService for them. Its fields do
// not change after creation. It may be used concurrently.
type Set[P any] struct {
	photov1.UnimplementedPhotoServiceServer
	*child.Set[P, Photo]
	Files Files
	sweep *upload.Sweep
}

// named is the part of a photo that names its files.
type named struct {
	ID   int64 `bson:"_id"`
	File int64 `bson:"file"`
}

// SweepFiles makes Sweep delete the files of removed photos.
func (s *Set[P]) SweepFiles(backups *blob.Backups, now func() time.Time) {
	s.sweep = &upload.Sweep{
		Store: s.Files.Store, Backups: backups, Now: now,
		Named: upload.NamedBy(docstore.Project[named](s.Children), func(photo named) int64 { return photo.File }),
	}
}

// Sweep deletes the files of removed photos, once a day.
func (s *Set[P]) Sweep(ctx context.Context) error {
	if s.sweep == nil {
		return nil
	}
	return s.sweep.Do(ctx)
}

// ParentOf returns the id of the document that a photo belongs to.
func ParentOf(photo *Photo) int64 { return photo.ParentID }

// RequestKey returns the key of the request that added a photo.
func RequestKey(photo *Photo) string { return photo.RequestKey }

// Etag returns the etag of a photo.
func Etag(photo *Photo) string {
	if photo.File != 0 {
		return owned.EtagOfTexts("", photo.Description)
	}
	return owned.EtagOfTexts(photo.URL, photo.Description)
}

func (s *Set[P]) AddPhoto(ctx context.Context, request *photov1.AddPhotoRequest) (*photov1.AddPhotoResponse, error) {
	_, parentID := parent.Of(request)
	asked := docstore.Request{By: byRequest().First(parentID), ID: request.GetRequestId(),
		Digest: service.Digest(request)}
	added, err := s.Add(ctx, request.GetActorId(), parentID, asked, nil, func(id int64, requestKey string) Photo {
		return Photo{ID: id, ParentID: parentID, RequestKey: requestKey, URL: request.GetUrl(),
			Description: request.GetDescription()}
	})
	if err != nil {
		return nil, err
	}
	return &photov1.AddPhotoResponse{Photo: s.show(ctx, added)}, nil
}

func (s *Set[P]) UpdatePhoto(ctx context.Context,
	request *photov1.UpdatePhotoRequest) (*photov1.UpdatePhotoResponse, error) {
	_, parentID := parent.Of(request)
	isRefused := false
	updated, err := s.Update(ctx, request.GetActorId(), parentID, request.GetPhotoId(), request.GetEtag(),
		func(photo *Photo) {
			if isRefused = request.Url != nil && photo.File != 0 &&
				request.GetUrl() != s.Files.address(photo); isRefused {
				return
			}
			if request.Url != nil && photo.File == 0 {
				photo.URL = request.GetUrl()
			}
			if request.Description != nil {
				photo.Description = request.GetDescription()
			}
		})
	if err != nil {
		return nil, err
	}
	if isRefused {
		return nil, apierror.Invalid("INVALID_PARAMETER",
			apierror.Violation{Field: "url", Message: "an uploaded photo keeps its url"})
	}
	return &photov1.UpdatePhotoResponse{Photo: s.show(ctx, updated)}, nil
}

func (s *Set[P]) RemovePhoto(ctx context.Context,
	request *photov1.RemovePhotoRequest) (*photov1.RemovePhotoResponse, error) {
	_, parentID := parent.Of(request)
	err := s.Remove(ctx, parentID, request.GetPhotoId(), request.GetEtag(), func(parent *P, _ *Photo) error {
		return s.Parents.Allow(parent, request.GetActorId(), parentID)
	})
	if err != nil {
		return nil, err
	}
	return &photov1.RemovePhotoResponse{}, nil
}

func (s *Set[P]) ListPhotos(ctx context.Context,
	request *photov1.ListPhotosRequest) (*photov1.ListPhotosResponse, error) {
	_, parentID := parent.Of(request)
	page, err := s.Page(ctx, parentID, service.PageSize(request.GetPageSize(), FirstPage, service.MaxPage),
		request.GetPageToken())
	if err != nil {
		return nil, err
	}
	return &photov1.ListPhotosResponse{Photos: s.Proto(ctx, page.Documents), NextPageToken: page.Next}, nil
}

// Proto converts photos to messages, for the reply of a call.
func (s *Set[P]) Proto(ctx context.Context, photos []Photo) []*photov1.Photo {
	shown := arena.Slice[*photov1.Photo](arena.Of(ctx), len(photos))
	messages := arena.Slice[photov1.Photo](arena.Of(ctx), len(photos)) // one allocation for all
	for i, p := range photos {
		shown[i] = &messages[i]
		shown[i].PhotoId, shown[i].Url, shown[i].Description = p.ID, s.Files.address(&p), p.Description
		shown[i].OldId, shown[i].Etag = aliases.OldID(p.ID, p.RequestKey), Etag(&p)
		if p.File != 0 {
			shown[i].File = &photov1.PhotoFile{Format: photov1.PhotoFormat(p.Format), Width: p.Width, Height: p.Height,
				SizeBytes: p.Size}
		}
	}
	return shown
}

func (s *Set[P]) show(ctx context.Context, photo Photo) *photov1.Photo {
	return s.Proto(ctx, []Photo{photo})[0]
}

// PublicURLFlag is the name of the flag of Files.PublicURL.
const PublicURLFlag = "public-url"

// RegisterPublicURL declares the flag of the site's address.
func RegisterPublicURL(flags *flag.FlagSet, address *string) {
	flags.StringVar(address, PublicURLFlag, "",
		"`address` of the site, such as https://waybook.example, with which that of a "+
			"landmark's uploaded photo begins; without it such uploads are refused")
}

// CheckPublicURL reports an address that none can begin with.
func CheckPublicURL(address string) error {
	parsed, err := url.Parse(address)
	if address != "" && (err != nil || parsed.Host == "" || parsed.Scheme != "https" && parsed.Scheme != "http" ||
		strings.ContainsAny(address, "?#")) {
		return fmt.Errorf("-%s must be an address such as https://waybook.example; it is %q", PublicURLFlag, address)
	}
	return nil
}

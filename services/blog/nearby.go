package blog

import (
	"context"

	"github.com/waybook/waybook/internal/content/aliases"
	"github.com/waybook/waybook/internal/content/nearby"
	"github.com/waybook/waybook/internal/platform/service"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// located is the part of an entry that SearchNearby shows. The texts of a page could be large.
type located struct {
	ID         int64   `bson:"_id"`
	AuthorID   int64   `bson:"author_id"`
	RequestKey string  `bson:"request_key"`
	Type       int32   `bson:"type"`
	Lat        float64 `bson:"lat"`
	Lng        float64 `bson:"lng"`
	Cell       int64   `bson:"cell"`
	Title      string  `bson:"title"`
	PostDay    day     `bson:"post_day"`
}

// SearchNearby returns a page of the entries in an area, nearest first.
func (s *Server) SearchNearby(ctx context.Context, request *blogv1.SearchNearbyRequest) (*blogv1.SearchNearbyResponse, error) {
	found, next, err := s.nearby.Search(ctx, nearby.Query{
		Area: nearby.AreaOf(request), Category: int64(request.GetType()),
		Size: service.PageSize(request.GetPageSize(), 100), Token: request.GetPageToken(),
	})
	if err != nil {
		return nil, err
	}
	authorIDs := make([]int64, len(found))
	for i, f := range found {
		authorIDs[i] = f.Document.AuthorID
	}
	authors := s.profiles.Show(ctx, authorIDs...)
	reply := &blogv1.SearchNearbyResponse{Blogs: make([]*blogv1.FoundBlog, len(found)), NextPageToken: next}
	for i, f := range found {
		b := f.Document
		reply.Blogs[i] = &blogv1.FoundBlog{
			BlogId: b.ID, Author: authors[b.AuthorID].Proto(b.AuthorID), Type: blogv1.BlogType(b.Type), Title: b.Title,
			Location: &typev1.Location{Lat: b.Lat, Lng: b.Lng}, PostDate: b.PostDay.proto(),
			OldId: aliases.OldID(b.ID, b.RequestKey), DistanceMeters: f.Distance,
		}
	}
	return reply, nil
}

func placeOf(b *located) nearby.Place {
	return nearby.Place{ID: b.ID, Category: int64(b.Type), Lat: b.Lat, Lng: b.Lng}
}

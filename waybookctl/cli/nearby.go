package cli

import (
	"context"

	"google.golang.org/protobuf/proto"

	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
	"github.com/waybook/waybook/waybookctl/output"
)

// around is the area of a search.
type around struct {
	place `embed:""`
	limit `embed:""`

	Radius float64 `default:"1000" placeholder:"METERS" help:"Radius of the search, from 0 to 100,000; ${default} by default."`
}

func (a around) circle() *typev1.Circle {
	return &typev1.Circle{Center: a.location(), RadiusMeters: a.Radius}
}

// found is a result of a search.
type found interface {
	proto.Message
	GetDistanceMeters() float64
}

// byDistance returns the columns of a result: its distance, and those of what was found.
func byDistance[F found, T any](what func(F) T, columns []output.Column[T]) []output.Column[F] {
	all := []output.Column[F]{{Head: "METERS", Cell: func(f F) string { return degrees(float64(int64(f.GetDistanceMeters() + 0.5))) }}}
	for _, column := range columns {
		all = append(all, output.Column[F]{Head: column.Head, Cell: func(f F) string { return column.Cell(what(f)) }})
	}
	return all
}

type albumNearby struct {
	around `embed:""`

	Category word[albumv1.AlbumCategory] `placeholder:"CATEGORY" help:"Only albums of this category."`
}

// Run searches.
func (c *albumNearby) Run(ctx context.Context, call *services, out *output.Printer) error {
	columns := byDistance((*albumv1.FoundAlbum).GetAlbum, albumColumns())
	return output.Items(out, "albums", columns, pages(c.limit, func(page pageOf) ([]*albumv1.FoundAlbum, string, error) {
		found, err := call.album.SearchNearby(ctx, &albumv1.SearchNearbyRequest{
			Area: &albumv1.SearchNearbyRequest_Circle{Circle: c.circle()}, Category: c.Category.value, PageSize: page.size, PageToken: page.token,
		})
		return found.GetAlbums(), found.GetNextPageToken(), err
	}))
}

type entryNearby struct {
	around `embed:""`

	Type word[blogv1.BlogType] `placeholder:"TYPE" help:"Only entries of this type."`
}

// Run searches.
func (c *entryNearby) Run(ctx context.Context, call *services, out *output.Printer) error {
	columns := byDistance(func(f *blogv1.FoundBlog) *blogv1.FoundBlog { return f }, foundEntryColumns())
	return output.Items(out, "entries", columns, pages(c.limit, func(page pageOf) ([]*blogv1.FoundBlog, string, error) {
		found, err := call.blog.SearchNearby(ctx, &blogv1.SearchNearbyRequest{
			Area: &blogv1.SearchNearbyRequest_Circle{Circle: c.circle()}, Type: c.Type.value, PageSize: page.size, PageToken: page.token,
		})
		return found.GetBlogs(), found.GetNextPageToken(), err
	}))
}

func foundEntryColumns() []output.Column[*blogv1.FoundBlog] {
	return []output.Column[*blogv1.FoundBlog]{
		{Head: "ENTRY", Cell: func(b *blogv1.FoundBlog) string { return number(b.GetBlogId()) }},
		{Head: "PLANNED", Cell: func(b *blogv1.FoundBlog) string { return dateText(b.GetPostDate()) }},
		{Head: "TYPE", Cell: func(b *blogv1.FoundBlog) string { return inWord(b.GetType()) }},
		{Head: "LAT,LNG", Cell: func(b *blogv1.FoundBlog) string { return placeText(b.GetLocation()) }},
		{Head: "AUTHOR", Cell: func(b *blogv1.FoundBlog) string { return profileText(b.GetAuthor()) }},
		{Head: "TITLE", Cell: (*blogv1.FoundBlog).GetTitle},
	}
}

type landmarkNearby struct {
	around `embed:""`

	Category word[poiv1.PoiCategory] `placeholder:"CATEGORY" help:"Only landmarks of this category."`
}

// Run searches.
func (c *landmarkNearby) Run(ctx context.Context, call *services, out *output.Printer) error {
	columns := byDistance((*poiv1.FoundPoi).GetPoi, landmarkColumns())
	return output.Items(out, "landmarks", columns, pages(c.limit, func(page pageOf) ([]*poiv1.FoundPoi, string, error) {
		found, err := call.poi.SearchNearby(ctx, &poiv1.SearchNearbyRequest{
			Area: &poiv1.SearchNearbyRequest_Circle{Circle: c.circle()}, Category: c.Category.value, PageSize: page.size, PageToken: page.token,
		})
		return found.GetPois(), found.GetNextPageToken(), err
	}))
}

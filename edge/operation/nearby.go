package operation

import (
	"math"

	"github.com/waybook/waybook/edge/form"
	"github.com/waybook/waybook/edge/reply"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// getNearbyPOIList finds landmarks around a point or in a box (rules 17.3 to 17.6).
func getNearbyPOIList(c *Config) Function {
	return Function{
		Name: "getNearbyPOIList", Rule: "17.3", Title: form.Title{"Find landmarks nearby", "尋找附近的地標"}, Effect: Reads,
		IsAddition: true,
		Operations: []Operation{
			{Variant: Around, handler: tokenList(c, func(in *Input) *poiv1.SearchNearbyRequest {
				return &poiv1.SearchNearbyRequest{Circle: requiredCircle(in), Category: optionalPoiCategory(in)}
			}, c.Poi.SearchNearby, (*poiv1.SearchNearbyResponse).GetPois, foundPois)},
			{Variant: InBox, handler: tokenList(c, func(in *Input) *poiv1.ListPoisRequest {
				return &poiv1.ListPoisRequest{View: typev1.View_VIEW_SUMMARY, Box: requiredBox(in),
					Category: optionalPoiCategory(in)}
			}, c.Poi.ListPois, (*poiv1.ListPoisResponse).GetSummaries,
				located("POIList", "POI", "POIID", "name", writeCategory))},
		},
	}
}

var foundPois = reply.List[*poiv1.Poi]{Name: "POIList", Item: "POI",
	WriteItem: func(out reply.Writer, poi *poiv1.Poi) {
		out.ID("POIID", poi.GetPoiId(), poi.GetOldId())
		out.Text("name", poi.GetName())
		out.Integer("category", int64(poi.GetCategory()))
		writeLocation(out, poi.GetLocation())
		writeDistance(out, poi.GetDistanceMeters())
	}}

// getNearbyAlbumList finds albums around a point or in a box (rule 17.20).
func getNearbyAlbumList(c *Config) Function {
	return Function{
		Name: "getNearbyAlbumList", Rule: "17.20", Title: form.Title{"Find albums nearby", "尋找附近的相簿"}, Effect: Reads,
		IsAddition: true,
		Operations: []Operation{
			{Variant: Around, handler: tokenList(c, func(in *Input) *albumv1.SearchNearbyRequest {
				return &albumv1.SearchNearbyRequest{Circle: requiredCircle(in), Category: optionalAlbumCategory(in)}
			}, c.Album.SearchNearby, (*albumv1.SearchNearbyResponse).GetAlbums, foundAlbums)},
			{Variant: InBox, handler: tokenList(c, func(in *Input) *albumv1.ListAlbumsRequest {
				return &albumv1.ListAlbumsRequest{View: typev1.View_VIEW_SUMMARY, Box: requiredBox(in),
					Category: optionalAlbumCategory(in)}
			}, c.Album.ListAlbums, (*albumv1.ListAlbumsResponse).GetSummaries,
				located("albumList", "album", "albumID", "albumTitle", writeCategory))},
		},
	}
}

var foundAlbums = reply.List[*albumv1.Album]{Name: "albumList", Item: "album",
	WriteItem: func(out reply.Writer, album *albumv1.Album) {
		writeShownAlbum(out, album)
		writeDistance(out, album.GetDistanceMeters())
	}}

// getNearbyBlogList finds published entries around a point or in a box (rule 17.20).
func getNearbyBlogList(c *Config) Function {
	return Function{
		Name: "getNearbyBlogList", Rule: "17.20", Title: form.Title{"Find diary entries nearby", "尋找附近的日記"},
		Effect: Reads, IsAddition: true,
		Operations: []Operation{
			{Variant: Around, handler: tokenList(c, func(in *Input) *blogv1.SearchNearbyRequest {
				return &blogv1.SearchNearbyRequest{
					Circle: requiredCircle(in), Type: optionalBlogType(in),
					Publication: blogv1.BlogPublication_BLOG_PUBLICATION_PUBLISHED,
				}
			}, c.Blog.SearchNearby, (*blogv1.SearchNearbyResponse).GetBlogs, foundBlogs)},
			{Variant: InBox, handler: tokenList(c, func(in *Input) *blogv1.ListBlogsRequest {
				return &blogv1.ListBlogsRequest{
					View: typev1.View_VIEW_SUMMARY, Box: requiredBox(in), Type: optionalBlogType(in),
					Publication: blogv1.BlogPublication_BLOG_PUBLICATION_PUBLISHED,
				}
			}, c.Blog.ListBlogs, (*blogv1.ListBlogsResponse).GetSummaries, locatedBlogs)},
		},
	}
}

var foundBlogs = reply.List[*blogv1.Blog]{Name: "blogList", Item: "blog",
	WriteItem: func(out reply.Writer, blog *blogv1.Blog) {
		writeBlogHead(out, blog)
		writeDistance(out, blog.GetDistanceMeters())
	}}

var locatedBlogs = located("blogList", "blog", "blogID", "blogTitle", func(out reply.Writer, category int32) {
	out.Text("type", nameOf(blogTypes[:], blogv1.BlogType(category)))
})

// The parameters of areas (rules 17.3 to 17.6).
var (
	paramNearLat = form.Parameter{Name: "lat", Title: paramLat.Title, Hint: paramLat.Hint, OneOf: "lat or latMin",
		Syntax: form.DecimalSyntax}
	paramRadius = form.Parameter{
		Name: "radius", Title: form.Title{"Radius (m)", "半徑（公尺）"}, Hint: "from 0 to 50000 metres",
		Syntax: form.DecimalSyntax, Range: &form.Range{Min: 0, Max: 50_000},
	}
	paramLatMin = form.Parameter{Name: "latMin", Title: form.Title{"Southern latitude", "南界緯度"}, Hint: paramLat.Hint,
		Syntax: form.DecimalSyntax}
	paramLatMax = form.Parameter{Name: "latMax", Title: form.Title{"Northern latitude", "北界緯度"},
		Hint: paramLat.Hint + ", not less than latMin", Syntax: form.DecimalSyntax}
	paramLngMin = form.Parameter{Name: "lngMin", Title: form.Title{"Western longitude", "西界經度"}, Hint: paramLng.Hint,
		Syntax: form.DecimalSyntax}
	paramLngMax = form.Parameter{Name: "lngMax", Title: form.Title{"Eastern longitude", "東界經度"}, Hint: paramLng.Hint,
		Syntax: form.DecimalSyntax}
)

func requiredCircle(in *Input) *typev1.Circle {
	return &typev1.Circle{
		Center: &typev1.Location{
			Lat: required(in, &paramNearLat, "circle.center.lat", form.Decimal),
			Lng: required(in, &paramLng, "circle.center.lng", form.Decimal),
		},
		RadiusMeters: required(in, &paramRadius, "circle.radius_meters", form.Decimal),
	}
}

// requiredBox reads a box of any size (rule 17.5).
func requiredBox(in *Input) *typev1.Box {
	box := &typev1.Box{
		South: required(in, &paramLatMin, "box.south", form.Decimal),
		North: required(in, &paramLatMax, "box.north", form.Decimal),
	}
	in.Imply(&paramLatMax, "box")
	box.West = required(in, &paramLngMin, "box.west", form.Decimal)
	box.East = required(in, &paramLngMax, "box.east", form.Decimal)
	return box
}

// writeDistance rounds to a tenth of a metre. The sphere is not the Earth; more digits would say
// nothing.
func writeDistance(out reply.Writer, meters float64) {
	out.Decimal("distance", math.Round(meters*10)/10)
}

// located returns the list of summaries on a map, under the names that a kind of content has in
// replies (rule 17.5).
func located(list, item, id, title string,
	writeCategory func(out reply.Writer, category int32)) reply.List[*typev1.Summary] {
	all := summaries(list, item, id, title)
	writeSummary := all.WriteItem
	all.WriteItem = func(out reply.Writer, summary *typev1.Summary) {
		writeSummary(out, summary)
		writeCategory(out, summary.GetCategory())
		writeLocation(out, summary.GetLocation())
	}
	return all
}

func writeCategory(out reply.Writer, category int32) { out.Integer("category", int64(category)) }

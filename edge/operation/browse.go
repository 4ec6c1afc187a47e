package operation

import (
	"time"

	"github.com/waybook/waybook/edge/form"
	"github.com/waybook/waybook/edge/reply"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// The lists of everybody's content, for pages that begin with what is new or near (rules 17.17 to
// 17.21). Items have what a card shows, so a list needs no request for each of its items.

// recentAlbumsRequest reads the parameter of getRecentAlbumList (rule 17.17).
func recentAlbumsRequest(in *Input) *albumv1.ListAlbumsRequest {
	return &albumv1.ListAlbumsRequest{Order: typev1.ListOrder_LIST_ORDER_NEWEST_FIRST, Category: optionalAlbumCategory(in)}
}

// optionalAlbumCategory returns 0, for all categories, if the parameter is absent.
func optionalAlbumCategory(in *Input) albumv1.AlbumCategory {
	return form.Or(optional(in, &paramAlbumCategory, "category", form.Enum[albumv1.AlbumCategory]), 0)
}

var shownAlbums = reply.List[*albumv1.Album]{Name: "albumList", Item: "album", WriteItem: writeShownAlbum}

func writeShownAlbum(out reply.Writer, album *albumv1.Album) {
	out.ID("albumID", album.GetAlbumId(), album.GetOldId())
	out.Text("albumTitle", album.GetTitle())
	out.Integer("category", int64(album.GetCategory()))
	out.Integer("ownerID", album.GetOwner().GetUserId())
	writeOwned(out, album)
}

// recentPoisRequest reads the parameter of getRecentPOIList (rule 17.17).
func recentPoisRequest(in *Input) *poiv1.ListPoisRequest {
	return &poiv1.ListPoisRequest{Order: typev1.ListOrder_LIST_ORDER_NEWEST_FIRST, Category: optionalPoiCategory(in)}
}

var shownPois = reply.List[*poiv1.Poi]{Name: "POIList", Item: "POI", WriteItem: func(out reply.Writer, poi *poiv1.Poi) {
	out.ID("POIID", poi.GetPoiId(), poi.GetOldId())
	out.Text("name", poi.GetName())
	out.Integer("category", int64(poi.GetCategory()))
	out.Integer("ownerID", poi.GetOwner().GetUserId())
	writeOwned(out, poi)
}}

// poisOfOwnerRequest reads the parameter of getUserPOIList (rule 17.21).
func poisOfOwnerRequest(in *Input) *poiv1.ListPoisRequest {
	return &poiv1.ListPoisRequest{OwnerId: required(in, &paramUserID, "owner_id", asUserID)}
}

// recentBlogsRequest reads the parameter of getRecentBlogList (rule 17.18).
func recentBlogsRequest(in *Input) *blogv1.ListBlogsRequest {
	return &blogv1.ListBlogsRequest{Order: blogv1.BlogOrder_BLOG_ORDER_RECENT, Type: optionalBlogType(in)}
}

// optionalBlogType returns 0, for all types, if the parameter is absent.
func optionalBlogType(in *Input) blogv1.BlogType {
	return form.Or(optional(in, &paramBlogType, "type", asBlogType), 0)
}

// paramAuthorID is paramUserID, or 0 for all users.
var paramAuthorID = form.Parameter{Name: "userID", Hint: idHint, Syntax: form.IntegerSyntax}

// datedBlogsRequest reads the parameters of getDatedBlogList (rule 17.19). The last day is set only if
// the first one exists; the service refuses one that does not.
func datedBlogsRequest(in *Input) *blogv1.ListBlogsRequest {
	author := form.Or(optional(in, &paramAuthorID, "author_id", form.ID), 0)
	first := &typev1.Date{
		Year: required(in, &paramYear, "post_date_from.year", form.Int32),
	}
	var month *int32
	if in.Has(&paramDay) {
		month = new(required(in, &paramMonth, "post_date_from.month", form.Int32))
	} else {
		month = optional(in, &paramMonth, "post_date_from.month", form.Int32)
	}
	day := optional(in, &paramDay, "post_date_from.day", form.Int32)
	first.Month, first.Day = form.Or(month, 1), form.Or(day, 1)
	in.Imply(&paramWholeDate, "post_date_from")
	in.Imply(&paramYear, "post_date_to.year")
	in.Imply(&paramMonth, "post_date_to.month")
	in.Imply(&paramDay, "post_date_to.day")
	request := &blogv1.ListBlogsRequest{
		AuthorId: author, Order: blogv1.BlogOrder_BLOG_ORDER_POST_DATE,
		Publication: blogv1.BlogPublication_BLOG_PUBLICATION_PUBLISHED, PostDateFrom: first,
	}
	date := time.Date(int(first.GetYear()), time.Month(first.GetMonth()), int(first.GetDay()), 0, 0, 0, 0, time.UTC)
	if date.Month() == time.Month(first.GetMonth()) && date.Day() == int(first.GetDay()) {
		switch {
		case month == nil:
			date = date.AddDate(1, 0, -1)
		case day == nil:
			date = date.AddDate(0, 1, -1)
		}
		request.PostDateTo = &typev1.Date{Year: first.GetYear(), Month: int32(date.Month()), Day: int32(date.Day())}
	}
	return request
}

// shownBlogs leaves out the texts, which can be long.
var shownBlogs = reply.List[*blogv1.Blog]{Name: "blogList", Item: "blog", WriteItem: func(out reply.Writer, blog *blogv1.Blog) {
	out.ID("blogID", blog.GetBlogId(), blog.GetOldId())
	out.Text("blogTitle", blog.GetTitle())
	writeAuthor(out, blog.GetAuthor())
	out.Text("type", nameOf(blogTypes[:], blog.GetType()))
	writeLocation(out, blog.GetLocation())
	writePostDate(out, blog.GetPostDate())
	out.Text("weather", nameOf(weathers[:], blog.GetWeather()))
	if quoted := blog.GetReplyBlogId(); quoted != 0 {
		out.ID("replyBlogID", quoted, blog.GetReplyOldId())
	}
	out.Integer("score", blog.GetScore())
}}

func writeAuthor(out reply.Writer, author *typev1.Profile) {
	out.Integer("authorID", author.GetUserId())
	out.Text("authorName", author.GetName())
	out.Text("authorIcon", author.GetIconUrl())
}

func writePostDate(out reply.Writer, date *typev1.Date) {
	reply.Date(out, "postDate", int(date.GetYear()), int(date.GetMonth()), int(date.GetDay()))
}

// searchAlbumsRequest reads the parameters of getNearbyAlbumList around a point (rule 17.20).
func searchAlbumsRequest(in *Input) *albumv1.SearchNearbyRequest {
	return &albumv1.SearchNearbyRequest{
		Circle: requiredCircle(in), Category: optionalAlbumCategory(in),
	}
}

var foundAlbums = reply.List[*albumv1.Album]{Name: "albumList", Item: "album", WriteItem: func(out reply.Writer, album *albumv1.Album) {
	writeShownAlbum(out, album)
	writeDistance(out, album.GetDistanceMeters())
}}

// searchBlogsRequest reads the parameters of getNearbyBlogList around a point (rule 17.20).
func searchBlogsRequest(in *Input) *blogv1.SearchNearbyRequest {
	return &blogv1.SearchNearbyRequest{
		Circle: requiredCircle(in), Type: optionalBlogType(in),
		Publication: blogv1.BlogPublication_BLOG_PUBLICATION_PUBLISHED,
	}
}

var foundBlogs = reply.List[*blogv1.Blog]{Name: "blogList", Item: "blog", WriteItem: func(out reply.Writer, found *blogv1.Blog) {
	out.ID("blogID", found.GetBlogId(), found.GetOldId())
	out.Text("blogTitle", found.GetTitle())
	writeAuthor(out, found.GetAuthor())
	out.Text("type", nameOf(blogTypes[:], found.GetType()))
	writeLocation(out, found.GetLocation())
	writePostDate(out, found.GetPostDate())
	writeDistance(out, found.GetDistanceMeters())
}}

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

// albumsInBoxRequest reads the parameters of getNearbyAlbumList in a box (rule 17.20).
func albumsInBoxRequest(in *Input) *albumv1.ListAlbumsRequest {
	return &albumv1.ListAlbumsRequest{View: typev1.View_VIEW_SUMMARY, Box: requiredBox(in), Category: optionalAlbumCategory(in)}
}

var locatedAlbums = located("albumList", "album", "albumID", "albumTitle", writeCategory)

// blogsInBoxRequest reads the parameters of getNearbyBlogList in a box (rule 17.20).
func blogsInBoxRequest(in *Input) *blogv1.ListBlogsRequest {
	return &blogv1.ListBlogsRequest{
		View: typev1.View_VIEW_SUMMARY, Box: requiredBox(in), Type: optionalBlogType(in),
		Publication: blogv1.BlogPublication_BLOG_PUBLICATION_PUBLISHED,
	}
}

var locatedBlogs = located("blogList", "blog", "blogID", "blogTitle", func(out reply.Writer, category int32) {
	out.Text("type", nameOf(blogTypes[:], blogv1.BlogType(category)))
})

// located returns the list of summaries on a map, under the names that a kind of content has in replies (rule 17.5).
func located(list, item, id, title string, writeCategory func(out reply.Writer, category int32)) reply.List[*typev1.Summary] {
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

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

// getRecentAlbumList lists everybody's albums, the newest first (rule 17.17).
func getRecentAlbumList(c *Config) Function {
	return Function{
		Name: "getRecentAlbumList", Rule: "17.17", Title: form.Title{"List all albums", "列出所有相簿"}, Effect: Reads,
		IsAddition: true,
		Operations: only(tokenList(c, func(in *Input) *albumv1.ListAlbumsRequest {
			return &albumv1.ListAlbumsRequest{Order: typev1.ListOrder_LIST_ORDER_NEWEST_FIRST,
				Category: optionalAlbumCategory(in)}
		}, c.Album.ListAlbums, (*albumv1.ListAlbumsResponse).GetAlbums,
			reply.List[*albumv1.Album]{Name: "albumList", Item: "album", WriteItem: writeShownAlbum})),
	}
}

// writeShownAlbum writes what a card shows, so a list needs no request for each of its items.
func writeShownAlbum(out reply.Writer, album *albumv1.Album) {
	out.ID("albumID", album.GetAlbumId(), album.GetOldId())
	out.Text("albumTitle", album.GetTitle())
	out.Integer("category", int64(album.GetCategory()))
	out.Integer("ownerID", album.GetOwner().GetUserId())
	writeOwned(out, album)
}

// getRecentPOIList lists everybody's landmarks, the newest first (rule 17.17).
func getRecentPOIList(c *Config) Function {
	return Function{
		Name: "getRecentPOIList", Rule: "17.17", Title: form.Title{"List all landmarks", "列出所有地標"}, Effect: Reads,
		IsAddition: true,
		Operations: only(tokenList(c, func(in *Input) *poiv1.ListPoisRequest {
			return &poiv1.ListPoisRequest{Order: typev1.ListOrder_LIST_ORDER_NEWEST_FIRST,
				Category: optionalPoiCategory(in)}
		}, c.Poi.ListPois, (*poiv1.ListPoisResponse).GetPois, shownPois)),
	}
}

// getUserPOIList lists the landmarks of a user (rule 17.21).
func getUserPOIList(c *Config) Function {
	return Function{
		Name: "getUserPOIList", Rule: "17.21", Title: form.Title{"List a user’s landmarks", "列出使用者的地標"}, Effect: Reads,
		IsAddition: true,
		Operations: only(tokenList(c, func(in *Input) *poiv1.ListPoisRequest {
			return &poiv1.ListPoisRequest{OwnerId: required(in, &paramUserID, "owner_id", form.ID)}
		}, c.Poi.ListPois, (*poiv1.ListPoisResponse).GetPois, shownPois)),
	}
}

var shownPois = reply.List[*poiv1.Poi]{Name: "POIList", Item: "POI",
	WriteItem: func(out reply.Writer, poi *poiv1.Poi) {
		out.ID("POIID", poi.GetPoiId(), poi.GetOldId())
		out.Text("name", poi.GetName())
		out.Integer("category", int64(poi.GetCategory()))
		out.Integer("ownerID", poi.GetOwner().GetUserId())
		writeOwned(out, poi)
	}}

// getRecentBlogList lists everybody's published entries, the latest planned date first (rule
// 17.18).
func getRecentBlogList(c *Config) Function {
	return Function{
		Name: "getRecentBlogList", Rule: "17.18", Title: form.Title{"List all diary entries", "列出所有日記"}, Effect: Reads,
		IsAddition: true,
		Operations: only(tokenList(c, func(in *Input) *blogv1.ListBlogsRequest {
			return &blogv1.ListBlogsRequest{Order: blogv1.BlogOrder_BLOG_ORDER_RECENT, Type: optionalBlogType(in)}
		}, c.Blog.ListBlogs, (*blogv1.ListBlogsResponse).GetBlogs, shownBlogs)),
	}
}

// shownBlogs leaves out the texts, which can be long.
var shownBlogs = reply.List[*blogv1.Blog]{Name: "blogList", Item: "blog",
	WriteItem: func(out reply.Writer, blog *blogv1.Blog) {
		writeBlogHead(out, blog)
		writeWeatherAndQuote(out, blog)
		out.Integer("score", blog.GetScore())
	}}

// getUserBlogList lists the published entries of a user (rules 7.27, 9.2 and 9.4).
func getUserBlogList(c *Config) Function {
	return Function{
		Name: "getUserBlogList", Rule: "7.27", Title: form.Title{"List a user’s diary entries", "列出使用者的日記"},
		Effect: Reads, IsAddition: true,
		Operations: only(idList(c, func(in *Input) *blogv1.ListBlogsRequest {
			return &blogv1.ListBlogsRequest{
				View:        typev1.View_VIEW_SUMMARY,
				AuthorId:    required(in, &paramUserID, "author_id", form.ID),
				PageSize:    limitAndNext(in),
				AfterBlogId: form.Or(optional(in, &paramAfter, "after_blog_id", form.ID), 0),
				Publication: blogv1.BlogPublication_BLOG_PUBLICATION_PUBLISHED,
			}
		}, c.Blog.ListBlogs, (*blogv1.ListBlogsResponse).GetSummaries,
			summaries("blogList", "blog", "blogID", "blogTitle"), summaryID)),
	}
}

// getDatedBlogList lists the published entries of a year, a month or a day (rule 17.19).
func getDatedBlogList(c *Config) Function {
	return Function{
		Name: "getDatedBlogList", Rule: "17.19", Title: form.Title{"List diary entries by date", "依日期列出日記"},
		Effect: Reads, IsAddition: true,
		Operations: only(tokenList(c, datedBlogsRequest, c.Blog.ListBlogs, (*blogv1.ListBlogsResponse).GetBlogs,
			shownBlogs)),
	}
}

// paramAuthorID is paramUserID, or 0 for all users.
var paramAuthorID = form.Parameter{Name: "userID", Title: paramUserID.Title, Hint: idHint, Syntax: form.IntegerSyntax}

// datedBlogsRequest sets the last day only if the first one exists; the service refuses one that
// does not.
func datedBlogsRequest(in *Input) *blogv1.ListBlogsRequest {
	author := form.Or(optional(in, &paramAuthorID, "author_id", form.ID), 0)
	first := &typev1.Date{Year: required(in, &paramYear, "post_date_from.year", form.Int32)}
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

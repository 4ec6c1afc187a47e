package operation

import (
	"slices"

	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
)

// Table returns THE TABLE (rule 1.3). The functions that a row names are in one file per
// subject, such as albums.go.
func Table(c *Config) []Operation {
	return append(legacyOperations(c), additions(c)...)
}

func legacyOperations(c *Config) []Operation {
	return []Operation{
		{"addAlbum", AsWritten, Writes, LoginNeeded, unary(c, createAlbumRequest, c.Album.CreateAlbum, writeNewAlbum)},
		{"updateAlbum", AsWritten, Writes, LoginNeeded, unary(c, updateAlbumRequest, c.Album.UpdateAlbum, writeNothing)},
		{"updateAlbum", Deleting, Writes, LoginNeeded, unary(c, deleteAlbumRequest, c.Album.DeleteAlbum, writeNothing)},
		{"getAlbum", AsWritten, Reads, Anonymous, paged(c, getAlbumRequest, c.Album.GetAlbum, writeAlbum(withoutIDs))},
		{"getUserAlbumList", AsWritten, Reads, Anonymous, idList(c, userAlbumsRequest, c.Album.ListAlbums, (*albumv1.ListAlbumsResponse).GetSummaries, albumList, summaryID)},

		{"getCategoryPOIList", AsWritten, Reads, Anonymous, idList(c, categoryPoisRequest, c.Poi.ListPois, (*poiv1.ListPoisResponse).GetSummaries, poiList, summaryID)},
		{"getPOI", AsWritten, Reads, Anonymous, paged(c, getPoiRequest, c.Poi.GetPoi, writePoi(withoutIDs))},

		{"postBlog", AsWritten, Writes, LoginNeeded, unary(c, postBlogRequest(c), c.Blog.CreateBlog, writeNewBlog)},
		{"updateBlog", AsWritten, Writes, LoginNeeded, unary(c, updateBlogRequest, c.Blog.UpdateBlog, writeNothing)},
		{"updateBlog", Deleting, Writes, LoginNeeded, unary(c, deleteBlogRequest, c.Blog.DeleteBlog, writeNothing)},
		{"getBlog", AsWritten, Reads, Anonymous, paged(c, getBlogRequest, c.Blog.GetBlog, writeBlog(withoutIDs))},
	}
}

// additions are operations that the legacy contract does not have. The old interface does not
// say how a user gets a session (rule 3.13).
func additions(c *Config) []Operation {
	if c.Additions == AdditionsWithheld {
		return nil
	}
	rows := []Operation{
		{"getUserBlogList", AsWritten, Reads, Anonymous, idList(c, userBlogsRequest, c.Blog.ListBlogs, (*blogv1.ListBlogsResponse).GetSummaries, blogList, summaryID)},

		{"getUserPOIList", AsWritten, Reads, Anonymous, tokenList(c, poisOfOwnerRequest, c.Poi.ListPois, (*poiv1.ListPoisResponse).GetPois, shownPois)},

		{"getNearbyPOIList", Around, Reads, Anonymous, tokenList(c, searchNearbyRequest, c.Poi.SearchNearby, (*poiv1.SearchNearbyResponse).GetPois, foundPois)},
		{"getNearbyPOIList", InBox, Reads, Anonymous, tokenList(c, poisInBoxRequest, c.Poi.ListPois, (*poiv1.ListPoisResponse).GetSummaries, locatedPois)},

		{"getNearbyAlbumList", Around, Reads, Anonymous, tokenList(c, searchAlbumsRequest, c.Album.SearchNearby, (*albumv1.SearchNearbyResponse).GetAlbums, foundAlbums)},
		{"getNearbyAlbumList", InBox, Reads, Anonymous, tokenList(c, albumsInBoxRequest, c.Album.ListAlbums, (*albumv1.ListAlbumsResponse).GetSummaries, locatedAlbums)},
		{"getNearbyBlogList", Around, Reads, Anonymous, tokenList(c, searchBlogsRequest, c.Blog.SearchNearby, (*blogv1.SearchNearbyResponse).GetBlogs, foundBlogs)},
		{"getNearbyBlogList", InBox, Reads, Anonymous, tokenList(c, blogsInBoxRequest, c.Blog.ListBlogs, (*blogv1.ListBlogsResponse).GetSummaries, locatedBlogs)},

		{"getRecentAlbumList", AsWritten, Reads, Anonymous, tokenList(c, recentAlbumsRequest, c.Album.ListAlbums, (*albumv1.ListAlbumsResponse).GetAlbums, shownAlbums)},
		{"getRecentBlogList", AsWritten, Reads, Anonymous, tokenList(c, recentBlogsRequest, c.Blog.ListBlogs, (*blogv1.ListBlogsResponse).GetBlogs, shownBlogs)},
		{"getRecentPOIList", AsWritten, Reads, Anonymous, tokenList(c, recentPoisRequest, c.Poi.ListPois, (*poiv1.ListPoisResponse).GetPois, shownPois)},
		{"getDatedBlogList", AsWritten, Reads, Anonymous, tokenList(c, datedBlogsRequest, c.Blog.ListBlogs, (*blogv1.ListBlogsResponse).GetBlogs, shownBlogs)},

		{"getAlbum", WithIDs, Reads, Anonymous, paged(c, getAlbumRequest, c.Album.GetAlbum, writeAlbum(withIDs))},
		{"getPOI", WithIDs, Reads, Anonymous, paged(c, getPoiRequest, c.Poi.GetPoi, writePoi(withIDs))},
		{"getBlog", WithIDs, Reads, Anonymous, paged(c, getBlogRequest, c.Blog.GetBlog, writeBlog(withIDs))},
	}
	rows = slices.Concat(rows,
		of(c, withPhotos(), "addPhoto", addPhotoRequest, c.Photo.AddPhoto, writeNewPhoto),
		of(c, withPhotos(), "removePhoto", removePhotoRequest, c.Photo.RemovePhoto, writeNothing),
		of(c, anyContent(), "addComment", addCommentRequest, c.Comment.AddComment, writeNewComment),
		of(c, anyContent(), "replyComment", replyToCommentRequest, c.Comment.ReplyToComment, writeNothing),
		of(c, anyContent(), "removeComment", removeCommentRequest, c.Comment.RemoveComment, writeNothing),
		of(c, anyContent(), "recommend", recommendRequest, c.Recommendation.Recommend, writeScore),
		of(c, anyContent(), "withdrawRecommendation", withdrawRequest, c.Recommendation.Withdraw, writeScore),
		[]Operation{{"castVote", AsWritten, Writes, LoginNeeded, unary(c, castBallotRequest, c.Blog.CastBallot, writeVoteNow)}},
	)
	if c.Sessions == OpenedHere {
		rows = append(rows,
			Operation{"login", AsWritten, Writes, Anonymous, logIn(c)},
			Operation{"logout", AsWritten, Writes, Anonymous, logOut(c)},
		)
	}
	return rows
}

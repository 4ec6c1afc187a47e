package cli

import (
	"context"

	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	"github.com/waybook/waybook/waybookctl/output"
)

// The commands of albums, entries and landmarks. Those with an rpc tag embed calls or lists, which
// call that RPC with the flags and arguments as the request.

type albumCommands struct {
	Create    albumCreate      `cmd:"" rpc:"CreateAlbum" help:"Create an album."`
	Show      contentShow      `cmd:"" rpc:"GetAlbum" help:"Show an album with its first photos and comments."`
	List      albumList        `cmd:"" rpc:"ListAlbums" help:"List a user's albums in creation order."`
	Recent    albumRecent      `cmd:"" rpc:"ListRecentAlbums" help:"List the albums of all users, newest first."`
	Nearby    albumNearby      `cmd:"" rpc:"SearchNearby" help:"List the albums around a point, nearest first."`
	Changes   changes          `cmd:"" rpc:"ListAlbumChanges" with:"include_album" help:"List what was created, changed or deleted until two seconds ago, oldest first."`
	Update    albumUpdate      `cmd:"" rpc:"UpdateAlbum" help:"Change an album; fields without a flag keep their values."`
	Export    albumExport      `cmd:"" help:"Export a user's albums to a file that move import reads."`
	Delete    contentDelete    `cmd:"" rpc:"DeleteAlbum" help:"Delete an album with its photos and comments."`
	Recommend contentRecommend `cmd:"" rpc:"Recommend" help:"Recommend an album."`
	Withdraw  contentWithdraw  `cmd:"" rpc:"WithdrawRecommendation" help:"Withdraw a recommendation of an album."`
	Photo     photoCommands    `cmd:"" help:"Photos of an album."`
	Comment   commentCommands  `cmd:"" help:"Comments on an album."`
}

type entryCommands struct {
	Create    entryCreate      `cmd:"" rpc:"CreateBlog" help:"Create an entry."`
	Show      contentShow      `cmd:"" rpc:"GetBlog" help:"Show an entry with its text, vote and first comments, even before its planned date."`
	List      entryList        `cmd:"" rpc:"ListBlogs" help:"List entries; tables leave out their texts."`
	Recent    entryRecent      `cmd:"" rpc:"ListRecentBlogs" help:"List the published entries of all users, newest first; tables leave out their texts."`
	Nearby    entryNearby      `cmd:"" rpc:"SearchNearby" help:"List the entries around a point, nearest first."`
	Changes   changes          `cmd:"" rpc:"ListBlogChanges" with:"include_blog" help:"List what was created, changed or deleted until two seconds ago, oldest first."`
	Update    entryUpdate      `cmd:"" rpc:"UpdateBlog" help:"Change an entry; fields without a flag keep their values."`
	Vote      entryVote        `cmd:"" rpc:"CastBallot" help:"Vote for a choice of an entry's vote."`
	Export    entryExport      `cmd:"" help:"Export a user's entries to a file that move import reads."`
	Delete    contentDelete    `cmd:"" rpc:"DeleteBlog" help:"Delete an entry with its vote and comments."`
	Recommend contentRecommend `cmd:"" rpc:"Recommend" help:"Recommend an entry."`
	Withdraw  contentWithdraw  `cmd:"" rpc:"WithdrawRecommendation" help:"Withdraw a recommendation of an entry."`
	Comment   commentCommands  `cmd:"" help:"Comments on an entry."`
}

type landmarkCommands struct {
	Create    landmarkCreate   `cmd:"" rpc:"CreatePoi" help:"Create a landmark."`
	Show      contentShow      `cmd:"" rpc:"GetPoi" help:"Show a landmark with its first photos and comments."`
	List      landmarkList     `cmd:"" rpc:"ListPois" help:"List a category's landmarks in creation order."`
	Nearby    landmarkNearby   `cmd:"" rpc:"SearchNearby" help:"List the landmarks around a point, nearest first."`
	Changes   changes          `cmd:"" rpc:"ListPoiChanges" with:"include_poi" help:"List what was created, changed or deleted until two seconds ago, oldest first."`
	Update    landmarkUpdate   `cmd:"" rpc:"UpdatePoi" help:"Change a landmark; fields without a flag keep their values."`
	Import    landmarkImport   `cmd:"" help:"Import landmarks from a file: GeoJSON, JSON, NDJSON or CSV."`
	Export    landmarkExport   `cmd:"" help:"Export landmarks to a file."`
	Delete    contentDelete    `cmd:"" rpc:"DeletePoi" help:"Delete a landmark with its photos and comments."`
	Recommend contentRecommend `cmd:"" rpc:"Recommend" help:"Recommend a landmark."`
	Withdraw  contentWithdraw  `cmd:"" rpc:"WithdrawRecommendation" help:"Withdraw a recommendation of a landmark."`
	Photo     photoCommands    `cmd:"" help:"Photos of a landmark."`
	Comment   commentCommands  `cmd:"" help:"Comments on a landmark."`
}

type photoCommands struct {
	Add    photoAdd    `cmd:"" rpc:"AddPhoto" help:"Add a photo."`
	List   contentList `cmd:"" rpc:"ListPhotos" help:"List the photos in the order in which they were added."`
	Remove photoRemove `cmd:"" rpc:"RemovePhoto" help:"Remove a photo."`
}

type commentCommands struct {
	Add    commentAdd    `cmd:"" rpc:"AddComment" help:"Add a comment."`
	Reply  commentReply  `cmd:"" rpc:"ReplyToComment" help:"Reply to a comment, replacing an earlier reply."`
	List   contentList   `cmd:"" rpc:"ListComments" help:"List the comments, oldest first."`
	Remove commentRemove `cmd:"" rpc:"RemoveComment" help:"Remove a comment."`
}

// contentID selects an album, an entry or a landmark.
type contentID struct {
	ID int64 `arg:"" field:"album_id,blog_id,poi_id" help:"The ${noun}'s identifier."`
}

// acting selects the user on whose behalf a restricted command runs. An operator is not a user, so
// the default is the owner of the thing.
type acting struct {
	As int64 `field:"actor_id" placeholder:"USER" help:"Act as this user, not as the owner."`
}

// place is a required location on the map.
type place struct {
	Lat float64 `required:"" field:"location.lat,circle.center.lat" placeholder:"DEGREES" help:"Latitude, from -90 to 90."`
	Lng float64 `required:"" field:"location.lng,circle.center.lng" placeholder:"DEGREES" help:"Longitude, from -180 to 180."`
}

// newLocation is a change of location.
type newLocation struct {
	Lat float64 `and:"location" field:"location.lat" placeholder:"DEGREES" help:"New latitude, from -90 to 90."`
	Lng float64 `and:"location" field:"location.lng" placeholder:"DEGREES" help:"New longitude, from -180 to 180."`
}

// around is the area of a search.
type around struct {
	place
	lists
	Radius float64 `default:"1000" field:"circle.radius_meters" placeholder:"METERS" help:"Radius of the search, from 0 to 100,000; ${default} by default."`
}

type (
	contentShow struct {
		calls
		contentID
	}
	contentList struct {
		lists
		contentID
	}
	contentDelete struct {
		calls
		acting
		contentID
	}
	contentRecommend struct {
		calls
		contentID
		As int64 `required:"" field:"user_id" placeholder:"USER" help:"User who recommends it."`
	}
	contentWithdraw struct {
		calls
		contentID
		As int64 `required:"" field:"user_id" placeholder:"USER" help:"User who withdraws the recommendation."`
	}
)

type (
	photoAdd struct {
		calls
		acting
		contentID
		URL         string `arg:"" field:"thumbnail_url,photo_url" help:"URL of the image, absolute or relative."`
		Description string `placeholder:"TEXT" help:"Description, at most 2,000 characters."`
	}
	photoRemove struct {
		calls
		acting
		contentID
		Photo int64 `arg:"" help:"The photo's identifier."`
	}
)

type (
	commentAdd struct {
		calls
		contentID
		Text string `arg:"" help:"Text, 1 to 2,000 characters."`
		As   int64  `required:"" field:"author_id" placeholder:"USER" help:"Author of the comment."`
	}
	commentReply struct {
		calls
		acting
		contentID
		Comment int64  `arg:"" help:"The comment's identifier."`
		Text    string `arg:"" help:"Text, 1 to 2,000 characters."`
	}
	commentRemove struct {
		calls
		acting
		contentID
		Comment int64 `arg:"" help:"The comment's identifier."`
	}
)

type (
	albumCreate struct {
		calls
		place
		Title    string                      `arg:"" help:"Title, 1 to 200 characters."`
		Owner    int64                       `required:"" placeholder:"USER" help:"User who will own it."`
		Category word[albumv1.AlbumCategory] `required:"" placeholder:"CATEGORY" help:"Category of the album."`
	}
	albumList struct {
		lists
		Owner int64 `required:"" placeholder:"USER" help:"Owner of the albums."`
	}
	albumRecent struct {
		lists
		Category word[albumv1.AlbumCategory] `placeholder:"CATEGORY" help:"Only albums of this category."`
	}
	albumNearby struct {
		around
		Category word[albumv1.AlbumCategory] `placeholder:"CATEGORY" help:"Only albums of this category."`
	}
	albumUpdate struct {
		calls
		acting
		contentID
		Title    string                      `placeholder:"TITLE" help:"New title, 1 to 200 characters."`
		Category word[albumv1.AlbumCategory] `placeholder:"CATEGORY" help:"New category."`
		Lat      float64                     `placeholder:"DEGREES" help:"New latitude, from -90 to 90."`
		Lng      float64                     `placeholder:"DEGREES" help:"New longitude, from -180 to 180."`
	}
)

type (
	landmarkCreate struct {
		calls
		place
		Name     string                  `arg:"" help:"Name, 1 to 200 characters."`
		Owner    int64                   `required:"" placeholder:"USER" help:"User who will own it."`
		Category word[poiv1.PoiCategory] `required:"" placeholder:"CATEGORY" help:"Category of the landmark."`
	}
	landmarkList struct {
		lists
		Category word[poiv1.PoiCategory] `required:"" placeholder:"CATEGORY" help:"Category of the landmarks."`
	}
	landmarkNearby struct {
		around
		Category word[poiv1.PoiCategory] `placeholder:"CATEGORY" help:"Only landmarks of this category."`
	}
	landmarkUpdate struct {
		calls
		acting
		contentID
		Name     string                  `placeholder:"NAME" help:"New name, 1 to 200 characters."`
		Category word[poiv1.PoiCategory] `placeholder:"CATEGORY" help:"New category."`
		newLocation
	}
)

type (
	entryRecent struct {
		lists
		Type word[blogv1.BlogType] `placeholder:"TYPE" help:"Only entries of this type."`
	}
	entryNearby struct {
		around
		Type word[blogv1.BlogType] `placeholder:"TYPE" help:"Only entries of this type."`
	}
	entryUpdate struct {
		calls
		acting
		contentID
		Title   string                `placeholder:"TITLE" help:"New title, 1 to 200 characters."`
		Content textOrInput           `placeholder:"TEXT" help:"New text, 1 to 100,000 characters; - reads it from standard input."`
		Type    word[blogv1.BlogType] `placeholder:"TYPE" help:"New type."`
		Weather word[blogv1.Weather]  `placeholder:"WEATHER" help:"The weather."`
		Date    day                   `field:"post_date" placeholder:"YYYY-MM-DD" help:"New planned publication date."`
		newLocation
		Quote int64                `field:"reply_blog_id" placeholder:"ENTRY" help:"The entry that this one now quotes; 0 for none."`
		Zoom  int32                `field:"zoom_level" placeholder:"LEVEL" help:"Map zoom level, from 0 to 21."`
		Map   word[blogv1.MapType] `field:"map_type" placeholder:"TYPE" help:"New map type."`
	}
	entryVote struct {
		calls
		contentID
		Choice int32 `arg:"" help:"Position of the choice, from 1."`
		As     int64 `required:"" field:"voter_id" placeholder:"USER" help:"User who votes."`
	}
)

type entryCreate struct {
	place
	Title   string                `arg:"" help:"Title, 1 to 200 characters."`
	Content textOrInput           `arg:"" help:"Text, 1 to 100,000 characters; - reads it from standard input."`
	Author  int64                 `required:"" placeholder:"USER" help:"Author of the entry."`
	Type    word[blogv1.BlogType] `required:"" placeholder:"TYPE" help:"Type of the entry."`
	Weather word[blogv1.Weather]  `required:"" placeholder:"WEATHER" help:"The weather."`
	Date    day                   `required:"" field:"post_date" placeholder:"YYYY-MM-DD" help:"Planned publication date."`
	Quote   int64                 `field:"reply_blog_id" placeholder:"ENTRY" help:"The entry that this one quotes."`
	Zoom    int32                 `field:"zoom_level" placeholder:"LEVEL" help:"Map zoom level, from 0 to 21; 14 when not given."`
	Map     word[blogv1.MapType]  `field:"map_type" placeholder:"TYPE" help:"Map type; map when not given."`
	Vote    string                `and:"vote" field:"vote.description" placeholder:"QUESTION" help:"Question of a vote inside the entry."`
	Choice  []string              `and:"vote" sep:"none" field:"vote.choices" placeholder:"TEXT" help:"A choice of the vote; repeat the flag for 2 to 20 choices."`
}

// Run creates the entry, without a vote if its question is empty.
func (c *entryCreate) Run(ctx context.Context, call *rpc, out *output.Printer) error {
	if request := call.request.(*blogv1.CreateBlogRequest); c.Vote == "" {
		request.Vote = nil
	}
	return call.print(ctx, out)
}

// The orders of a list of entries.
const (
	byCreation = "creation"
	byPlan     = "plan"
)

type entryList struct {
	limit
	Author    int64  `placeholder:"USER" help:"Author of the entries; all authors when not given."`
	Order     string `enum:"creation,plan," default:"" field:"-" placeholder:"ORDER" help:"Order of the entries: by creation, or by planned date (plan). creation requires --author and excludes --published, --from and --to; it is the default where it is allowed. Otherwise, the default is plan."`
	Published bool   `field:"-" help:"Only entries whose planned date is not in the future."`
	From      day    `field:"post_date_from" placeholder:"YYYY-MM-DD" help:"Only entries planned for this day or later."`
	To        day    `field:"post_date_to" placeholder:"YYYY-MM-DD" help:"Only entries planned for this day or earlier."`
}

// Run lists the entries.
func (c *entryList) Run(ctx context.Context, call *rpc, out *output.Printer) error {
	request := call.request.(*blogv1.ListBlogsRequest)
	if c.Published {
		request.Publication = blogv1.BlogPublication_BLOG_PUBLICATION_PUBLISHED
	}
	needsPlan := c.Author == 0 || c.Published || c.From.date != nil || c.To.date != nil
	if needsPlan && c.Order == byCreation {
		return usageError("--order=creation requires --author and excludes --published, --from and --to")
	}
	if needsPlan || c.Order == byPlan {
		request.Order = blogv1.BlogOrder_BLOG_ORDER_POST_DATE
	}
	return call.printList(ctx, out, c.limit)
}

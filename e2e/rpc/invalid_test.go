package rpc_test

import (
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// long is a text of that many characters, more than one byte each.
func long(characters int) string { return strings.Repeat("長", characters) }

const tooHigh = 1 << 53

func TestEveryViolationOfARequestIsNamed(t *testing.T) {
	w, ctx := start(t), t.Context()
	nowhere := &typev1.Location{Lat: -90.001, Lng: 180.001}
	for name, test := range map[string]struct {
		err    error
		fields []string
	}{
		"CreateUser": {
			failed(w.account.CreateUser(ctx, &accountv1.CreateUserRequest{RequestId: "1", Name: long(101), IconUrl: strings.Repeat("x", 2001)})),
			[]string{"request_id", "name", "icon_url"},
		},
		"BatchGetUsers": {failed(w.account.BatchGetUsers(ctx, &accountv1.BatchGetUsersRequest{})), []string{"user_ids"}},
		"BatchGetUsers of wrong ones": {
			failed(w.account.BatchGetUsers(ctx, &accountv1.BatchGetUsersRequest{UserIds: []int64{1, 0, tooHigh}})),
			[]string{"user_ids[1]", "user_ids[2]"},
		},
		"UpdateUser": {
			failed(w.account.UpdateUser(ctx, &accountv1.UpdateUserRequest{UserId: -1, Name: proto.String("")})),
			[]string{"user_id", "name"},
		},
		"VerifySession": {
			failed(w.account.VerifySession(ctx, &accountv1.VerifySessionRequest{UserId: tooHigh, Token: strings.Repeat("A", 32)})),
			[]string{"user_id", "token"},
		},
		"CreateAlbum": {
			failed(w.album.CreateAlbum(ctx, &albumv1.CreateAlbumRequest{RequestId: "x", Title: long(201), Category: 17, Location: nowhere})),
			[]string{"request_id", "owner_id", "title", "category", "location.lat", "location.lng"},
		},
		"CreateAlbum of nothing": {
			failed(w.album.CreateAlbum(ctx, &albumv1.CreateAlbumRequest{})),
			[]string{"owner_id", "title", "category", "location"},
		},
		"UpdateAlbum": {
			failed(w.album.UpdateAlbum(ctx, &albumv1.UpdateAlbumRequest{Title: proto.String(""), Category: albumv1.AlbumCategory(0).Enum(), Lat: proto.Float64(91), Lng: proto.Float64(-181)})),
			[]string{"actor_id", "album_id", "title", "category", "lat", "lng"},
		},
		"AddPhoto to an album": {
			failed(w.album.AddPhoto(ctx, &albumv1.AddPhotoRequest{ActorId: 1, AlbumId: 1, Description: long(2001)})),
			[]string{"thumbnail_url", "description"},
		},
		"AddComment": {
			failed(w.album.AddComment(ctx, &albumv1.AddCommentRequest{Text: long(2001)})),
			[]string{"author_id", "album_id", "text"},
		},
		"ListAlbums": {
			failed(w.album.ListAlbums(ctx, &albumv1.ListAlbumsRequest{PageSize: -1, PageToken: long(1001)})),
			[]string{"owner_id", "page_size", "page_token"},
		},
		"StreamAlbums": {
			failed(collect(w.album.StreamAlbums(ctx, &albumv1.StreamAlbumsRequest{OwnerId: -1}))),
			[]string{"owner_id"},
		},
		"CreateBlog": {
			failed(w.blog.CreateBlog(ctx, &blogv1.CreateBlogRequest{
				Type: 10, Location: nowhere, Title: long(201), Content: long(100_001), PostDate: &typev1.Date{Month: 13, Day: 32},
				Weather: 8, ReplyBlogId: -1, ZoomLevel: proto.Int32(22), MapType: 4, Vote: &blogv1.NewVote{Choices: []string{"one"}},
			})),
			[]string{
				"author_id", "type", "location.lat", "location.lng", "title", "content", "post_date.year", "post_date.month",
				"post_date.day", "weather", "reply_blog_id", "zoom_level", "map_type", "vote.description", "vote.choices",
			},
		},
		"CastBallot": {
			failed(w.blog.CastBallot(ctx, &blogv1.CastBallotRequest{Choice: 21})),
			[]string{"voter_id", "blog_id", "choice"},
		},
		"CreatePoi": {
			failed(w.poi.CreatePoi(ctx, &poiv1.CreatePoiRequest{OwnerId: tooHigh, Name: "", Category: 6})),
			[]string{"owner_id", "name", "category", "location"},
		},
		"StreamPois": {
			failed(collect(w.poi.StreamPois(ctx, &poiv1.StreamPoisRequest{Category: 6}))),
			[]string{"category"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			expectFault(t, test.err, codes.InvalidArgument, "INVALID_PARAMETER", test.fields...)
		})
	}
}

func TestADayThatTheCalendarLacksIsRefused(t *testing.T) {
	w := start(t)
	author := w.newUser("a")
	for _, day := range []*typev1.Date{
		{Year: 2026, Month: 2, Day: 29}, {Year: 2100, Month: 2, Day: 29}, {Year: 2026, Month: 4, Day: 31}, {Year: 2024, Month: 2, Day: 30},
	} {
		request := newBlogRequest(author)
		request.PostDate = day
		expectFault(t, failed(w.blog.CreateBlog(t.Context(), request)), codes.InvalidArgument, "INVALID_PARAMETER", "post_date")
	}
	for _, day := range []*typev1.Date{{Year: 2024, Month: 2, Day: 29}, {Year: 2000, Month: 2, Day: 29}, {Year: 9999, Month: 12, Day: 31}} {
		request := newBlogRequest(author)
		request.PostDate = day
		if _, err := w.blog.CreateBlog(t.Context(), request); err != nil {
			t.Errorf("%v: %v", day, err)
		}
	}
}

func TestTheLongestTextsAreTakenAndGivenBack(t *testing.T) {
	w := start(t)
	author := w.newUser(long(100))
	request := newBlogRequest(author)
	request.Title, request.Content = long(200), strings.Repeat("𠮷", 100_000)
	created, err := w.blog.CreateBlog(t.Context(), request)
	b := w.getBlog(got(t, created, err).GetBlog().GetBlogId()).GetBlog()
	if b.GetTitle() != request.GetTitle() || b.GetContent() != request.GetContent() || b.GetAuthor().GetName() != long(100) {
		t.Error("the entry differs from what was sent")
	}
}

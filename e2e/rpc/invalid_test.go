package rpc_test

import (
	"slices"
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

// long returns a text of a number of multi-byte characters.
func long(characters int) string { return strings.Repeat("長", characters) }

const tooHigh = 1 << 53

// The golden cases show it of requests that the edge sends.
func TestEveryViolationOfARequestIsReported(t *testing.T) {
	t.Parallel()
	w, ctx := start(t), t.Context()
	for name, test := range map[string]struct {
		err    error
		fields []string
	}{
		"CreateUser": {
			failed(w.Account.CreateUser(ctx, &accountv1.CreateUserRequest{RequestId: "1", Name: long(101), IconUrl: strings.Repeat("x", 2001)})),
			[]string{"request_id", "name", "icon_url"},
		},
		"CreateUser who logs in": {
			failed(w.Account.CreateUser(ctx, &accountv1.CreateUserRequest{Name: "x", Email: "no address", Password: "1234567"})),
			[]string{"email", "password"},
		},
		"CreateUser with too long an address": {
			failed(w.Account.CreateUser(ctx, &accountv1.CreateUserRequest{Name: "x", Email: strings.Repeat("x", 240) + "@waybook.example", Password: long(201)})),
			[]string{"email", "password"},
		},
		"CreateUser with a password but no address": {
			failed(w.Account.CreateUser(ctx, &accountv1.CreateUserRequest{Password: "long enough"})),
			[]string{"name", "password"},
		},
		"CreateUser with a control character and a blank": {
			failed(w.Account.CreateUser(ctx, &accountv1.CreateUserRequest{Name: "\u3000", IconUrl: "\x1b]0;title\x07"})),
			[]string{"name", "icon_url"},
		},
		"BatchGetUsers": {failed(w.Account.BatchGetUsers(ctx, &accountv1.BatchGetUsersRequest{})), []string{"user_ids"}},
		"UpdateUser": {
			failed(w.Account.UpdateUser(ctx, &accountv1.UpdateUserRequest{UserId: -1, Name: proto.String("")})),
			[]string{"user_id", "name"},
		},
		"GrantRewards": {
			failed(w.Account.GrantRewards(ctx, &accountv1.GrantRewardsRequest{Grants: []*accountv1.Grant{
				{Source: "Blog 1", Amount: 1_000_000_001}, {UserId: tooHigh, Source: "blog/" + strings.Repeat("1", 60), Amount: -1},
			}})),
			[]string{
				"grants[0].user_id", "grants[0].source", "grants[0].amount", "grants[1].user_id", "grants[1].source", "grants[1].amount",
			},
		},
		"GrantRewards without any": {failed(w.Account.GrantRewards(ctx, &accountv1.GrantRewardsRequest{})), []string{"grants"}},
		"GrantRewards with too many": {
			failed(w.Account.GrantRewards(ctx, &accountv1.GrantRewardsRequest{Grants: slices.Repeat([]*accountv1.Grant{{UserId: 1, Source: "blog/1"}}, 101)})),
			[]string{"grants"},
		},
		"ListRewards": {
			failed(w.Account.ListRewards(ctx, &accountv1.ListRewardsRequest{})),
			[]string{"user_id"},
		},
		"VerifySession": {
			failed(w.Account.VerifySession(ctx, &accountv1.VerifySessionRequest{UserId: tooHigh, Token: strings.Repeat("A", 32)})),
			[]string{"user_id", "token"},
		},
		"ListAlbums": {
			failed(w.Album.ListAlbums(ctx, &albumv1.ListAlbumsRequest{OwnerId: -1, Order: 2, View: 2, AfterAlbumId: tooHigh, PageSize: -1, PageToken: long(1001)})),
			[]string{"after_album_id", "owner_id", "order", "view", "after_album_id", "page_size", "page_token"},
		},
		"ListAlbums of an owner and a category, from an identifier to older ones": {
			failed(w.Album.ListAlbums(ctx, &albumv1.ListAlbumsRequest{OwnerId: 1, Category: 1, Order: 1, AfterAlbumId: 1})),
			[]string{"category", "after_album_id"},
		},
		"ListBlogs without an author": {failed(w.Blog.ListBlogs(ctx, &blogv1.ListBlogsRequest{})), []string{"author_id"}},
		"ListBlogs with invalid fields": {
			failed(w.Blog.ListBlogs(ctx, &blogv1.ListBlogsRequest{
				AuthorId: -1, Order: 3, View: 2, PageSize: -1, Publication: 2,
				PostDateFrom: &typev1.Date{Year: 2026, Month: 2, Day: 29}, PostDateTo: &typev1.Date{Year: 10_000, Month: 1, Day: 1},
			})),
			[]string{"order", "author_id", "order", "view", "post_date_from", "post_date_to.year", "publication", "page_size"},
		},
		"ListBlogs in creation order by planned date": {
			failed(w.Blog.ListBlogs(ctx, &blogv1.ListBlogsRequest{AuthorId: 1, PostDateTo: &typev1.Date{Year: 2026, Month: 2, Day: 28}})),
			[]string{"order"},
		},
		"ListBlogs of a type and the recent ones of an author": {
			failed(w.Blog.ListBlogs(ctx, &blogv1.ListBlogsRequest{AuthorId: 1, Order: blogv1.BlogOrder_BLOG_ORDER_RECENT, AfterBlogId: 1})),
			[]string{"author_id", "after_blog_id"},
		},
		"ListBlogs of a type by planned date": {
			failed(w.Blog.ListBlogs(ctx, &blogv1.ListBlogsRequest{Type: 1, Order: blogv1.BlogOrder_BLOG_ORDER_POST_DATE})),
			[]string{"type"},
		},
		"ListPois": {
			failed(w.Poi.ListPois(ctx, &poiv1.ListPoisRequest{Category: 6, AfterPoiId: tooHigh, PageSize: -1})),
			[]string{"category", "after_poi_id", "page_size"},
		},
		"ListPois of an owner, in the order of creation": {
			failed(w.Poi.ListPois(ctx, &poiv1.ListPoisRequest{OwnerId: 1, Category: 1, Order: 1, AfterPoiId: 1})),
			[]string{"category", "order", "after_poi_id"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			expectFault(t, test.err, codes.InvalidArgument, "INVALID_PARAMETER", test.fields...)
		})
	}
}

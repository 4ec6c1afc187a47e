package cli

import (
	"context"
	"slices"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// kind is a kind of content that belongs to users.
type kind struct {
	typev1.Kind
	noun, plural string
	// field names a content in requests, and recordField the old identifier of one in records of
	// package format.
	field, recordField protoreflect.Name
	owner              func(ctx context.Context, call *services, id int64) (int64, error)
	// idsOf returns the identifiers of all that a user owns: 8 bytes for each.
	idsOf  func(ctx context.Context, call *services, owner int64) ([]int64, error)
	delete func(ctx context.Context, call *services, owner, id int64, etag string) error
}

var kinds = []*kind{albumKind, entryKind, landmarkKind}

var albumKind = &kind{
	Kind: typev1.Kind_KIND_ALBUM, noun: "album", plural: "albums", field: "album_id", recordField: "album_id",
	owner: func(ctx context.Context, call *services, id int64) (int64, error) {
		found, err := call.Album.GetAlbum(ctx, &albumv1.GetAlbumRequest{AlbumId: id})
		return found.GetAlbum().GetOwner().GetUserId(), err
	},
	idsOf: func(ctx context.Context, call *services, owner int64) ([]int64, error) {
		request := &albumv1.ListAlbumsRequest{OwnerId: owner, WithHidden: true, View: typev1.View_VIEW_SUMMARY,
			PageSize: idPage}
		return idsIn(ctx, call.Album.ListAlbums, request, (*albumv1.ListAlbumsResponse).GetSummaries)
	},
	delete: func(ctx context.Context, call *services, owner, id int64, etag string) error {
		_, err := call.Album.DeleteAlbum(ctx, &albumv1.DeleteAlbumRequest{ActorId: owner, AlbumId: id, Etag: etag})
		return err
	},
}

var entryKind = &kind{
	Kind: typev1.Kind_KIND_BLOG, noun: "entry", plural: "entries", field: "blog_id", recordField: "entry_id",
	owner: func(ctx context.Context, call *services, id int64) (int64, error) {
		found, err := call.Blog.GetBlog(ctx, &blogv1.GetBlogRequest{BlogId: id})
		return found.GetBlog().GetAuthor().GetUserId(), err
	},
	idsOf: func(ctx context.Context, call *services, owner int64) ([]int64, error) {
		request := &blogv1.ListBlogsRequest{AuthorId: owner, WithHidden: true, View: typev1.View_VIEW_SUMMARY,
			PageSize: idPage}
		return idsIn(ctx, call.Blog.ListBlogs, request, (*blogv1.ListBlogsResponse).GetSummaries)
	},
	delete: func(ctx context.Context, call *services, owner, id int64, etag string) error {
		_, err := call.Blog.DeleteBlog(ctx, &blogv1.DeleteBlogRequest{ActorId: owner, BlogId: id, Etag: etag})
		return err
	},
}

var landmarkKind = &kind{
	Kind: typev1.Kind_KIND_POI, noun: "landmark", plural: "landmarks", field: "poi_id", recordField: "landmark_id",
	owner: func(ctx context.Context, call *services, id int64) (int64, error) {
		found, err := call.Poi.GetPoi(ctx, &poiv1.GetPoiRequest{PoiId: id})
		return found.GetPoi().GetOwner().GetUserId(), err
	},
	idsOf: func(ctx context.Context, call *services, owner int64) ([]int64, error) {
		request := &poiv1.ListPoisRequest{OwnerId: owner, WithHidden: true, View: typev1.View_VIEW_SUMMARY,
			PageSize: idPage}
		return idsIn(ctx, call.Poi.ListPois, request, (*poiv1.ListPoisResponse).GetSummaries)
	},
	delete: func(ctx context.Context, call *services, owner, id int64, etag string) error {
		_, err := call.Poi.DeletePoi(ctx, &poiv1.DeletePoiRequest{ActorId: owner, PoiId: id, Etag: etag})
		return err
	},
}

func kindNamed(noun string) *kind {
	return kinds[slices.IndexFunc(kinds, func(each *kind) bool { return each.noun == noun })]
}

// nounOf returns the name that a kind of content has in commands.
func nounOf(of typev1.Kind) string {
	for _, each := range kinds {
		if each.Kind == of {
			return each.noun
		}
	}
	return of.String()
}

// idPage is how many items are read at a time.
const idPage = 1000

// idsIn returns the identifiers of the items of a list. Of a user who is gone there are none.
func idsIn[Request proto.Message, Reply interface{ GetNextPageToken() string }](
	ctx context.Context, ask func(context.Context, Request, ...grpc.CallOption) (Reply, error), request Request,
	items func(Reply) []*typev1.Summary,
) (ids []int64, _ error) {
	for item, err := range pages(ctx, limit{}, ask, request, items) {
		switch {
		case status.Code(err) == codes.NotFound:
			return ids, nil
		case err != nil:
			return nil, err
		}
		ids = append(ids, item.GetId())
	}
	return ids, nil
}

// parent is a content that has others, such as comments.
type parent struct {
	*kind
	id    int64
	oldID string
}

// asked returns a request about what belongs to the parent.
func asked[Request proto.Message](p parent, request Request) Request {
	message := request.ProtoReflect()
	message.Set(message.Descriptor().Fields().ByName(p.field), protoreflect.ValueOfInt64(p.id))
	return request
}

// recorded returns a record of what belongs to the parent.
func recorded[Record proto.Message](p parent, record Record) Record {
	message := record.ProtoReflect()
	message.Set(message.Descriptor().Fields().ByName(p.recordField), protoreflect.ValueOfString(p.oldID))
	return record
}

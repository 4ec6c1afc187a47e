package rpc_test

import (
	"context"

	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// change is a change as each service shows it.
type change struct {
	id       int64
	kind     typev1.ChangeKind
	revision int64
	parts    *typev1.PartRevisions
	// isShown says that it has the resource, whose title or name is title.
	isShown bool
	title   string
}

// changePage is a page of changes, or a batch of a stream.
type changePage struct {
	changes []change
	next    string
	hasMore bool
}

// feed is the feed of changes of a service.
type feed struct {
	list  func(token string, size int32, withResources bool) (changePage, error)
	watch func(ctx context.Context, token string) (receive func() (changePage, error), err error)
	// create, change and remove write a resource with a title, or a name.
	create func(title string) int64
	change func(id int64, title string) error
	remove func(id int64) error
}

// feeds returns the feeds of all services.
func (w *waybook) feeds(ctx context.Context, owner int64) map[string]feed {
	return map[string]feed{
		"User": {
			list: func(token string, size int32, with bool) (changePage, error) {
				reply, err := w.account.ListUserChanges(ctx, &accountv1.ListUserChangesRequest{PageToken: token, PageSize: size, IncludeUser: with})
				return changePage{userChanges(reply.GetChanges()), reply.GetNextPageToken(), reply.GetHasMore()}, err
			},
			watch: func(ctx context.Context, token string) (func() (changePage, error), error) {
				stream, err := w.account.WatchUserChanges(ctx, &accountv1.WatchUserChangesRequest{PageToken: token, IncludeUser: true})
				return func() (changePage, error) {
					batch, err := stream.Recv()
					return changePage{changes: userChanges(batch.GetChanges()), next: batch.GetNextPageToken()}, err
				}, err
			},
			create: func(title string) int64 { return w.newUser(title) },
			change: func(id int64, title string) error {
				return failed(w.account.UpdateUser(ctx, &accountv1.UpdateUserRequest{UserId: id, Name: &title}))
			},
			remove: func(id int64) error {
				yes := true
				if err := failed(w.account.UpdateUser(ctx, &accountv1.UpdateUserRequest{UserId: id, Disabled: &yes})); err != nil {
					return err
				}
				return failed(w.account.DeleteUser(ctx, &accountv1.DeleteUserRequest{UserId: id}))
			},
		},
		"Album": {
			list: func(token string, size int32, with bool) (changePage, error) {
				reply, err := w.album.ListAlbumChanges(ctx, &albumv1.ListAlbumChangesRequest{PageToken: token, PageSize: size, IncludeAlbum: with})
				return changePage{albumChanges(reply.GetChanges()), reply.GetNextPageToken(), reply.GetHasMore()}, err
			},
			watch: func(ctx context.Context, token string) (func() (changePage, error), error) {
				stream, err := w.album.WatchAlbumChanges(ctx, &albumv1.WatchAlbumChangesRequest{PageToken: token, IncludeAlbum: true})
				return func() (changePage, error) {
					batch, err := stream.Recv()
					return changePage{changes: albumChanges(batch.GetChanges()), next: batch.GetNextPageToken()}, err
				}, err
			},
			create: func(title string) int64 { return w.newAlbum(owner, title) },
			change: func(id int64, title string) error {
				return failed(w.album.UpdateAlbum(ctx, &albumv1.UpdateAlbumRequest{ActorId: owner, AlbumId: id, Title: &title}))
			},
			remove: func(id int64) error {
				return failed(w.album.DeleteAlbum(ctx, &albumv1.DeleteAlbumRequest{ActorId: owner, AlbumId: id}))
			},
		},
		"Blog": {
			list: func(token string, size int32, with bool) (changePage, error) {
				reply, err := w.blog.ListBlogChanges(ctx, &blogv1.ListBlogChangesRequest{PageToken: token, PageSize: size, IncludeBlog: with})
				return changePage{blogChanges(reply.GetChanges()), reply.GetNextPageToken(), reply.GetHasMore()}, err
			},
			watch: func(ctx context.Context, token string) (func() (changePage, error), error) {
				stream, err := w.blog.WatchBlogChanges(ctx, &blogv1.WatchBlogChangesRequest{PageToken: token, IncludeBlog: true})
				return func() (changePage, error) {
					batch, err := stream.Recv()
					return changePage{changes: blogChanges(batch.GetChanges()), next: batch.GetNextPageToken()}, err
				}, err
			},
			create: func(title string) int64 {
				request := newBlogRequest(owner)
				request.Title = title
				return must(w.blog.CreateBlog(ctx, request))(w.t).GetBlog().GetBlogId()
			},
			change: func(id int64, title string) error {
				return failed(w.blog.UpdateBlog(ctx, &blogv1.UpdateBlogRequest{ActorId: owner, BlogId: id, Title: &title}))
			},
			remove: func(id int64) error {
				return failed(w.blog.DeleteBlog(ctx, &blogv1.DeleteBlogRequest{ActorId: owner, BlogId: id}))
			},
		},
		"Poi": {
			list: func(token string, size int32, with bool) (changePage, error) {
				reply, err := w.poi.ListPoiChanges(ctx, &poiv1.ListPoiChangesRequest{PageToken: token, PageSize: size, IncludePoi: with})
				return changePage{poiChanges(reply.GetChanges()), reply.GetNextPageToken(), reply.GetHasMore()}, err
			},
			watch: func(ctx context.Context, token string) (func() (changePage, error), error) {
				stream, err := w.poi.WatchPoiChanges(ctx, &poiv1.WatchPoiChangesRequest{PageToken: token, IncludePoi: true})
				return func() (changePage, error) {
					batch, err := stream.Recv()
					return changePage{changes: poiChanges(batch.GetChanges()), next: batch.GetNextPageToken()}, err
				}, err
			},
			create: func(title string) int64 { return w.newPoi(owner, title) },
			change: func(id int64, title string) error {
				return failed(w.poi.UpdatePoi(ctx, &poiv1.UpdatePoiRequest{ActorId: owner, PoiId: id, Name: &title}))
			},
			remove: func(id int64) error {
				return failed(w.poi.DeletePoi(ctx, &poiv1.DeletePoiRequest{ActorId: owner, PoiId: id}))
			},
		},
	}
}

func userChanges(found []*accountv1.UserChange) (all []change) {
	for _, each := range found {
		all = append(all, change{each.GetUserId(), each.GetKind(), each.GetRevision(), each.GetParts(), each.GetUser() != nil, each.GetUser().GetName()})
	}
	return all
}

func albumChanges(found []*albumv1.AlbumChange) (all []change) {
	for _, each := range found {
		all = append(all, change{each.GetAlbumId(), each.GetKind(), each.GetRevision(), each.GetParts(), each.GetAlbum() != nil, each.GetAlbum().GetTitle()})
	}
	return all
}

func blogChanges(found []*blogv1.BlogChange) (all []change) {
	for _, each := range found {
		all = append(all, change{each.GetBlogId(), each.GetKind(), each.GetRevision(), each.GetParts(), each.GetBlog() != nil, each.GetBlog().GetTitle()})
	}
	return all
}

func poiChanges(found []*poiv1.PoiChange) (all []change) {
	for _, each := range found {
		all = append(all, change{each.GetPoiId(), each.GetKind(), each.GetRevision(), each.GetParts(), each.GetPoi() != nil, each.GetPoi().GetName()})
	}
	return all
}

package rpc_test

import (
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
)

func (w *waybook) getAlbum(id int64) *albumv1.GetAlbumResponse {
	w.t.Helper()
	return must(w.album.GetAlbum(w.t.Context(), &albumv1.GetAlbumRequest{AlbumId: id}))(w.t)
}

func TestAnAlbumIsChangedInPart(t *testing.T) {
	w := start(t)
	owner := w.newUser("小旅人")
	id := w.newAlbum(owner, "東北角")
	want := w.getAlbum(id).GetAlbum()
	if p := want.GetOwner(); p.GetName() != "小旅人" || p.GetIconUrl() != "小旅人.jpg" || p.GetUserId() != owner || want.GetScore() != 0 {
		t.Errorf("created %v", want)
	}
	pets := albumv1.AlbumCategory_ALBUM_CATEGORY_PETS
	for name, change := range map[string]struct {
		request *albumv1.UpdateAlbumRequest
		apply   func()
	}{
		"nothing":   {&albumv1.UpdateAlbumRequest{}, func() {}},
		"title":     {&albumv1.UpdateAlbumRequest{Title: proto.String("新")}, func() { want.Title = "新" }},
		"category":  {&albumv1.UpdateAlbumRequest{Category: &pets}, func() { want.Category = pets }},
		"latitude":  {&albumv1.UpdateAlbumRequest{Lat: proto.Float64(0)}, func() { want.Location.Lat = 0 }},
		"longitude": {&albumv1.UpdateAlbumRequest{Lng: proto.Float64(-180)}, func() { want.Location.Lng = -180 }},
	} {
		change.request.ActorId, change.request.AlbumId = owner, id
		change.apply()
		now := must(w.album.UpdateAlbum(t.Context(), change.request))(t).GetAlbum()
		if now.GetUpdateTime().AsTime().Before(want.GetUpdateTime().AsTime()) {
			t.Errorf("%s: the update time decreased", name)
		}
		want.UpdateTime = now.GetUpdateTime()
		if read := w.getAlbum(id).GetAlbum(); !proto.Equal(now, want) || !proto.Equal(read, want) {
			t.Errorf("after %s: %v, read %v, want %v", name, now, read, want)
		}
	}
}

func TestPhotosOfAnAlbumAreAddedChangedAndRemoved(t *testing.T) {
	w := start(t)
	owner := w.newUser("a")
	id := w.newAlbum(owner, "x")
	var photos []*albumv1.Photo
	for _, name := range []string{"1.jpg", "2.jpg", "3.jpg"} {
		photos = append(photos, must(w.album.AddPhoto(t.Context(), &albumv1.AddPhotoRequest{ActorId: owner, AlbumId: id, ThumbnailUrl: name, Description: "d" + name}))(t).GetPhoto())
	}
	updated := must(w.album.UpdatePhoto(t.Context(), &albumv1.UpdatePhotoRequest{
		ActorId: owner, AlbumId: id, PhotoId: photos[1].GetPhotoId(), Description: proto.String(""),
	}))(t)
	if p := updated.GetPhoto(); p.GetDescription() != "" || p.GetThumbnailUrl() != "2.jpg" {
		t.Errorf("updated %v", p)
	}
	must(w.album.RemovePhoto(t.Context(), &albumv1.RemovePhotoRequest{ActorId: owner, AlbumId: id, PhotoId: photos[0].GetPhotoId()}))(t)
	left := w.getAlbum(id)
	if len(left.GetPhotos()) != 2 || left.GetPhotos()[0].GetThumbnailUrl() != "2.jpg" || left.GetPhotos()[1].GetDescription() != "d3.jpg" || left.GetNextPhotosToken() != "" {
		t.Errorf("left %v", left)
	}
	if !left.GetAlbum().GetUpdateTime().AsTime().After(left.GetAlbum().GetCreateTime().AsTime().Add(-1)) {
		t.Errorf("times %v", left.GetAlbum())
	}
}

func TestADeletedAlbumIsNotFound(t *testing.T) {
	w := start(t)
	owner := w.newUser("a")
	id := w.newAlbum(owner, "x")
	request := &albumv1.DeleteAlbumRequest{ActorId: owner, AlbumId: id}
	must(w.album.DeleteAlbum(t.Context(), request))(t)
	expectFault(t, failed(w.album.DeleteAlbum(t.Context(), request)), codes.NotFound, "ALBUM_NOT_FOUND")
	expectFault(t, failed(w.album.GetAlbum(t.Context(), &albumv1.GetAlbumRequest{AlbumId: id})), codes.NotFound, "ALBUM_NOT_FOUND")
	list := must(w.album.ListAlbums(t.Context(), &albumv1.ListAlbumsRequest{OwnerId: owner}))(t)
	if len(list.GetAlbums()) != 0 {
		t.Errorf("listed %v", list)
	}
}

func TestAlbumFailsAsTheContractSays(t *testing.T) {
	w, ctx := start(t), t.Context()
	owner, other := w.newUser("a"), w.newUser("b")
	id, elsewhere := w.newAlbum(owner, "x"), w.newAlbum(owner, "y")
	photo := must(w.album.AddPhoto(ctx, &albumv1.AddPhotoRequest{ActorId: owner, AlbumId: elsewhere, ThumbnailUrl: "p"}))(t).GetPhoto().GetPhotoId()
	comment := must(w.album.AddComment(ctx, &albumv1.AddCommentRequest{AuthorId: other, AlbumId: elsewhere, Text: "t"}))(t).GetComment().GetCommentId()

	update := func(actor, album int64) func() error {
		return func() error {
			return failed(w.album.UpdateAlbum(ctx, &albumv1.UpdateAlbumRequest{ActorId: actor, AlbumId: album, Title: proto.String("z")}))
		}
	}
	remove := func(actor, album int64) func() error {
		return func() error {
			return failed(w.album.DeleteAlbum(ctx, &albumv1.DeleteAlbumRequest{ActorId: actor, AlbumId: album}))
		}
	}
	addPhoto := func(actor, album int64) func() error {
		return func() error {
			return failed(w.album.AddPhoto(ctx, &albumv1.AddPhotoRequest{ActorId: actor, AlbumId: album, ThumbnailUrl: "p"}))
		}
	}
	updatePhoto := func(actor, album, photo int64) func() error {
		return func() error {
			return failed(w.album.UpdatePhoto(ctx, &albumv1.UpdatePhotoRequest{ActorId: actor, AlbumId: album, PhotoId: photo}))
		}
	}
	removePhoto := func(actor, album, photo int64) func() error {
		return func() error {
			return failed(w.album.RemovePhoto(ctx, &albumv1.RemovePhotoRequest{ActorId: actor, AlbumId: album, PhotoId: photo}))
		}
	}
	addComment := func(author, album int64) func() error {
		return func() error {
			return failed(w.album.AddComment(ctx, &albumv1.AddCommentRequest{AuthorId: author, AlbumId: album, Text: "t"}))
		}
	}
	reply := func(actor, album, comment int64) func() error {
		return func() error {
			return failed(w.album.ReplyToComment(ctx, &albumv1.ReplyToCommentRequest{ActorId: actor, AlbumId: album, CommentId: comment, Text: "t"}))
		}
	}
	removeComment := func(actor, album, comment int64) func() error {
		return func() error {
			return failed(w.album.RemoveComment(ctx, &albumv1.RemoveCommentRequest{ActorId: actor, AlbumId: album, CommentId: comment}))
		}
	}
	expectFailures(t, []failure{
		{"CreateAlbum for an unknown user", func() error {
			return failed(w.album.CreateAlbum(ctx, &albumv1.CreateAlbumRequest{OwnerId: 1, Title: "x", Category: 1, Location: taipei}))
		}, codes.NotFound, "USER_NOT_FOUND"},
		{"UpdateAlbum of an unknown album", update(owner, 1), codes.NotFound, "ALBUM_NOT_FOUND"},
		{"UpdateAlbum by another user", update(other, id), codes.PermissionDenied, "NOT_OWNER"},
		{"DeleteAlbum of an unknown album", remove(owner, 1), codes.NotFound, "ALBUM_NOT_FOUND"},
		{"DeleteAlbum by another user", remove(other, id), codes.PermissionDenied, "NOT_OWNER"},
		{"GetAlbum of an unknown album", func() error {
			return failed(w.album.GetAlbum(ctx, &albumv1.GetAlbumRequest{AlbumId: 1}))
		}, codes.NotFound, "ALBUM_NOT_FOUND"},
		{"ListAlbums of an unknown user", func() error {
			return failed(w.album.ListAlbums(ctx, &albumv1.ListAlbumsRequest{OwnerId: 1}))
		}, codes.NotFound, "USER_NOT_FOUND"},
		{"StreamAlbums of an unknown user", func() error {
			return failed(collect(w.album.StreamAlbums(ctx, &albumv1.StreamAlbumsRequest{OwnerId: 1})))
		}, codes.NotFound, "USER_NOT_FOUND"},
		{"AddPhoto to an unknown album", addPhoto(owner, 1), codes.NotFound, "ALBUM_NOT_FOUND"},
		{"AddPhoto by another user", addPhoto(other, id), codes.PermissionDenied, "NOT_OWNER"},
		{"UpdatePhoto in an unknown album", updatePhoto(owner, 1, photo), codes.NotFound, "ALBUM_NOT_FOUND"},
		{"UpdatePhoto by another user", updatePhoto(other, elsewhere, photo), codes.PermissionDenied, "NOT_OWNER"},
		{"UpdatePhoto of an unknown photo", updatePhoto(owner, id, 1), codes.NotFound, "PHOTO_NOT_FOUND"},
		{"UpdatePhoto of another album's", updatePhoto(owner, id, photo), codes.NotFound, "PHOTO_NOT_FOUND"},
		{"RemovePhoto from an unknown album", removePhoto(owner, 1, photo), codes.NotFound, "ALBUM_NOT_FOUND"},
		{"RemovePhoto by another user", removePhoto(other, elsewhere, photo), codes.PermissionDenied, "NOT_OWNER"},
		{"RemovePhoto of an unknown photo", removePhoto(owner, id, 1), codes.NotFound, "PHOTO_NOT_FOUND"},
		{"RemovePhoto of another album's", removePhoto(owner, id, photo), codes.NotFound, "PHOTO_NOT_FOUND"},
		{"ListPhotos of an unknown album", func() error {
			return failed(w.album.ListPhotos(ctx, &albumv1.ListPhotosRequest{AlbumId: 1}))
		}, codes.NotFound, "ALBUM_NOT_FOUND"},
		{"AddComment to an unknown album", addComment(owner, 1), codes.NotFound, "ALBUM_NOT_FOUND"},
		{"AddComment by an unknown user", addComment(1, id), codes.NotFound, "USER_NOT_FOUND"},
		{"ReplyToComment in an unknown album", reply(owner, 1, comment), codes.NotFound, "ALBUM_NOT_FOUND"},
		{"ReplyToComment by its author", reply(other, elsewhere, comment), codes.PermissionDenied, "NOT_OWNER"},
		{"ReplyToComment to an unknown comment", reply(owner, id, 1), codes.NotFound, "COMMENT_NOT_FOUND"},
		{"ReplyToComment in another album", reply(owner, id, comment), codes.NotFound, "COMMENT_NOT_FOUND"},
		{"RemoveComment from an unknown album", removeComment(owner, 1, comment), codes.NotFound, "ALBUM_NOT_FOUND"},
		{"RemoveComment by a third user", removeComment(w.newUser("c"), elsewhere, comment), codes.PermissionDenied, "NOT_OWNER"},
		{"RemoveComment of an unknown comment", removeComment(owner, id, 1), codes.NotFound, "COMMENT_NOT_FOUND"},
		{"RemoveComment of another album's", removeComment(owner, id, comment), codes.NotFound, "COMMENT_NOT_FOUND"},
		{"ListComments of an unknown album", func() error {
			return failed(w.album.ListComments(ctx, &albumv1.ListCommentsRequest{AlbumId: 1}))
		}, codes.NotFound, "ALBUM_NOT_FOUND"},
	})
	after := w.getAlbum(elsewhere)
	if len(after.GetPhotos()) != 1 || len(after.GetComments()) != 1 || after.GetComments()[0].GetReply() != nil {
		t.Errorf("a failed call changed %v", after)
	}
}

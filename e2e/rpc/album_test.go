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

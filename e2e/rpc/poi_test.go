package rpc_test

import (
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

func (w *waybook) getPoi(id int64) *poiv1.GetPoiResponse {
	w.t.Helper()
	return must(w.poi.GetPoi(w.t.Context(), &poiv1.GetPoiRequest{PoiId: id}))(w.t)
}

func TestALandmarkIsChangedInPartAndMovesBetweenCategories(t *testing.T) {
	w := start(t)
	owner := w.newUser("a")
	id := w.newPoi(owner, "碧潭吊橋")
	want := w.getPoi(id).GetPoi()
	thrill, place := poiv1.PoiCategory_POI_CATEGORY_THRILL, &typev1.Location{Lat: 90, Lng: 180}
	for _, change := range []struct {
		name    string
		request *poiv1.UpdatePoiRequest
		apply   func()
	}{
		{"nothing", &poiv1.UpdatePoiRequest{}, func() {}},
		{"name", &poiv1.UpdatePoiRequest{Name: proto.String("新")}, func() { want.Name = "新" }},
		{"location", &poiv1.UpdatePoiRequest{Location: place}, func() { want.Location = place }},
		{"category", &poiv1.UpdatePoiRequest{Category: &thrill}, func() { want.Category = thrill }},
	} {
		change.request.ActorId, change.request.PoiId = owner, id
		change.apply()
		now := must(w.poi.UpdatePoi(t.Context(), change.request))(t).GetPoi()
		want.UpdateTime = now.GetUpdateTime()
		if read := w.getPoi(id).GetPoi(); !proto.Equal(now, want) || !proto.Equal(read, want) {
			t.Errorf("after %s: %v, read %v, want %v", change.name, now, read, want)
		}
	}
	for category, count := range map[poiv1.PoiCategory]int{poiv1.PoiCategory_POI_CATEGORY_TENDER: 0, thrill: 1} {
		list := must(w.poi.ListPois(t.Context(), &poiv1.ListPoisRequest{Category: category}))(t)
		if len(list.GetPois()) != count {
			t.Errorf("%v lists %v", category, list)
		}
	}
}

func TestALandmarkIsDeletedWithItsPhotosAndComments(t *testing.T) {
	w := start(t)
	owner := w.newUser("a")
	id := w.newPoi(owner, "x")
	added := must(w.poi.AddPhoto(t.Context(), &poiv1.AddPhotoRequest{ActorId: owner, PoiId: id, PhotoUrl: "http://images.example/1.jpg"}))(t)
	if whole := w.getPoi(id); len(whole.GetPhotos()) != 1 || whole.GetPhotos()[0].GetPhotoUrl() != "http://images.example/1.jpg" {
		t.Errorf("got %v", whole)
	}
	photo := added.GetPhoto().GetPhotoId()
	for _, change := range []struct {
		request *poiv1.UpdatePhotoRequest
		want    *poiv1.Photo
	}{
		{&poiv1.UpdatePhotoRequest{}, &poiv1.Photo{PhotoUrl: "http://images.example/1.jpg"}},
		{&poiv1.UpdatePhotoRequest{Description: proto.String("d")}, &poiv1.Photo{PhotoUrl: "http://images.example/1.jpg", Description: "d"}},
		{&poiv1.UpdatePhotoRequest{PhotoUrl: proto.String("2.jpg")}, &poiv1.Photo{PhotoUrl: "2.jpg", Description: "d"}},
		{&poiv1.UpdatePhotoRequest{Description: proto.String("")}, &poiv1.Photo{PhotoUrl: "2.jpg"}},
	} {
		change.request.ActorId, change.request.PoiId, change.request.PhotoId, change.want.PhotoId = owner, id, photo, photo
		updated := must(w.poi.UpdatePhoto(t.Context(), change.request))(t)
		if !proto.Equal(updated.GetPhoto(), change.want) || !proto.Equal(w.getPoi(id).GetPhotos()[0], change.want) {
			t.Errorf("updated %v, want %v", updated, change.want)
		}
	}
	request := &poiv1.DeletePoiRequest{ActorId: owner, PoiId: id}
	must(w.poi.DeletePoi(t.Context(), request))(t)
	expectFault(t, failed(w.poi.DeletePoi(t.Context(), request)), codes.NotFound, "POI_NOT_FOUND")
	expectFault(t, failed(w.poi.GetPoi(t.Context(), &poiv1.GetPoiRequest{PoiId: id})), codes.NotFound, "POI_NOT_FOUND")
	expectFault(t, failed(w.poi.ListPhotos(t.Context(), &poiv1.ListPhotosRequest{PoiId: id})), codes.NotFound, "POI_NOT_FOUND")
}

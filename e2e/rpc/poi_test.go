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

func TestPoiFailsAsTheContractSays(t *testing.T) {
	w, ctx := start(t), t.Context()
	owner, other := w.newUser("a"), w.newUser("b")
	id, elsewhere := w.newPoi(owner, "x"), w.newPoi(owner, "y")
	photo := must(w.poi.AddPhoto(ctx, &poiv1.AddPhotoRequest{ActorId: owner, PoiId: elsewhere, PhotoUrl: "p"}))(t).GetPhoto().GetPhotoId()
	comment := must(w.poi.AddComment(ctx, &poiv1.AddCommentRequest{AuthorId: other, PoiId: elsewhere, Text: "t"}))(t).GetComment().GetCommentId()

	update := func(actor, poi int64) func() error {
		return func() error {
			return failed(w.poi.UpdatePoi(ctx, &poiv1.UpdatePoiRequest{ActorId: actor, PoiId: poi, Name: proto.String("z")}))
		}
	}
	remove := func(actor, poi int64) func() error {
		return func() error {
			return failed(w.poi.DeletePoi(ctx, &poiv1.DeletePoiRequest{ActorId: actor, PoiId: poi}))
		}
	}
	addPhoto := func(actor, poi int64) func() error {
		return func() error {
			return failed(w.poi.AddPhoto(ctx, &poiv1.AddPhotoRequest{ActorId: actor, PoiId: poi, PhotoUrl: "p"}))
		}
	}
	updatePhoto := func(actor, poi, photo int64) func() error {
		return func() error {
			return failed(w.poi.UpdatePhoto(ctx, &poiv1.UpdatePhotoRequest{ActorId: actor, PoiId: poi, PhotoId: photo}))
		}
	}
	removePhoto := func(actor, poi, photo int64) func() error {
		return func() error {
			return failed(w.poi.RemovePhoto(ctx, &poiv1.RemovePhotoRequest{ActorId: actor, PoiId: poi, PhotoId: photo}))
		}
	}
	addComment := func(author, poi int64) func() error {
		return func() error {
			return failed(w.poi.AddComment(ctx, &poiv1.AddCommentRequest{AuthorId: author, PoiId: poi, Text: "t"}))
		}
	}
	reply := func(actor, poi, comment int64) func() error {
		return func() error {
			return failed(w.poi.ReplyToComment(ctx, &poiv1.ReplyToCommentRequest{ActorId: actor, PoiId: poi, CommentId: comment, Text: "t"}))
		}
	}
	removeComment := func(actor, poi, comment int64) func() error {
		return func() error {
			return failed(w.poi.RemoveComment(ctx, &poiv1.RemoveCommentRequest{ActorId: actor, PoiId: poi, CommentId: comment}))
		}
	}
	expectFailures(t, []failure{
		{"CreatePoi for an unknown user", func() error {
			return failed(w.poi.CreatePoi(ctx, &poiv1.CreatePoiRequest{OwnerId: 1, Name: "x", Category: 1, Location: taipei}))
		}, codes.NotFound, "USER_NOT_FOUND"},
		{"UpdatePoi of an unknown landmark", update(owner, 1), codes.NotFound, "POI_NOT_FOUND"},
		{"UpdatePoi by another user", update(other, id), codes.PermissionDenied, "NOT_OWNER"},
		{"DeletePoi of an unknown landmark", remove(owner, 1), codes.NotFound, "POI_NOT_FOUND"},
		{"DeletePoi by another user", remove(other, id), codes.PermissionDenied, "NOT_OWNER"},
		{"GetPoi of an unknown landmark", func() error {
			return failed(w.poi.GetPoi(ctx, &poiv1.GetPoiRequest{PoiId: 1}))
		}, codes.NotFound, "POI_NOT_FOUND"},
		{"AddPhoto to an unknown landmark", addPhoto(owner, 1), codes.NotFound, "POI_NOT_FOUND"},
		{"AddPhoto by another user", addPhoto(other, id), codes.PermissionDenied, "NOT_OWNER"},
		{"UpdatePhoto of an unknown landmark", updatePhoto(owner, 1, photo), codes.NotFound, "POI_NOT_FOUND"},
		{"UpdatePhoto by another user", updatePhoto(other, elsewhere, photo), codes.PermissionDenied, "NOT_OWNER"},
		{"UpdatePhoto of an unknown photo", updatePhoto(owner, id, 1), codes.NotFound, "PHOTO_NOT_FOUND"},
		{"UpdatePhoto of another landmark's", updatePhoto(owner, id, photo), codes.NotFound, "PHOTO_NOT_FOUND"},
		{"RemovePhoto from an unknown landmark", removePhoto(owner, 1, photo), codes.NotFound, "POI_NOT_FOUND"},
		{"RemovePhoto by another user", removePhoto(other, elsewhere, photo), codes.PermissionDenied, "NOT_OWNER"},
		{"RemovePhoto of an unknown photo", removePhoto(owner, id, 1), codes.NotFound, "PHOTO_NOT_FOUND"},
		{"RemovePhoto of another landmark's", removePhoto(owner, id, photo), codes.NotFound, "PHOTO_NOT_FOUND"},
		{"ListPhotos of an unknown landmark", func() error {
			return failed(w.poi.ListPhotos(ctx, &poiv1.ListPhotosRequest{PoiId: 1}))
		}, codes.NotFound, "POI_NOT_FOUND"},
		{"AddComment to an unknown landmark", addComment(owner, 1), codes.NotFound, "POI_NOT_FOUND"},
		{"AddComment by an unknown user", addComment(1, id), codes.NotFound, "USER_NOT_FOUND"},
		{"ReplyToComment in an unknown landmark", reply(owner, 1, comment), codes.NotFound, "POI_NOT_FOUND"},
		{"ReplyToComment by its author", reply(other, elsewhere, comment), codes.PermissionDenied, "NOT_OWNER"},
		{"ReplyToComment to an unknown comment", reply(owner, id, 1), codes.NotFound, "COMMENT_NOT_FOUND"},
		{"ReplyToComment in another landmark", reply(owner, id, comment), codes.NotFound, "COMMENT_NOT_FOUND"},
		{"RemoveComment from an unknown landmark", removeComment(owner, 1, comment), codes.NotFound, "POI_NOT_FOUND"},
		{"RemoveComment by a third user", removeComment(w.newUser("c"), elsewhere, comment), codes.PermissionDenied, "NOT_OWNER"},
		{"RemoveComment of an unknown comment", removeComment(owner, id, 1), codes.NotFound, "COMMENT_NOT_FOUND"},
		{"RemoveComment of another landmark's", removeComment(owner, id, comment), codes.NotFound, "COMMENT_NOT_FOUND"},
		{"ListComments of an unknown landmark", func() error {
			return failed(w.poi.ListComments(ctx, &poiv1.ListCommentsRequest{PoiId: 1}))
		}, codes.NotFound, "POI_NOT_FOUND"},
	})
}

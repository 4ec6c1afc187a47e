package rpc_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/fieldmaskpb"

	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

func mask(paths ...string) *fieldmaskpb.FieldMask { return &fieldmaskpb.FieldMask{Paths: paths} }

// masked is an update with a mask, the reply that it must get, or the fields that it violates.
type masked struct {
	name       string
	paths      []string
	set        func(update proto.Message)
	want       func(resource proto.Message)
	violations []string
}

// expectMasked makes updates one after the other. update is the request without a mask, and resource
// the resource before.
func expectMasked(t *testing.T, update, resource proto.Message, send func(proto.Message) (proto.Message, error), updates []masked) {
	t.Helper()
	want := proto.Clone(resource)
	for _, each := range updates {
		t.Run(each.name, func(t *testing.T) {
			request := proto.Clone(update)
			request.ProtoReflect().Set(request.ProtoReflect().Descriptor().Fields().ByName("update_mask"),
				protoreflect.ValueOfMessage(mask(each.paths...).ProtoReflect()))
			if each.set != nil {
				each.set(request)
			}
			reply, err := send(request)
			if each.violations != nil {
				expectFault(t, err, codes.InvalidArgument, "INVALID_PARAMETER", each.violations...)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			each.want(want)
			if changed := reply.ProtoReflect().Descriptor().Fields().ByName("update_time"); changed != nil {
				reply.ProtoReflect().Clear(changed)
				want.ProtoReflect().Clear(changed)
			}
			if diff := cmp.Diff(want, reply, protocmp.Transform()); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestAMaskChangesExactlyTheNamedFieldsOfAnAlbum(t *testing.T) {
	w := start(t)
	owner := w.newUser("a")
	album := w.getAlbum(w.newAlbum(owner, "x")).GetAlbum()
	elsewhere := &typev1.Location{Lat: 1, Lng: 2}
	send := func(m proto.Message) (proto.Message, error) {
		reply, err := w.album.UpdateAlbum(t.Context(), m.(*albumv1.UpdateAlbumRequest))
		return reply.GetAlbum(), err
	}
	all := func(m proto.Message) {
		r := m.(*albumv1.UpdateAlbumRequest)
		r.Title, r.Category, r.Location = proto.String("new"), albumv1.AlbumCategory_ALBUM_CATEGORY_PETS.Enum(), elsewhere
	}
	expectMasked(t, &albumv1.UpdateAlbumRequest{ActorId: owner, AlbumId: album.GetAlbumId()}, album, send, []masked{
		{"one of all", []string{"title"}, all, func(m proto.Message) { m.(*albumv1.Album).Title = "new" }, nil},
		{"unnamed fields are ignored", []string{"title"}, func(m proto.Message) {
			r := m.(*albumv1.UpdateAlbumRequest)
			r.Title, r.Lat, r.Category = proto.String("newer"), proto.Float64(91), albumv1.AlbumCategory(99).Enum()
		}, func(m proto.Message) { m.(*albumv1.Album).Title = "newer" }, nil},
		{"a part of the location", []string{"lat"}, func(m proto.Message) {
			all(m)
			m.(*albumv1.UpdateAlbumRequest).Lat = proto.Float64(-3)
		}, func(m proto.Message) { m.(*albumv1.Album).Location.Lat = -3 }, nil},
		{"a part that is not set", []string{"lng"}, nil, func(m proto.Message) { m.(*albumv1.Album).Location.Lng = 0 }, nil},
		{"all", []string{"*"}, all, func(m proto.Message) {
			a := m.(*albumv1.Album)
			a.Title, a.Category, a.Location = "new", albumv1.AlbumCategory_ALBUM_CATEGORY_PETS, elsewhere
		}, nil},
		{"no mask", nil, func(m proto.Message) { m.(*albumv1.UpdateAlbumRequest).Title = proto.String("last") },
			func(m proto.Message) { m.(*albumv1.Album).Title = "last" }, nil},
		{"all without any", []string{"*"}, nil, nil, []string{"title", "category", "location"}},
		{"what is required", []string{"title", "location"}, nil, nil, []string{"title", "location"}},
		{"unknown paths", []string{"titel", "title", "location.lat", "album_id", ""}, all, nil,
			[]string{"update_mask", "update_mask", "update_mask", "update_mask"}},
		{"too many paths", slices.Repeat([]string{"title"}, 101), all, nil, []string{"update_mask"}},
		{"a control character", []string{"ti\x00tle"}, all, nil, []string{"update_mask"}},
		{"a location and a part", []string{"location", "lat"}, func(m proto.Message) {
			all(m)
			m.(*albumv1.UpdateAlbumRequest).Lat = proto.Float64(1)
		}, nil, []string{"location"}},
		{"a wrong value", []string{"location"}, func(m proto.Message) {
			m.(*albumv1.UpdateAlbumRequest).Location = &typev1.Location{Lat: 91}
		}, nil, []string{"location.lat"}},
	})
	both := &albumv1.UpdateAlbumRequest{ActorId: owner, AlbumId: album.GetAlbumId(), Location: elsewhere, Lng: proto.Float64(1)}
	expectFault(t, failed(w.album.UpdateAlbum(t.Context(), both)), codes.InvalidArgument, "INVALID_PARAMETER", "location")
	named := &albumv1.UpdateAlbumRequest{ActorId: owner, AlbumId: album.GetAlbumId(), UpdateMask: mask("titel")}
	err := failed(w.album.UpdateAlbum(t.Context(), named))
	for _, part := range []string{`"titel"`, "title, category, lat, lng, location"} {
		if !strings.Contains(status.Convert(err).Message(), part) {
			t.Errorf("the message lacks %s: %v", part, err)
		}
	}
}

func TestAMaskChangesExactlyTheNamedFieldsOfAnEntry(t *testing.T) {
	w := start(t)
	author := w.newUser("a")
	request := newBlogRequest(author)
	request.ZoomLevel, request.MapType, request.ReplyBlogId = proto.Int32(3), blogv1.MapType_MAP_TYPE_SATELLITE, w.newBlog(author)
	b := must(w.blog.CreateBlog(t.Context(), request))(t).GetBlog()
	send := func(m proto.Message) (proto.Message, error) {
		reply, err := w.blog.UpdateBlog(t.Context(), m.(*blogv1.UpdateBlogRequest))
		return reply.GetBlog(), err
	}
	expectMasked(t, &blogv1.UpdateBlogRequest{ActorId: author, BlogId: b.GetBlogId()}, b, send, []masked{
		{"a quote is removed", []string{"reply_blog_id"}, nil, func(m proto.Message) { m.(*blogv1.Blog).ReplyBlogId = 0 }, nil},
		{"defaults", []string{"zoom_level", "map_type"}, nil, func(m proto.Message) {
			b := m.(*blogv1.Blog)
			b.ZoomLevel, b.MapType = 14, blogv1.MapType_MAP_TYPE_MAP
		}, nil},
		{"zero is a value", []string{"zoom_level"}, func(m proto.Message) { m.(*blogv1.UpdateBlogRequest).ZoomLevel = proto.Int32(0) },
			func(m proto.Message) { m.(*blogv1.Blog).ZoomLevel = 0 }, nil},
		{"all without any", []string{"*"}, nil, nil, []string{"type", "location", "title", "content", "post_date", "weather"}},
	})
}

func TestAMaskChangesExactlyTheNamedFieldsOfAPhotoAndALandmark(t *testing.T) {
	w := start(t)
	owner := w.newUser("a")
	album, poi := w.newAlbum(owner, "x"), w.newPoi(owner, "x")
	photo := must(w.album.AddPhoto(t.Context(), &albumv1.AddPhotoRequest{ActorId: owner, AlbumId: album, ThumbnailUrl: "x", Description: "d"}))(t).GetPhoto()
	poiPhoto := must(w.poi.AddPhoto(t.Context(), &poiv1.AddPhotoRequest{ActorId: owner, PoiId: poi, PhotoUrl: "x", Description: "d"}))(t).GetPhoto()
	landmark := must(w.poi.GetPoi(t.Context(), &poiv1.GetPoiRequest{PoiId: poi}))(t).GetPoi()

	expectMasked(t, &albumv1.UpdatePhotoRequest{ActorId: owner, AlbumId: album, PhotoId: photo.GetPhotoId(), ThumbnailUrl: proto.String("y")}, photo,
		func(m proto.Message) (proto.Message, error) {
			reply, err := w.album.UpdatePhoto(t.Context(), m.(*albumv1.UpdatePhotoRequest))
			return reply.GetPhoto(), err
		}, []masked{
			{"album: the description is cleared", []string{"description"}, nil, func(m proto.Message) { m.(*albumv1.Photo).Description = "" }, nil},
			{"album: an unknown path", []string{"photo_url"}, nil, nil, []string{"update_mask"}},
		})
	expectMasked(t, &poiv1.UpdatePhotoRequest{ActorId: owner, PoiId: poi, PhotoId: poiPhoto.GetPhotoId(), Description: proto.String("e")}, poiPhoto,
		func(m proto.Message) (proto.Message, error) {
			reply, err := w.poi.UpdatePhoto(t.Context(), m.(*poiv1.UpdatePhotoRequest))
			return reply.GetPhoto(), err
		}, []masked{
			{"landmark's photo: the description", []string{"description"}, nil, func(m proto.Message) { m.(*poiv1.Photo).Description = "e" }, nil},
			{"landmark's photo: the address is required", []string{"*"}, nil, nil, []string{"photo_url"}},
		})
	expectMasked(t, &poiv1.UpdatePoiRequest{ActorId: owner, PoiId: poi, Name: proto.String("y"), Location: &typev1.Location{Lat: 1, Lng: 1}}, landmark,
		func(m proto.Message) (proto.Message, error) {
			reply, err := w.poi.UpdatePoi(t.Context(), m.(*poiv1.UpdatePoiRequest))
			return reply.GetPoi(), err
		}, []masked{
			{"landmark: the location", []string{"location"}, nil, func(m proto.Message) { m.(*poiv1.Poi).Location = &typev1.Location{Lat: 1, Lng: 1} }, nil},
			{"landmark: all need a category", []string{"*"}, nil, nil, []string{"category"}},
		})
}

func TestAMaskChangesExactlyTheNamedFieldsOfAUserAndAnApplication(t *testing.T) {
	w := start(t)
	user := must(w.account.CreateUser(t.Context(), &accountv1.CreateUserRequest{
		Name: "x", IconUrl: "y", Email: "x@waybook.example", Password: "a long password",
	}))(t).GetUser()
	expectMasked(t, &accountv1.UpdateUserRequest{UserId: user.GetUserId(), Disabled: proto.Bool(true)}, user,
		func(m proto.Message) (proto.Message, error) {
			reply, err := w.account.UpdateUser(t.Context(), m.(*accountv1.UpdateUserRequest))
			return reply.GetUser(), err
		}, []masked{
			{"the icon is cleared", []string{"icon_url"}, nil, func(m proto.Message) { m.(*accountv1.User).IconUrl = "" }, nil},
			{"disabled", []string{"disabled"}, nil, func(m proto.Message) { m.(*accountv1.User).Disabled = true }, nil},
			{"all keep the password", []string{"*"}, func(m proto.Message) {
				r := m.(*accountv1.UpdateUserRequest)
				r.Name, r.Email, r.Disabled, r.Password = proto.String("z"), proto.String("z@waybook.example"), nil, proto.String("another password")
			}, func(m proto.Message) {
				u := m.(*accountv1.User)
				u.Name, u.Email, u.Disabled = "z", "z@waybook.example", false
			}, nil},
			{"what cannot be removed", []string{"email", "password"}, nil, nil, []string{"email", "password"}},
			{"the user is not changed", []string{"user_id"}, nil, nil, []string{"update_mask"}},
		})
	login := &accountv1.AuthenticateRequest{Email: "z@waybook.example", Password: "a long password"}
	if _, err := w.account.Authenticate(t.Context(), login); err != nil {
		t.Errorf("the password changed: %v", err)
	}

	application := must(w.account.CreateApplication(t.Context(), &accountv1.CreateApplicationRequest{Name: "x", AllowLegacy: true}))(t).GetApplication()
	expectMasked(t, &accountv1.UpdateApplicationRequest{Key: application.GetKey(), Name: proto.String("y")}, application,
		func(m proto.Message) (proto.Message, error) {
			reply, err := w.account.UpdateApplication(t.Context(), m.(*accountv1.UpdateApplicationRequest))
			return reply.GetApplication(), err
		}, []masked{
			{"cleared", []string{"allow_legacy"}, nil, func(m proto.Message) { m.(*accountv1.Application).AllowLegacy = false }, nil},
			{"all", []string{"*"}, nil, func(m proto.Message) { m.(*accountv1.Application).Name = "y" }, nil},
		})
}

// The services know an update by its mask, so an update without one would take none.
func TestEveryUpdateHasAMask(t *testing.T) {
	found := 0
	for name, method := range everyMethod() {
		if !strings.HasPrefix(string(method.Name()), "Update") {
			continue
		}
		found++
		field := method.Input().Fields().ByName("update_mask")
		if field == nil || field.Message().FullName() != "google.protobuf.FieldMask" {
			t.Errorf("%s has no google.protobuf.FieldMask update_mask", name)
		}
	}
	if found < 7 {
		t.Errorf("found %d updates", found)
	}
}

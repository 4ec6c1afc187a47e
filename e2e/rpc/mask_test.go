package rpc_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/fieldmaskpb"

	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
)

func mask(paths ...string) *fieldmaskpb.FieldMask { return &fieldmaskpb.FieldMask{Paths: paths} }

// masked is an update with a mask, and what it changes or violates.
type masked struct {
	name         string
	paths        []string
	update, want fields
	violations   []string
}

// expectMasked makes updates of a resource, one after the other. call has the fields of each request, and
// path is that of the resource in the reply.
func (k kind) expectMasked(t *testing.T, method string, call fields, resource proto.Message, path string, updates []masked) {
	t.Helper()
	want := proto.Clone(resource)
	for _, each := range updates {
		t.Run(k.service+" "+path+": "+each.name, func(t *testing.T) {
			reply, err := k.send(t.Context(), method, call.and(each.update).and(fields{"update_mask": mask(each.paths...)}))
			if each.violations != nil {
				expectFault(t, err, codes.InvalidArgument, "INVALID_PARAMETER", each.violations...)
				return
			}
			updated := read[proto.Message](got(t, reply, err), path)
			k.set(want, each.want)
			for _, name := range []protoreflect.Name{"update_time", "etag"} {
				if changed := updated.ProtoReflect().Descriptor().Fields().ByName(name); changed != nil {
					updated.ProtoReflect().Clear(changed)
					want.ProtoReflect().Clear(changed)
				}
			}
			if diff := cmp.Diff(want, updated, protocmp.Transform()); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestAMaskChangesExactlyTheNamedFieldsOfContent(t *testing.T) {
	t.Parallel()
	w := start(t)
	owner := w.newUser("a")
	elsewhere := at(1, 2)
	all := fields{"title": "new", "category": 7, "location": elsewhere}
	updates := map[string][]masked{
		"Album": {
			{"one of all", []string{"title"}, all, fields{"title": "new"}, nil},
			{"unnamed fields are ignored", []string{"title"}, fields{"title": "newer", "lat": 91.0, "category": 99}, fields{"title": "newer"}, nil},
			{"a part of the location", []string{"lat"}, all.and(fields{"lat": -3.0}), fields{"location": at(-3, taipei.GetLng())}, nil},
			{"a part that is not set", []string{"lng"}, nil, fields{"location": at(-3, 0)}, nil},
			{"all", []string{"*"}, all, all, nil},
			{"an empty mask", nil, fields{"title": "last"}, fields{"title": "last"}, nil},
			{"all without any", []string{"*"}, nil, nil, []string{"title", "category", "location"}},
			{"what is required", []string{"title", "location"}, nil, nil, []string{"title", "location"}},
			{"unknown paths", []string{"titel", "title", "location.lat", "album_id", ""}, all, nil, slices.Repeat([]string{"update_mask"}, 4)},
			{"all and one", []string{"title", "*"}, all, nil, []string{"update_mask"}},
			{"too many paths", slices.Repeat([]string{"title"}, 101), all, nil, []string{"update_mask"}},
			{"a control character", []string{"ti\x00tle"}, all, nil, []string{"update_mask"}},
			{"a location and a part", []string{"location", "lat"}, all.and(fields{"lat": 1.0}), nil, []string{"location"}},
			{"a wrong value", []string{"location"}, fields{"location": at(91, 0)}, nil, []string{"location.lat"}},
		},
		"Blog": {
			{"a quote is removed", []string{"reply_blog_id"}, nil, fields{"reply_blog_id": int64(0)}, nil},
			{"defaults", []string{"zoom_level", "map_type"}, nil, fields{"zoom_level": int32(14), "map_type": int(blogv1.MapType_MAP_TYPE_MAP)}, nil},
			{"zero is a value", []string{"zoom_level"}, fields{"zoom_level": int32(0)}, fields{"zoom_level": int32(0)}, nil},
			{"all without any", []string{"*"}, nil, nil, []string{"type", "location", "title", "content", "post_date", "weather"}},
		},
		"Poi": {
			{"the location", []string{"location"}, fields{"title": "y", "location": elsewhere}, fields{"location": elsewhere}, nil},
			{"all need a category", []string{"*"}, fields{"title": "y", "location": elsewhere}, nil, []string{"category"}},
		},
	}
	for _, k := range w.kinds() {
		values := fields{}
		if k.name == "Blog" {
			values = fields{"zoom_level": int32(3), "map_type": int(blogv1.MapType_MAP_TYPE_SATELLITE), "reply_blog_id": k.create(owner, "quoted")}
		}
		id := k.createWith(owner, "x", values)
		k.expectMasked(t, "Update", fields{"actor_id": owner, "id": id}, k.shown(id), k.lower(), updates[k.name])
	}
	both := &albumv1.UpdateAlbumRequest{ActorId: owner, AlbumId: w.newAlbum(owner, "x"), Location: elsewhere, Lng: proto.Float64(1)}
	expectFault(t, failed(w.Album.UpdateAlbum(t.Context(), both)), codes.InvalidArgument, "INVALID_PARAMETER", "location")
}

func TestAMaskChangesExactlyTheNamedFieldsOfAPhoto(t *testing.T) {
	t.Parallel()
	w := start(t)
	owner := w.newUser("a")
	updates := []masked{
		{"the description", []string{"description"}, fields{"description": "e"}, fields{"description": "e"}, nil},
		{"the description is cleared", []string{"description"}, nil, fields{"description": ""}, nil},
		{"the address is required", []string{"*"}, fields{"description": "e"}, nil, []string{"url"}},
		{"an unknown path", []string{"photo_url"}, nil, nil, []string{"update_mask"}},
	}
	for _, k := range w.kinds() {
		if !k.hasPhotos() {
			continue
		}
		call := fields{"actor_id": owner, "id": k.create(owner, "x")}
		photo := read[proto.Message](must(k.send(t.Context(), "AddPhoto", call.and(fields{"url": "x", "description": "d"})))(t), "photo")
		k.expectMasked(t, "UpdatePhoto", call.and(fields{"photo_id": read[int64](photo, "photo_id")}), photo, "photo", updates)
	}
}

func TestAMaskChangesExactlyTheNamedFieldsOfAUser(t *testing.T) {
	t.Parallel()
	w := start(t)
	k := w.users()
	user := must(w.Account.CreateUser(t.Context(), &accountv1.CreateUserRequest{
		Name: "x", IconUrl: "y", Email: "x@waybook.example", Password: "a long password",
	}))(t).GetUser()
	changed := fields{"name": "z", "email": "z@waybook.example"}
	k.expectMasked(t, "UpdateUser", fields{"user_id": user.GetUserId()}, user, "user", []masked{
		{"the icon is cleared", []string{"icon_url"}, nil, fields{"icon_url": ""}, nil},
		{"disabled", []string{"disabled"}, fields{"disabled": true}, fields{"disabled": true}, nil},
		{"all keep the password", []string{"*"}, changed.and(fields{"password": "another password"}), changed.and(fields{"disabled": false}), nil},
		{"what cannot be removed", []string{"email", "password"}, nil, nil, []string{"email", "password"}},
		{"the user is not changed", []string{"user_id"}, nil, nil, []string{"update_mask"}},
	})
	w.expectLogin("z@waybook.example", "a long password", user.GetUserId())
}

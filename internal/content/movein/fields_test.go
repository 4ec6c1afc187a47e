package movein_test

import (
	"testing"

	"buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	commentv1 "github.com/waybook/waybook/proto/gen/waybook/comment/v1"
	moveinv1 "github.com/waybook/waybook/proto/gen/waybook/movein/v1"
	photov1 "github.com/waybook/waybook/proto/gen/waybook/photo/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
)

// Whatever a user can set, a user of the old service may have set. That a record's field is stored, compared, decoded and
// exported is for the tests of those to say.
func TestARecordHasEveryFieldThatAUserSets(t *testing.T) {
	// Fields that are of a request alone, or have another name in a record.
	names := map[protoreflect.Name]protoreflect.Name{
		"request_id": "", "actor_id": "", "album_id": "", "blog_id": "", "poi_id": "", "comment_id": "",
		"location": "lat", "reply_blog_id": "quoted_id", "thumbnail_url": "url", "photo_url": "url", "password": "password_hash",
	}
	for _, each := range []struct{ request, record proto.Message }{
		{&accountv1.CreateUserRequest{}, &moveinv1.User{}},
		{&albumv1.CreateAlbumRequest{}, &moveinv1.Album{}}, {&blogv1.CreateBlogRequest{}, &moveinv1.Entry{}},
		{&blogv1.NewVote{}, &blogv1.Vote{}}, {&poiv1.CreatePoiRequest{}, &moveinv1.Landmark{}},
		{&photov1.AddPhotoRequest{}, &moveinv1.Photo{}}, {&photov1.AddPhotoRequest{}, &moveinv1.Photo{}},
		{&commentv1.AddCommentRequest{}, &moveinv1.Comment{}}, {&commentv1.AddCommentRequest{}, &moveinv1.Comment{}}, {&commentv1.AddCommentRequest{}, &moveinv1.Comment{}},
	} {
		expectFields(t, each.request, each.record, names)
	}
}

func TestWhatCreatesContentHasTheFieldsOfWhatChangesIt(t *testing.T) {
	names := map[protoreflect.Name]protoreflect.Name{"request_id": "", "owner_id": "", "author_id": "", "vote": ""}
	for _, each := range [][2]proto.Message{
		{&albumv1.CreateAlbumRequest{}, &albumv1.UpdateAlbumRequest{}}, {&blogv1.CreateBlogRequest{}, &blogv1.UpdateBlogRequest{}},
		{&poiv1.CreatePoiRequest{}, &poiv1.UpdatePoiRequest{}}, {&poiv1.CreatePoiRequest{}, &poiv1.ImportedPoi{}},
	} {
		expectFields(t, each[0], each[1], names)
	}
}

// expectFields checks that a message has the fields of a request, with the limits of their texts. names are those that
// differ, and empty for those that it lacks.
func expectFields(t *testing.T, request, message proto.Message, names map[protoreflect.Name]protoreflect.Name) {
	t.Helper()
	fields, of := request.ProtoReflect().Descriptor().Fields(), message.ProtoReflect().Descriptor()
	for i := range fields.Len() {
		name := fields.Get(i).Name()
		if other, isOther := names[name]; isOther {
			name = other
		}
		switch same := of.Fields().ByName(name); {
		case name == "":
		case same == nil:
			t.Errorf("%s has no %s, which %s sets", of.FullName(), name, fields.Get(i).Parent().FullName())
		case fields.Get(i).Kind() == same.Kind() && name != "password_hash" && maxOf(fields.Get(i)) != maxOf(same):
			t.Errorf("%s has another limit than %s", same.FullName(), fields.Get(i).FullName())
		}
	}
}

// maxOf returns the limits of a text.
func maxOf(field protoreflect.FieldDescriptor) [2]uint64 {
	rules, _ := proto.GetExtension(field.Options(), validate.E_Field).(*validate.FieldRules)
	return [2]uint64{rules.GetString().GetMaxLen(), rules.GetString().GetMaxBytes()}
}

package movein_test

import (
	"testing"

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
		fields, of := each.request.ProtoReflect().Descriptor().Fields(), each.record.ProtoReflect().Descriptor()
		for i := range fields.Len() {
			name := fields.Get(i).Name()
			if other, isOther := names[name]; isOther {
				name = other
			}
			if name != "" && of.Fields().ByName(name) == nil {
				t.Errorf("%s has no %s, which %s sets", of.FullName(), name, fields.Get(i).Parent().FullName())
			}
		}
	}
}

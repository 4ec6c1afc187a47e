package rpc_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/waybook/waybook/internal/id"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	moveinv1 "github.com/waybook/waybook/proto/gen/waybook/movein/v1"
	photov1 "github.com/waybook/waybook/proto/gen/waybook/photo/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// identifiers returns the fields of a request that end in _id or _ids, with what they identify.
func (t target) identifiers() map[protoreflect.Name]typev1.Kind {
	found := map[protoreflect.Name]typev1.Kind{}
	for i := range t.Input().Fields().Len() {
		field := t.Input().Fields().Get(i)
		name := strings.TrimSuffix(string(field.Name()), "s")
		if field.Kind() == protoreflect.Int64Kind && strings.HasSuffix(name, "_id") && t.has(field) {
			found[field.Name()], _ = proto.GetExtension(field.Options(), typev1.E_Id).(typev1.Kind)
		}
	}
	return found
}

// isUser reports whether an identifier is that of a user.
func isUser(kind typev1.Kind) bool { return kind == aUser }

func TestEveryIdentifierInARequestSaysWhatItIdentifies(t *testing.T) {
	t.Parallel()
	count := 0
	kinds := map[string]typev1.Kind{
		"owner": aUser, "author": aUser, "actor": aUser, "voter": aUser, "reply_blog": anEntry,
	}
	for name, of := range everyTarget() {
		for field, kind := range of.identifiers() {
			count++
			what, _, _ := strings.Cut(strings.TrimSuffix(string(field), "s"), "_id")
			want, has := kinds[what]
			if strings.HasPrefix(what, "after_") {
				want = typev1.Kind_KIND_POSITION
			} else if !has {
				want = typev1.Kind(typev1.Kind_value["KIND_"+strings.ToUpper(what)])
			}
			if kind != want || kind == typev1.Kind_KIND_UNSPECIFIED {
				t.Errorf("%s: the option waybook.type.v1.id of the field %s is %v", name, field, kind)
			}
		}
	}
	if count < 80 {
		t.Errorf("only %d fields were found", count)
	}
}

// whole returns records of content with three photos, if it has them, and three comments, whose old identifiers begin at
// first.
func whole(kind, oldID string, user int64, first int) []*moveinv1.Record {
	lat, lng := proto.Float64(taipei.GetLat()), proto.Float64(taipei.GetLng())
	contents := map[string]proto.Message{
		"album":    &moveinv1.Album{Id: oldID, OwnerId: user, Title: "舊相簿", Category: 5, Lat: lat, Lng: lng, CreateTime: longAgo(0)},
		"landmark": &moveinv1.Landmark{Id: oldID, OwnerId: user, Name: "舊地標", Category: 1, Lat: lat, Lng: lng, CreateTime: longAgo(0)},
		"entry": &moveinv1.Entry{
			Id: oldID, AuthorId: user, Type: blogv1.BlogType_BLOG_TYPE_MOOD, Lat: lat, Lng: lng, Title: "舊標題", Content: "一",
			PostDate: &typev1.Date{Year: 2009, Month: 3, Day: 1}, Weather: blogv1.Weather_WEATHER_RAINBOW, CreateTime: longAgo(0),
			Vote: &blogv1.Vote{Description: "?", Choices: []*blogv1.Choice{{Description: "山"}, {Description: "海"}, {Description: "城"}}},
		},
	}
	all := []*moveinv1.Record{record(contents[kind])}
	add := func(message proto.Message) {
		message.ProtoReflect().Set(message.ProtoReflect().Descriptor().Fields().ByName(protoreflect.Name(kind+"_id")), protoreflect.ValueOfString(oldID))
		all = append(all, record(message))
	}
	for i := range 3 {
		if kind != "entry" {
			add(&moveinv1.Photo{Id: fmt.Sprint(first + i), Url: "old.jpg"})
		}
	}
	for i := range 3 {
		add(&moveinv1.Comment{Id: fmt.Sprint(first + i), AuthorName: "路人", Text: fmt.Sprint(i), CreateTime: longAgo(i)})
	}
	return all
}

// quotable is how far the old identifier of an entry to quote is from that of the entry: none quotes itself.
const quotable = 25

// moveAll moves an album, an entry and a landmark in, all with the same old identifier, and with photos
// and comments of that identifier.
func (w *waybook) moveAll(old, user int64) {
	w.t.Helper()
	first := int(old)
	for _, kind := range []string{"album", "entry", "landmark"} {
		expectAll(w.t, w.moveRecords(whole(kind, fmt.Sprint(old), user, first)...), inserted)
	}
	expectAll(w.t, w.moveRecords(whole("entry", fmt.Sprint(old+quotable), user, 1)[0]), inserted)
}

// withOld returns a valid request of a method whose identifiers of content are an old one.
func (t target) withOld(user, old int64) proto.Message {
	request := t.validRequest(user, old, old, old)
	message := request.ProtoReflect()
	for name, kind := range t.identifiers() {
		if field := t.Input().Fields().ByName(name); field.IsList() {
			message.Mutable(field).List().Set(0, protoreflect.ValueOfInt64(old))
		} else if !isUser(kind) {
			message.Set(field, protoreflect.ValueOfInt64(old))
		}
	}
	if update, is := request.(*blogv1.UpdateBlogRequest); is {
		update.ReplyBlogId = new(old + quotable)
	}
	return request
}

func TestEveryMethodAcceptsOldIdentifiers(t *testing.T) {
	t.Parallel()
	w := start(t)
	user := w.newUser("a")
	// Larger ones have an identifier by a hash.
	for _, first := range []int64{1000, id.MaxOld + 1000, 850_000_000_000_000} {
		old := first
		for name, of := range everyTarget() {
			if !of.hasContent() || strings.Contains(name, ".Download") { // old photos have no files
				continue
			}
			t.Run(fmt.Sprint(name, " of ", old), func(t *testing.T) {
				// Children have numbers of their own, which do not meet those of other contents.
				w.moveAll(old, user)
				if err := w.call(t.Context(), of.MethodDescriptor, of.withOld(user, old)); err != nil {
					t.Errorf("an old identifier: %v", err)
				}
				unknown := of.withOld(user, old+50)
				if err := w.call(t.Context(), of.MethodDescriptor, unknown); (err == nil) != isList(of) {
					t.Errorf("an identifier that stands for nothing: %v", err)
				} else if err != nil && !strings.Contains(err.Error(), fmt.Sprint(old+50)) && !strings.Contains(err.Error(), "no such entry") {
					t.Errorf("the error does not name the number: %v", err)
				}
			})
			old += 100
		}
	}
}

// Owners are checked for the content that an old identifier stands for.
func TestAnOldIdentifierGivesNoAccess(t *testing.T) {
	t.Parallel()
	w := start(t)
	owner, other := w.newUser("a"), w.newUser("b")
	w.moveAll(12, owner)
	w.moveAll(500, other)
	expectFailures(t, []failure{
		{"album", calling(w.Album.DeleteAlbum, &albumv1.DeleteAlbumRequest{ActorId: other, AlbumId: 12}), codes.PermissionDenied, "NOT_OWNER"},
		{"entry", calling(w.Blog.DeleteBlog, &blogv1.DeleteBlogRequest{ActorId: other, BlogId: 12}), codes.PermissionDenied, "NOT_OWNER"},
		{"photo of another's album under one's own", calling(w.Photo.RemovePhoto, &photov1.RemovePhotoRequest{ActorId: other, Parent: &photov1.RemovePhotoRequest_PoiId{PoiId: 500}, PhotoId: 12}), codes.NotFound, "PHOTO_NOT_FOUND"},
	})
}

// hasContent reports whether a request names content.
func (t target) hasContent() bool {
	return slices.ContainsFunc(slices.Collect(maps.Values(t.identifiers())), func(kind typev1.Kind) bool { return !isUser(kind) })
}

// isList reports whether a method does not fail for content that does not exist.
func isList(method protoreflect.MethodDescriptor) bool {
	name := string(method.Name())
	return strings.HasPrefix(name, "BatchGet") || slices.Contains([]string{"ListAlbums", "ListBlogs", "ListPois"}, name)
}

func TestAListContinuesAfterAnOldIdentifier(t *testing.T) {
	t.Parallel()
	w := start(t)
	user := w.newUser("a")
	for _, old := range []string{"5", "7", "IMG_1", "9"} {
		expectAll(t, w.moveRecords(whole("album", old, user, 1)[0]), inserted)
	}
	drawn := w.newAlbum(user, "new")
	text := id.OfOldText("IMG_1", id.PlaceOf(user), 0)
	of := func(old int64) int64 { return id.OfOld(old, id.PlaceOf(user)) }
	for after, want := range map[int64][]int64{
		0:      {of(5), of(7), of(9), text, drawn},
		5:      {of(7), of(9), text, drawn},
		6:      {of(7), of(9), text, drawn}, // nothing has it
		9:      {text, drawn},
		10_000: {text, drawn},
		of(7):  {of(9), text, drawn},
		drawn:  nil,
	} {
		listed, err := w.Album.ListAlbums(t.Context(), &albumv1.ListAlbumsRequest{OwnerId: user, AfterAlbumId: after, View: typev1.View_VIEW_SUMMARY})
		var ids []int64
		for _, album := range got(t, listed, err).GetSummaries() {
			ids = append(ids, album.GetId())
			if (album.GetOldId() == "IMG_1") != (album.GetId() == text) {
				t.Errorf("the old identifier of %d is %q", album.GetId(), album.GetOldId())
			}
		}
		if !slices.Equal(ids, want) {
			t.Errorf("after %d: %v, want %v", after, ids, want)
		}
	}
}

func TestOldIdentifiersThatAreNoNumbersAreResolvedOnRequest(t *testing.T) {
	t.Parallel()
	w := start(t)
	user := w.newUser("a")
	moved := whole("album", "a-1", user, 1)
	moved[1].GetPhoto().Id, moved[4].GetComment().Id = "p-1", "c-1"
	expectAll(t, w.moveRecords(moved...), inserted)
	w.moveAll(5, user)
	album := id.OfOldText("a-1", id.PlaceOf(user), 0)
	resolve := func(all ...*moveinv1.OldIdentifier) ([]int64, error) {
		reply, err := w.MoveIn.ResolveOldIds(t.Context(), &moveinv1.ResolveOldIdsRequest{OldIds: all})
		return reply.GetIds(), err
	}
	of := func(kind typev1.Kind, oldID string) *moveinv1.OldIdentifier {
		return &moveinv1.OldIdentifier{Kind: kind, OldId: oldID}
	}
	child := func(kind typev1.Kind, oldID string, parentID int64) *moveinv1.OldIdentifier {
		return &moveinv1.OldIdentifier{Kind: kind, OldId: oldID, ParentKind: anAlbum, ParentId: parentID}
	}
	photo, comment := typev1.Kind_KIND_PHOTO, typev1.Kind_KIND_COMMENT
	ids := must(resolve(
		of(anAlbum, "a-1"), of(anAlbum, "5"), of(anAlbum, "a-2"),
		child(photo, "p-1", album), child(photo, "p-1", 5), child(photo, "p-2", album), child(photo, "6", 5),
		child(comment, "c-1", album), child(comment, "p-1", album),
	))(t)
	want := []int64{
		album, id.OfOld(5, id.PlaceOf(user)), 0,
		id.OfOldText("p-1", id.PlaceOf(user), 0), id.OfOldText("p-1", id.PlaceOf(user), 0), 0, id.OfOld(6, id.PlaceOf(user)),
		id.OfOldText("c-1", id.PlaceOf(user), 0), 0,
	}
	if !slices.Equal(ids, want) {
		t.Errorf("got  %v\nwant %v", ids, want)
	}
	blogs, pois := must(resolve(of(anEntry, "a-1")))(t), must(resolve(of(aLandmark, "5")))(t)
	if blogs[0] != 0 || pois[0] == 0 {
		t.Errorf("the other services: %v, %v", blogs, pois)
	}
	for _, one := range []struct {
		field string
		all   []*moveinv1.OldIdentifier
	}{
		{"old_ids[0].kind", []*moveinv1.OldIdentifier{of(aUser, "5")}},
		{"old_ids[1]", []*moveinv1.OldIdentifier{of(anAlbum, "5"), of(aLandmark, "5")}},
		{"old_ids[0]", []*moveinv1.OldIdentifier{of(photo, "5")}},
	} {
		expectFault(t, failed(resolve(one.all...)), codes.InvalidArgument, "INVALID_PARAMETER", one.field)
	}
}

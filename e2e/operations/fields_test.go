package operations_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/waybook/waybook/e2e/launch"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
)

// resource is a kind of content, by its name in methods and in their messages.
type resource struct{ service, name, owner string }

func resources() []resource {
	return []resource{
		{"waybook.album.v1.AlbumService", "Album", "owner_id"}, {"waybook.blog.v1.BlogService", "Blog", "author_id"}, {"waybook.poi.v1.PoiService", "Poi", "owner_id"},
	}
}

func (r resource) field() string { return strings.ToLower(r.name) }

// server has the services of a Waybook.
type server struct {
	t          *testing.T
	connection *grpc.ClientConn
}

// values are fields of a request that fill does not choose.
type values map[string]any

// call calls a method with all fields of its request, chosen by a number, but for those that it needs not.
func (s server) call(service, method string, number int, given values) (request, reply protoreflect.Message) {
	s.t.Helper()
	found, err := protoregistry.GlobalFiles.FindDescriptorByName(protoreflect.FullName(service + "." + method))
	if err != nil {
		s.t.Fatal(err)
	}
	of := found.(protoreflect.MethodDescriptor)
	messageOf := func(name protoreflect.FullName) protoreflect.Message {
		messageType, err := protoregistry.GlobalTypes.FindMessageByName(name)
		if err != nil {
			s.t.Fatal(err)
		}
		return messageType.New()
	}
	request, reply = messageOf(of.Input().FullName()), messageOf(of.Output().FullName())
	s.fill(request, number, given)
	if err := s.connection.Invoke(s.t.Context(), "/"+service+"/"+method, request.Interface(), reply.Interface()); err != nil {
		s.t.Fatalf("%s: %v", method, err)
	}
	return request, reply
}

// fill sets all fields. Those that are a condition, or another way to say the same, stay empty.
func (s server) fill(message protoreflect.Message, number int, given values) {
	s.t.Helper()
	fields := message.Descriptor().Fields()
	for i := range fields.Len() {
		field := fields.Get(i)
		value, isGiven := given[string(field.Name())]
		isPart := message.Descriptor().Name() == "UpdateAlbumRequest" && (field.Name() == "lat" || field.Name() == "lng")
		switch {
		case isGiven:
			message.Set(field, protoreflect.ValueOf(value))
		case isPart, field.Name() == "request_id", field.Name() == "etag", strings.HasSuffix(string(field.Name()), "_mask"), field.ContainingOneof() != nil && !field.HasOptionalKeyword():
		case field.IsList():
			for n := range 2 {
				message.Mutable(field).List().Append(protoreflect.ValueOfString(fmt.Sprintf("%s %d %d", field.Name(), number, n)))
			}
		case field.Message() != nil:
			s.fill(message.Mutable(field).Message(), number, nil)
		case field.Kind() == protoreflect.StringKind:
			message.Set(field, protoreflect.ValueOfString(fmt.Sprintf("%s %d", field.Name(), number)))
		case field.Kind() == protoreflect.Int32Kind:
			message.Set(field, protoreflect.ValueOfInt32(int32(number)))
		case field.Kind() == protoreflect.DoubleKind:
			message.Set(field, protoreflect.ValueOfFloat64(float64(number)+0.5))
		case field.Kind() == protoreflect.EnumKind:
			message.Set(field, protoreflect.ValueOfEnum(protoreflect.EnumNumber(number)))
		case field.Kind() == protoreflect.BoolKind:
			message.Set(field, protoreflect.ValueOfBool(true))
		default:
			s.t.Fatalf("give %s a value", field.FullName())
		}
	}
}

// expectKept checks that a resource has what a request gave it.
func (s server) expectKept(request, kept protoreflect.Message) {
	s.t.Helper()
	request.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		same := kept.Descriptor().Fields().ByName(field.Name())
		switch isText := field.Kind() == protoreflect.StringKind; {
		case slices.Contains([]protoreflect.Name{"owner_id", "author_id", "actor_id", "album_id", "blog_id", "poi_id", "key"}, field.Name()):
		case same == nil:
			s.t.Errorf("%s has no %s", kept.Descriptor().FullName(), field.Name())
		case same.Message() != field.Message(): // the vote, of which all texts are kept
			text := prototext.Format(kept.Get(same).Message().Interface())
			for _, part := range []string{fmt.Sprint(value.Message().Get(field.Message().Fields().ByName("description"))), "choices"} {
				if !strings.Contains(text, part) {
					s.t.Errorf("%s lost %s: %s", kept.Descriptor().FullName(), field.FullName(), text)
				}
			}
		case isText && kept.Get(same).String() != value.String(), !kept.Get(same).Equal(value):
			s.t.Errorf("%s of %s is lost: it is %v", field.FullName(), kept.Descriptor().FullName(), kept.Get(same))
		}
		return true
	})
}

// expectWhole checks that a reply sets all fields of its resource.
func (s server) expectWhole(shown protoreflect.Message) {
	s.t.Helper()
	fields := shown.Descriptor().Fields()
	for i := range fields.Len() {
		switch field := fields.Get(i); field.Name() {
		case "old_id", "reply_old_id", "is_small", "import_key", "distance_meters", "parent_id": // of other content, or of other lists
		default:
			if !shown.Has(field) {
				s.t.Errorf("no reply has %s", field.FullName())
			}
		}
	}
}

// shown returns the reply about content.
func (s server) shown(r resource, id int64) protoreflect.Message {
	s.t.Helper()
	_, reply := s.call(r.service, "Get"+r.name, 0, values{r.field() + "_id": id})
	return reply
}

func get(message protoreflect.Message, path ...string) protoreflect.Value {
	for _, name := range path[:len(path)-1] {
		message = message.Get(message.Descriptor().Fields().ByName(protoreflect.Name(name))).Message()
	}
	return message.Get(message.Descriptor().Fields().ByName(protoreflect.Name(path[len(path)-1])))
}

// make makes content of a kind with all that it can have, and changes all of it. It returns its identifier.
func (s server) make(r resource, owner, visitor int64) int64 {
	s.t.Helper()
	idField, quoted := r.field()+"_id", [2]int64{}
	for i := range quoted {
		if r.name == "Blog" {
			_, made := s.call(r.service, "CreateBlog", 1, values{"author_id": owner, "reply_blog_id": int64(0)})
			quoted[i] = get(made, "blog", "blog_id").Int()
		}
	}
	given := values{r.owner: owner, "reply_blog_id": quoted[0]}
	request, reply := s.call(r.service, "Create"+r.name, 2, given)
	s.expectKept(request, get(reply, r.field()).Message())
	id := get(reply, r.field(), idField).Int()
	given = values{"actor_id": owner, idField: id, "reply_blog_id": quoted[1]}
	changing, changed := s.call(r.service, "Update"+r.name, 3, given)
	s.expectKept(changing, get(changed, r.field()).Message())
	if r.name != "Blog" {
		s.call("waybook.photo.v1.PhotoService", "AddPhoto", 2, values{idField: id, "actor_id": owner})
	} else {
		s.call(r.service, "CastBallot", 2, values{"voter_id": visitor, "blog_id": id})
	}
	_, comment := s.call("waybook.comment.v1.CommentService", "AddComment", 2, values{idField: id, "author_id": visitor})
	s.call("waybook.comment.v1.CommentService", "ReplyToComment", 2, values{idField: id, "actor_id": owner, "comment_id": get(comment, "comment", "comment_id").Int()})
	s.call("waybook.recommendation.v1.RecommendationService", "Recommend", 2, values{idField: id, "user_id": visitor})
	return id
}

// A field that is forgotten anywhere fails with its name.
func TestNoFieldOfContentIsLost(t *testing.T) {
	t.Parallel()
	standalone, data, loaded, restored := filepath.Join(binaries, "standalone"), t.TempDir(), filepath.Join(t.TempDir(), "loaded"), filepath.Join(t.TempDir(), "restored")
	first := launch.Start(t, standalone, data, "-demo=false")
	s := server{t, launch.Dial(t, first.GRPC)}
	on := operator{t, first.GRPC}
	owner, visitor := on.createUser("owner"), on.createUser("visitor")
	ids := map[resource]int64{}
	want := map[resource]protoreflect.Message{}
	for _, r := range resources() {
		ids[r] = s.make(r, numbered(t, owner), numbered(t, visitor))
		want[r] = s.shown(r, ids[r])
		s.expectWhole(get(want[r], r.field()).Message())
	}
	expect := func(how, address string, options ...cmp.Option) {
		t.Helper()
		other := server{t, launch.Dial(t, address)}
		for _, r := range resources() {
			got := other.shown(r, ids[r])
			if diff := cmp.Diff(want[r].Interface(), got.Interface(), append(options, protocmp.Transform())...); diff != "" {
				t.Errorf("%s, %s: (-want +got)\n%s", r.name, how, diff)
			}
		}
	}

	folder := t.TempDir()
	files := map[string]string{}
	for _, name := range []string{"visitor", "owner", "landmarks.ndjson", "dump", "backup"} {
		files[name] = filepath.Join(folder, name)
	}
	on.must("user", "export", visitor, files["visitor"])
	on.must("user", "export", owner, files["owner"])
	on.must("landmark", "export", files["landmarks.ndjson"], "--owner", owner)
	on.must("store", "backup", files["backup"])
	if status := first.End(syscall.SIGTERM); status != 0 {
		t.Fatalf("standalone ended with %d", status)
	}
	on.must("store", "dump", files["dump"], "--data", data)
	on.must("store", "load", files["dump"], "--data", loaded)
	expect("dumped and loaded", launch.Start(t, standalone, loaded, "-demo=false").GRPC)
	on.must("store", "restore", files["backup"], "--data", restored)
	expect("backed up and restored", launch.Start(t, standalone, restored, "-demo=false").GRPC)

	second := operator{t, startEmpty(t).GRPC}
	second.must("move", "import", files["visitor"], files["owner"])
	// What moved in has other identifiers.
	expect("exported and moved in", second.address, cmp.FilterPath(func(p cmp.Path) bool {
		name := strings.Trim(p.Last().String(), `[]"`)
		return slices.Contains([]string{"album_id", "blog_id", "poi_id", "photo_id", "comment_id", "reply_blog_id", "old_id", "reply_old_id", "etag"}, name)
	}, cmp.Ignore()))
	second.must("landmark", "import", files["landmarks.ndjson"], "--owner", visitor)
	listed, err := poiv1.NewPoiServiceClient(launch.Dial(t, second.address)).ListPois(t.Context(), &poiv1.ListPoisRequest{OwnerId: numbered(t, visitor)})
	if err != nil || len(listed.GetPois()) != 1 {
		t.Fatalf("the landmarks of a file are %v, %v", listed, err)
	}
	item := (&poiv1.ImportedPoi{}).ProtoReflect().Descriptor().Fields()
	made, imported := get(want[resources()[2]], "poi").Message(), listed.GetPois()[0].ProtoReflect()
	for i := range item.Len() {
		field := made.Descriptor().Fields().ByName(item.Get(i).Name())
		if field != nil && !made.Get(field).Equal(imported.Get(field)) {
			t.Errorf("a file of landmarks lost %s: it is %v", field.FullName(), imported.Get(field))
		}
	}
}

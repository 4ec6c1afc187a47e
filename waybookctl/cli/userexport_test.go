package cli

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/waybook/waybook/internal/clients"
	"github.com/waybook/waybook/moving/format"
	moveinv1 "github.com/waybook/waybook/proto/gen/waybook/movein/v1"
)

// full answers each call with a reply in which every field is set.
type full struct {
	grpc.ClientConnInterface

	// values have the texts and integers of the replies, by their fields.
	values map[string]protoreflect.FieldDescriptor
	// guests says that the authors of comments have no account, and that nothing was moved in.
	guests bool
}

func (f *full) Invoke(_ context.Context, _ string, _, reply any, _ ...grpc.CallOption) error {
	message, _ := reply.(proto.Message)
	f.fill(message.ProtoReflect())
	return nil
}

func (f *full) fill(message protoreflect.Message) {
	fields := message.Descriptor().Fields()
	for i := range fields.Len() {
		field := fields.Get(i)
		isAuthor := f.guests && field.FullName() == "waybook.comment.v1.Comment.author"
		switch name := field.Name(); {
		case name == "next_page_token", f.guests && strings.HasSuffix(string(name), "old_id"):
		case field.IsList() && field.Message() != nil:
			for range 2 {
				f.fill(message.Mutable(field).List().AppendMutable().Message())
			}
		case field.IsList() || field.IsMap():
		case field.Message() != nil && field.Message().FullName() == "google.protobuf.Timestamp":
			seconds := message.Mutable(field).Message()
			seconds.Set(seconds.Descriptor().Fields().ByName("seconds"), protoreflect.ValueOfInt64(f.next(field, true)))
		case field.Message() != nil:
			f.fill(message.Mutable(field).Message())
			if isAuthor {
				author := message.Mutable(field).Message()
				author.Clear(author.Descriptor().Fields().ByName("user_id"))
			}
		case field.Kind() == protoreflect.StringKind:
			message.Set(field, protoreflect.ValueOfString(fmt.Sprintf("t%d@a.example", f.next(field, false))))
		case field.Kind() == protoreflect.Int64Kind:
			message.Set(field, protoreflect.ValueOfInt64(f.next(field, false)))
		case field.Kind() == protoreflect.Int32Kind:
			message.Set(field, protoreflect.ValueOfInt32(11))
		case field.Kind() == protoreflect.DoubleKind:
			message.Set(field, protoreflect.ValueOfFloat64(12.5))
		case field.Kind() == protoreflect.EnumKind:
			message.Set(field, protoreflect.ValueOfEnum(2))
		case field.Kind() == protoreflect.BoolKind && field.FullName() != "waybook.account.v1.User.hidden":
			message.Set(field, protoreflect.ValueOfBool(true))
		}
	}
}

// next returns a number that no other field has.
func (f *full) next(field protoreflect.FieldDescriptor, isTime bool) int64 {
	number := int64(1_000_000 + len(f.values))
	written := fmt.Sprint(number)
	if isTime {
		written = time.Unix(number, 0).UTC().Format(time.RFC3339)
	}
	f.values[written] = field
	return number
}

// isLeftOut reports whether no file has a field: a state, a count, or who else somebody is beside the identifier.
func isLeftOut(field protoreflect.FieldDescriptor, guests bool) bool {
	switch field.FullName() {
	case "waybook.account.v1.User.user_id": // the one that was asked for
		return true
	case "waybook.type.v1.Profile.name", "waybook.type.v1.Profile.icon_url":
		return true // those of guests are in the records, of which each field is looked for
	case "waybook.type.v1.Profile.user_id":
		return guests
	case "waybook.photo.v1.PhotoFile.size_bytes": // the file itself shows it
		return true
	case "waybook.poi.v1.Poi.import_key":
		return true
	case "waybook.comment.v1.Comment.parent_id":
		return true // only ListCommentsByAuthor shows it
	case "waybook.type.v1.Summary.id", "waybook.type.v1.Summary.title", "waybook.type.v1.Summary.old_id":
		return true // the lists are read whole
	}
	return field.Name() == "etag" || !guests && isPresent(field)
}

// isPresent reports whether a field has an identifier that stands for none of the old service.
func isPresent(field protoreflect.FieldDescriptor) bool {
	switch field.Name() {
	case "album_id", "blog_id", "poi_id", "photo_id", "comment_id", "reply_blog_id":
		return true
	}
	return false
}

// A field of a reply or of a record that the export forgets fails with its name.
func TestAnExportOfAPersonForgetsNoField(t *testing.T) {
	written, lost := map[protoreflect.FullName]bool{}, map[protoreflect.FullName]bool{}
	for _, guests := range []bool{false, true} {
		f := &full{values: map[string]protoreflect.FieldDescriptor{}, guests: guests}
		var file bytes.Buffer
		e := personExport{out: &file, counts: map[format.Kind]int64{}, services: &services{Clients: clients.Of(f, f, f, f)}}
		if err := e.user(t.Context(), 7); err != nil {
			t.Fatal(err)
		}
		for value, field := range f.values {
			if !isLeftOut(field, guests) && !strings.Contains(file.String(), value) && !lost[field.FullName()] {
				lost[field.FullName()] = true
				t.Errorf("%s is lost", field.FullName())
			}
		}
		decoder := format.Decoder{Zone: time.UTC}
		for line := range strings.Lines(file.String()) {
			got := decoder.Decode([]byte(line))
			if len(got.Faults) > 0 {
				t.Errorf("%s: %v", line, got.Faults)
			}
			if got.Record != nil {
				mark(written, got.Record.ProtoReflect())
			}
		}
	}
	fields := (*moveinv1.Record)(nil).ProtoReflect().Descriptor().Fields()
	for i := range fields.Len() {
		content := fields.Get(i).Message().Fields()
		for n := range content.Len() {
			if name := content.Get(n).FullName(); !written[name] && fields.Get(i).Name() != "session" && content.Get(n).Name() != "password_hash" {
				t.Errorf("no line has %s", name)
			}
		}
	}
}

func mark(written map[protoreflect.FullName]bool, message protoreflect.Message) {
	message.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		if written[field.FullName()] = true; field.Message() != nil && !field.IsList() {
			mark(written, value.Message())
		}
		return true
	})
}

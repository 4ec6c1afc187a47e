package contract

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/waybook/waybook/edge/form"
	"github.com/waybook/waybook/internal/platform/rules"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
)

// requests returns the name of every request of the contracts, and of the items that an import
// validates one by one.
func requests() []protoreflect.FullName {
	names := []protoreflect.FullName{"waybook.poi.v1.ImportedPoi"}
	protoregistry.GlobalFiles.RangeFiles(func(file protoreflect.FileDescriptor) bool {
		for i := range file.Services().Len() {
			methods := file.Services().Get(i).Methods()
			for n := range methods.Len() {
				if name := methods.Get(n).Input().FullName(); strings.HasPrefix(string(name), "waybook.") {
					names = append(names, name)
				}
			}
		}
		return true
	})
	slices.Sort(names)
	return slices.Compact(names)
}

// setters returns a function for each string of a message. It sets the string.
func setters(of protoreflect.MessageDescriptor) (all []func(protoreflect.Message, string)) {
	for i := range of.Fields().Len() {
		field := of.Fields().Get(i)
		switch {
		case field.Kind() == protoreflect.StringKind && field.IsList():
			all = append(all, func(m protoreflect.Message, s string) { m.Mutable(field).List().Append(protoreflect.ValueOfString(s)) })
		case field.Kind() == protoreflect.StringKind:
			all = append(all, func(m protoreflect.Message, s string) { m.Set(field, protoreflect.ValueOfString(s)) })
		case field.Kind() == protoreflect.MessageKind && !field.IsList() && strings.HasPrefix(string(field.Message().FullName()), "waybook."):
			for _, set := range setters(field.Message()) {
				all = append(all, func(m protoreflect.Message, s string) { set(m.Mutable(field).Message(), s) })
			}
		}
	}
	return all
}

// texts returns the naughty strings, and each character that some rule of texts could be about.
func texts(t *testing.T) []string {
	t.Helper()
	all := naughtyStrings(t)
	for r := range rune(0x180) {
		all = append(all, "a"+string(r)+"b")
	}
	for _, r := range "\u1680\u2000\u200b\u200e\u2028\u2029\u202e\u2060\u3000\ud7ff\ue000\ufdd0\ufeff\ufffd\ufffe\uffff\U00010000\U0001fffe\U0010ffff" {
		all = append(all, string(r), "a"+string(r))
	}
	return append(all, "\xff", "a\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "晴\xe6\x99")
}

// An edge and the contracts take the same texts, in every parameter and in every field.
func TestAnEdgeAndTheContractsTakeTheSameTexts(t *testing.T) {
	taken, refused, fields := 0, 0, 0
	for _, s := range texts(t) {
		var sent form.Form
		sent.ParseBody("a="+url.QueryEscape(s), form.UTF8)
		_, found := sent.Get("a")
		isTaken := found == form.Readable
		if isTaken {
			taken++
		} else {
			refused++
		}
		for _, name := range requests() {
			kind, err := protoregistry.GlobalTypes.FindMessageByName(name)
			if err != nil {
				t.Fatal(err)
			}
			for _, set := range setters(kind.Descriptor()) {
				fields++
				request := kind.New()
				set(request, s)
				violations := rules.Violations(request.Interface())
				isRefused := false
				for _, violation := range violations {
					isRefused = isRefused || strings.Contains(violation.Message, "XML 1.0")
				}
				if isRefused == isTaken {
					t.Errorf("%.100q: the edge takes it: %v; %s: %v", s, isTaken, name, violations)
				}
			}
		}
	}
	if taken == 0 || refused == 0 || fields/(taken+refused) < 50 {
		t.Errorf("%d texts taken, %d refused, %d fields", taken, refused, fields)
	}
}

func TestABlankNameIsRefused(t *testing.T) {
	refuses := func(request proto.Message, field string) bool {
		violations := rules.Violations(request)
		for _, violation := range violations {
			if violation.Field == field {
				return true
			}
		}
		return false
	}
	for name, isRefused := range map[string]bool{
		" ": true, "\t\r\n": true, "\u3000": true, "\u200b\ufeff": true, "\u3164": true, "\u2800\u2800": true, "a": false, " a ": false, "😀": false, "晴": false,
	} {
		for _, request := range []proto.Message{
			&accountv1.CreateUserRequest{Name: name}, &accountv1.UpdateUserRequest{Name: &name},
			&poiv1.CreatePoiRequest{Name: name}, &poiv1.UpdatePoiRequest{Name: &name}, &poiv1.ImportedPoi{Name: name},
		} {
			if got := refuses(request, "name"); got != isRefused {
				t.Errorf("%q in %T is refused: %v", name, request, got)
			}
		}
		// A title comes back as it was sent, blank or not (rule 2.8).
		if refuses(&albumv1.CreateAlbumRequest{Title: name}, "title") {
			t.Errorf("the title %q is refused", name)
		}
	}
}

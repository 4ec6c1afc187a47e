package format

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/waybook/waybook/edge"
	"github.com/waybook/waybook/internal/platform/rules"
	moveinv1 "github.com/waybook/waybook/proto/gen/waybook/movein/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

func decodeStrictly(line string) Line {
	return Decoder{Zone: time.FixedZone("", 8*3600)}.Decode([]byte(line))
}

func decodeRepairing(line string) Line {
	return Decoder{Zone: time.FixedZone("", 8*3600), Repair: true}.Decode([]byte(line))
}

// wrapped returns a content as a record.
func wrapped(p *plan, content protoreflect.Message) *moveinv1.Record {
	record := &moveinv1.Record{}
	message := record.ProtoReflect()
	message.Set(message.Descriptor().Fields().ByName(protoreflect.Name(p.kind)), protoreflect.ValueOfMessage(content))
	return record
}

// filled returns a valid content in which each field is set, but of several of which one is allowed only the one with
// the number choice: the parents, and the account or the name of an author.
func filled(t *testing.T, p *plan, choice int) protoreflect.Message {
	t.Helper()
	of, err := protoregistry.GlobalTypes.FindMessageByName(p.fields[0].ContainingMessage().FullName())
	if err != nil {
		t.Fatal(err)
	}
	message, parents := of.New(), 0
	for _, f := range p.fields {
		isGuest, isAccount := strings.HasPrefix(f.name, "author_") && f.name != "author_id", f.name == "author_id" && !f.required
		if f.parent != "" && f.ContainingOneof() != nil {
			if parents++; parents-1 != choice%strings.Count(p.oneOf+",", ",") {
				continue
			}
		}
		if isGuest && choice%2 == 0 || isAccount && choice%2 == 1 {
			continue
		}
		var value protoreflect.Value
		switch f.form {
		case formText, formID:
			value = protoreflect.ValueOfString(map[string]string{
				"email": "a.b@c.example", "password_hash": "5f4dcc3b5aa765d61d8327deb882cf99", "idrand": "0123456789abcdef0123456789abcdef",
				"id": "12", "album_id": "old <album>",
			}[f.name])
			if value.String() == "" {
				value = protoreflect.ValueOfString("文 \"<&>\\ \u2028 of " + f.name)
			}
		case formUser, formInteger, formDecimal:
			value = f.numeric(max(1, f.min) + float64(min(2, choice)))
			if f.form == formDecimal {
				value = f.numeric(12.3456789012345)
			}
		case formWord:
			value = protoreflect.ValueOfEnum(protoreflect.EnumNumber(choice%(len(f.words)-1) + 1))
		case formTime:
			value = protoreflect.ValueOfMessage(timestamppb.New(time.UnixMilli(1_204_679_251_123 + int64(len(f.name)))).ProtoReflect())
		case formDay:
			value = protoreflect.ValueOfMessage((&typev1.Date{Year: 2008, Month: 2, Day: 29}).ProtoReflect())
		case formObject:
			value = protoreflect.ValueOfMessage(filled(t, f.object, choice))
		case formList:
			list := message.Mutable(f.FieldDescriptor).List()
			for i := range 2 + choice {
				list.Append(protoreflect.ValueOfMessage(filled(t, f.object, i)))
			}
			continue
		default:
			t.Fatalf("%s has the unknown form %d", f.FullName(), f.form)
		}
		message.Set(f.FieldDescriptor, value)
	}
	return message
}

// A field that the encoder or the decoder forgets fails with its name.
func TestARecordReadsBackAsItWasWritten(t *testing.T) {
	for kind, p := range plans() {
		used := map[string]bool{}
		for choice := range 6 {
			content := filled(t, p, choice)
			record := wrapped(p, content)
			line := Encode(nil, record)
			got := decodeStrictly(string(line))
			if len(got.Faults) > 0 || got.Kind != kind || SubjectOf(record).ID == "" || strings.Count(string(line), "\n") != 1 {
				t.Fatalf("%s: %v", line, got.Faults)
			}
			back, _ := contentOf(got.Record)
			content.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
				if used[string(field.Name())] = true; !value.Equal(back.Get(field)) {
					t.Errorf("%s: %v became %v", field.FullName(), value, back.Get(field))
				}
				return true
			})
			if !proto.Equal(got.Record, record) {
				t.Errorf("%v became %v", record, got.Record)
			}
			for _, f := range p.fields {
				content.Clear(f.FieldDescriptor)
				got := decodeStrictly(string(Encode(nil, record)))
				if isBad := breaksRules(content); isBad && len(got.Faults) == 0 {
					t.Errorf("without %s: no fault", f.FullName())
				}
			}
		}
		for _, f := range p.fields {
			if !used[f.name] {
				t.Errorf("%s was never set", f.FullName())
			}
		}
	}
}

// breaksRules reports whether a service would refuse a message.
func breaksRules(message protoreflect.Message) bool {
	return len(rules.Violations(message.Interface())) > 0
}

// values returns values of a field at and around each bound, valid and not, as far as a file can have them.
func values(f *field) (all []protoreflect.Value) {
	switch f.form {
	case formText:
		for _, s := range []string{"", "a", "文", "a@b", "a@b.c", "a@-b", "a@" + strings.Repeat("b", 63), "a@" + strings.Repeat("b", 64), "A@b..c", "é@b.c", strings.Repeat("0", 32), strings.Repeat("g", 32)} {
			all = append(all, protoreflect.ValueOfString(s))
		}
		for _, length := range []int{f.maxLen, f.maxBytes} {
			for n := length - 1; length > 0 && n <= length+1; n++ {
				all = append(all, protoreflect.ValueOfString(strings.Repeat("文", n)), protoreflect.ValueOfString(strings.Repeat("a", n)),
					protoreflect.ValueOfString(strings.Repeat("a", max(0, n-4))+"@b.c"))
			}
		}
	case formID:
		for _, n := range []int{0, 1, f.maxBytes, f.maxBytes + 1} {
			all = append(all, protoreflect.ValueOfString(strings.Repeat("a", n)))
		}
	case formUser, formInteger, formDecimal:
		for _, bound := range []float64{f.min, f.max, 0} {
			for by := -1.0; by <= 1; by++ {
				all = append(all, f.numeric(bound+by))
			}
		}
		if f.form == formDecimal {
			all = append(all, f.numeric(math.Nextafter(f.max, 1000)), f.numeric(math.Nextafter(f.min, -1000)))
		}
	case formWord:
		for n := range len(f.words) + 2 {
			all = append(all, protoreflect.ValueOfEnum(protoreflect.EnumNumber(n)))
		}
	}
	return all
}

// The decoder checks by hand what the services check.
func TestTheDecoderAgreesWithTheServices(t *testing.T) {
	count := 0
	for _, p := range plans() {
		for choice := range 2 {
			content := filled(t, p, choice)
			var walk func(of *plan, message protoreflect.Message)
			walk = func(of *plan, message protoreflect.Message) {
				for _, f := range of.fields {
					before := proto.Clone(content.Interface()).ProtoReflect()
					check := func(value any) {
						count++
						isBad := breaksRules(content)
						got := decodeStrictly(string(Encode(nil, wrapped(p, content)))).Faults
						got = slicesWithout(got, f)
						if isBad != (len(got) > 0) {
							t.Errorf("%s = %.60v: %v, want %t", f.FullName(), value, got, isBad)
						}
					}
					restore := message.Get(f.FieldDescriptor)
					wasSet := message.Has(f.FieldDescriptor)
					for _, value := range values(f) {
						if f.ContainingOneof() != nil && f.parent != "" && !wasSet {
							continue // another parent is set
						}
						message.Set(f.FieldDescriptor, value)
						check(value)
					}
					message.Clear(f.FieldDescriptor)
					check("none")
					if f.form == formList {
						list := message.Mutable(f.FieldDescriptor).List()
						for range 21 {
							check(list.Len())
							list.Append(protoreflect.ValueOfMessage(filled(t, f.object, 1)))
						}
						check(list.Len())
						list.Truncate(2)
						walk(f.object, list.Get(1).Message())
						continue
					}
					if wasSet {
						message.Set(f.FieldDescriptor, restore)
					}
					if f.form == formObject {
						walk(f.object, message.Mutable(f.FieldDescriptor).Message())
					}
					if !proto.Equal(before.Interface(), content.Interface()) && f.form != formObject {
						t.Fatalf("%s was not put back", f.FullName())
					}
				}
			}
			walk(p, content)
		}
	}
	if count < 500 {
		t.Errorf("compared only %d records", count)
	}
}

// slicesWithout leaves out the faults of rules that are no options of protovalidate.
func slicesWithout(faults []Fault, f *field) (left []Fault) {
	for _, each := range faults {
		isOwn := each.Class == Conflict && each.Field != "" || each.Field == "author_id" && each.Class == Missing && strings.Contains(each.Text, "author_name") ||
			f.name == "password_hash" && each.Class == WrongType || f.isName && each.Class == Blank && each.Value != `""` && each.Value != ""
		if !isOwn {
			left = append(left, each)
		}
	}
	return left
}

// The interface describes each enumeration with its words, in the order of its numbers.
func TestTheWordsAreThoseOfTheInterface(t *testing.T) {
	found := 0
	for _, operation := range edge.Operations() {
		for _, p := range operation.Parameters {
			enum := map[string]protoreflect.FullName{"type": "waybook.blog.v1.BlogType", "weather": "waybook.blog.v1.Weather"}[p.Name]
			if enum == "" || operation.Func != "postBlog" {
				continue
			}
			want := []string{""}
			for _, value := range p.Values {
				want = append(want, value.Value)
			}
			if found++; !slices.Equal(words()[enum], want) {
				t.Errorf("%s: %q, want %q", enum, words()[enum], want)
			}
		}
	}
	if found != len(words()) {
		t.Errorf("found %d enumerations", found)
	}
}

func TestATimeHasManyForms(t *testing.T) {
	for written, want := range map[string]string{
		`"2008-03-05T09:07:31Z"`: "2008-03-05T09:07:31Z", `"2008-03-05T09:07:31.1239+08:00"`: "2008-03-05T01:07:31.123Z",
		`"2008-03-05 09:07:31"`: "2008-03-05T01:07:31Z", `"2008-03-05 09:07:31.5"`: "2008-03-05T01:07:31.5Z", `"2008-03-05T09:07:31"`: "2008-03-05T01:07:31Z",
		`"2008-03-05 09:07:31+00"`: "2008-03-05T09:07:31Z", `1204679251`: "2008-03-05T01:07:31Z", `-1`: "1969-12-31T23:59:59Z", `0`: "1970-01-01T00:00:00Z",
		`"0000-00-00 00:00:00"`: "", `"2008-02-30 00:00:00"`: "", `"9999-01-02 00:00:00"`: "", `20080305090731`: "", `1.5`: "", `"1204679251"`: "", `true`: "", `""`: "",
	} {
		got := decodeStrictly(strings.Replace(album, "1204679251", written, 1))
		if at := got.Record.GetAlbum().GetCreateTime(); (at == nil) != (len(got.Faults) > 0) || at != nil && at.AsTime().Format(time.RFC3339Nano) != want || at == nil && want != "" {
			t.Errorf("%s is %v, want %s: %v", written, at.AsTime(), want, got.Faults)
		}
	}
}

func TestARecordIsIdentifiedForPeople(t *testing.T) {
	for line, want := range map[string][3]string{
		album: {"5", "", ""}, comment: {"1", "album", "2"}, user: {"1", "", ""}, entry: {"1", "", ""},
		`{"kind":"ballot","entry_id":"a b","user_id":"7","choice":1}`:               {"a b/7", "entry", "a b"},
		`{"kind":"recommendation","landmark_id":"poi-3","user_id":12}`:              {"poi-3/12", "landmark", "poi-3"},
		`{"kind":"session","user_id":3,"idrand":"` + strings.Repeat("a", 32) + `"}`: {"3", "", ""},
		`{"kind":"reward","id":"blog/77","user_id":3}`:                              {"blog/77", "", ""},
	} {
		got := decodeStrictly(line)
		if len(got.Faults) > 0 {
			t.Errorf("%s: %v", line, got.Faults)
			continue
		}
		if of := SubjectOf(got.Record); of.ID != want[0] || string(of.Parent) != want[1] || of.ParentID != want[2] {
			t.Errorf("%s: %+v", line, of)
		}
	}
	end := decodeStrictly(string(EncodeEnd(nil, map[Kind]int64{KindAlbum: 3, KindUser: 1})))
	if end.Kind != KindEnd || end.Record != nil || len(end.Faults) > 0 || end.End[KindAlbum] != 3 || end.End[KindUser] != 1 || len(end.End) != 2 {
		t.Errorf("%+v", end)
	}
}

// However many faults are mended, one that is not is among them.
func TestAFaultThatIsNotMendedIsNotHiddenByOthers(t *testing.T) {
	line := `{"kind":"user","id":"x","name":"a"` + strings.Repeat(`,"b":1`, 50) + `,"id":2}`
	if got := decodeRepairing(line); len(got.Faults) != maxFaults || got.Faults[maxFaults-1].Repair != "" {
		t.Errorf("%v", got.Faults)
	}
	if got := decodeStrictly(line); len(got.Faults) != maxFaults {
		t.Errorf("%v", got.Faults)
	}
}

func TestNegativeZeroIsZero(t *testing.T) {
	got := decodeStrictly(strings.Replace(album, "25.1", "-0.0", 1))
	if a := got.Record.GetAlbum(); len(got.Faults) > 0 || a.Lat == nil || math.Signbit(a.GetLat()) {
		t.Errorf("%v: %v", a, got.Faults)
	}
}

package docstore

import (
	"bytes"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.mongodb.org/mongo-driver/v2/bson"
	"pgregory.net/rapid"
)

// state is a document with a field of every sort that a difference tells apart.
type state struct {
	ID     int64             `bson:"_id"`
	Small  int32             `bson:"small"`
	Text   string            `bson:"text,omitempty"`
	Count  int64             `bson:"count"`
	Stars  int64             `bson:"stars,omitempty"`
	Bytes  []byte            `bson:"bytes"`
	Tags   []string          `bson:"tags"`
	Part   statePart         `bson:"part"`
	Maybe  *statePart        `bson:"maybe,omitempty"`
	Parts  []statePart       `bson:"parts"`
	Lists  [][]stateInner    `bson:"lists"`
	Labels map[string]string `bson:"labels,omitempty"`
}

type statePart struct {
	Name  string      `bson:"name"`
	Inner stateInner  `bson:"inner"`
	Maybe *stateInner `bson:"maybe"`
}

type stateInner struct {
	X float64 `bson:"x"`
	Y bool    `bson:"y,omitempty"`
}

func drawInner(t *rapid.T) stateInner {
	return stateInner{X: rapid.SampledFrom([]float64{0, 1, -0.5}).Draw(t, "x"), Y: rapid.Bool().Draw(t, "y")}
}

func drawPart(t *rapid.T) statePart {
	return statePart{
		Name:  rapid.SampledFrom([]string{"", "a", "山"}).Draw(t, "name"),
		Inner: drawInner(t),
		Maybe: rapid.Ptr(rapid.Custom(drawInner), true).Draw(t, "inner maybe"),
	}
}

func drawState(t *rapid.T) state {
	some := func(name string) int64 { return rapid.Int64Range(-2, 2).Draw(t, name) }
	names := rapid.SampledFrom([]string{"", "a", "a.b", "$x", "山"})
	s := state{
		ID: 1, Small: int32(some("small")), Text: names.Draw(t, "text"), Count: some("count"), Stars: some("stars"), // #nosec G115 -- small
		Bytes: rapid.SliceOfN(rapid.Byte(), 0, 2).Draw(t, "bytes"),
		Tags:  rapid.SliceOfN(names, 0, 2).Draw(t, "tags"),
		Part:  drawPart(t),
		Maybe: rapid.Ptr(rapid.Custom(drawPart), true).Draw(t, "maybe"),
		Parts: rapid.SliceOfN(rapid.Custom(drawPart), 0, 3).Draw(t, "parts"),
		Lists: rapid.SliceOfN(rapid.SliceOfN(rapid.Custom(drawInner), 0, 2), 0, 2).Draw(t, "lists"),
	}
	if rapid.Bool().Draw(t, "labelled") {
		s.Labels = rapid.MapOfN(rapid.SampledFrom([]string{"a", "b"}), names, 0, 2).Draw(t, "labels")
	}
	return s
}

// enriched returns a document with the field "newer" in it and in each document inside, also
// inside arrays, as a newer version of the program would store.
func enriched(document bson.D) bson.D {
	richer := make(bson.D, 0, len(document)+1)
	for _, element := range document {
		richer = append(richer, bson.E{Key: element.Key, Value: enrichedValue(element.Value)})
	}
	return append(richer, bson.E{Key: "newer", Value: int64(7)})
}

func enrichedValue(value any) any {
	switch value := value.(type) {
	case bson.D:
		return enriched(value)
	case bson.A:
		richer := make(bson.A, len(value))
		for i := range value {
			richer[i] = enrichedValue(value[i])
		}
		return richer
	}
	return value
}

// keptIn returns the paths of the unknown fields that a change to a state must keep: those of
// documents that are there before and after, and in arrays whose length stays.
func keptIn(path string, before, after any) (paths []string) {
	switch before := before.(type) {
	case bson.D:
		after, isDocument := after.(bson.D)
		if !isDocument || strings.HasPrefix(path, ".labels") { // a map has no fields of its own
			return nil
		}
		paths = append(paths, path+".newer")
		for _, element := range before {
			for _, other := range after {
				if other.Key == element.Key {
					paths = append(paths, keptIn(path+"."+element.Key, element.Value, other.Value)...)
				}
			}
		}
	case bson.A:
		after, isArray := after.(bson.A)
		if !isArray || len(after) != len(before) {
			return nil
		}
		for i := range before {
			paths = append(paths, keptIn(path+"."+string(rune('0'+i)), before[i], after[i])...)
		}
	}
	return paths
}

func toD(t failing, document any) (fields bson.D) {
	t.Helper()
	raw, err := bson.Marshal(document)
	must(t, err)
	must(t, bson.Unmarshal(raw, &fields))
	return fields
}

type failing interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

func must(t failing, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestADifferenceLeadsFromOneStateToAnother checks, for random pairs of states, that the
// difference makes one of the other, keeps all fields that the type does not have, and is
// empty only for equal states.
func TestADifferenceLeadsFromOneStateToAnother(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) { checkDifference(rt, drawState(rt), drawState(rt)) })
}

func TestNumbersOfOneKindAreTheSameByTheirValue(t *testing.T) {
	for _, each := range []struct {
		was, is any
		isSame  bool
	}{
		{int32(5), int64(5), true}, {int64(-5), int32(-5), true}, {int32(5), int64(6), false}, {int32(0), int64(1), false},
		{int64(5), 5.0, false}, {5.0, int64(5), false}, {5.0, 5.0, true}, {0.5, -0.5, false}, {0.0, math.Copysign(0, -1), true}, {0.0, int64(0), false},
		{int64(5), "5", false}, {int64(0), false, false}, {"5", "5", true}, {"5", "6", false},
	} {
		valueOf := func(value any) (raw bson.RawValue) {
			var err error
			if raw.Type, raw.Value, err = bson.MarshalValue(value); err != nil {
				t.Fatal(err)
			}
			return raw
		}
		if got := isSame(valueOf(each.was), valueOf(each.is)); got != each.isSame {
			t.Errorf("%T %v and %T %v: same %v", each.was, each.was, each.is, each.is, got)
		}
	}
}

func checkDifference(t failing, before, after state) {
	t.Helper()
	stored := append(enriched(toD(t, before)), bson.E{Key: RevisionField, Value: int64(4)})
	storedRaw, err := bson.Marshal(stored)
	must(t, err)
	afterRaw, err := bson.Marshal(after)
	must(t, err)
	change, err := shapeOf(reflect.TypeFor[state]()).difference(storedRaw, afterRaw)
	must(t, err)
	checkPaths(t, change)
	kept := bytes.Clone(storedRaw)
	got, err := change.Apply(storedRaw)
	if err != nil || got.Validate() != nil || !bytes.Equal(kept, storedRaw) {
		t.Fatalf("%+v of %v: %v, %v", change, bson.Raw(storedRaw), got, err)
	}
	var decoded state
	must(t, bson.Unmarshal(got, &decoded))
	if diff := cmp.Diff(reread(t, after), decoded); diff != "" {
		t.Fatalf("%+v leads to another state:\n%s", change, diff)
	}
	if revision, err := RevisionOf(got); err != nil || revision != 5 {
		t.Fatalf("got revision %d, %v", revision, err)
	}
	for _, path := range keptIn("", toD(t, before), toD(t, after)) {
		if value, err := got.LookupErr(strings.Split(path[1:], ".")...); err != nil || value.Int64() != 7 {
			t.Fatalf("%+v lost the unknown field %s: %v", change, path, got)
		}
	}
	if isEqual := reflect.DeepEqual(toD(t, before), toD(t, after)); change.IsEmpty() != isEqual {
		t.Fatalf("the states are equal: %v, but the change is %+v", isEqual, change)
	}
}

// reread returns a state as it comes back from the store.
func reread(t failing, s state) (again state) {
	t.Helper()
	raw, err := bson.Marshal(s)
	must(t, err)
	must(t, bson.Unmarshal(raw, &again))
	return again
}

// checkPaths checks that no path of a change is the beginning of another, which MongoDB
// refuses.
func checkPaths(t failing, change Change) {
	t.Helper()
	paths := slices.Clone(change.Unset)
	for _, set := range change.Set {
		paths = append(paths, set.Path)
	}
	for _, amount := range change.Add {
		paths = append(paths, amount.Field)
	}
	for i, path := range paths {
		for j, other := range paths {
			if i != j && (path == other || strings.HasPrefix(other, path+".")) {
				t.Fatalf("the paths %q and %q of a change overlap: %+v", path, other, change)
			}
		}
	}
}

func TestADifferenceNamesOnlyWhatChanged(t *testing.T) {
	one := state{ID: 1, Text: "t", Count: 5, Stars: 2, Part: statePart{Name: "p"}, Parts: []statePart{{Name: "q"}, {Name: "r"}}, Tags: []string{"a", "b"}}
	for name, c := range map[string]struct {
		change func(*state)
		want   []string
	}{
		"nothing":                    {func(*state) {}, nil},
		"a field":                    {func(s *state) { s.Small = 2 }, []string{"set small"}},
		"a field that is omitted":    {func(s *state) { s.Text = "" }, []string{"unset text"}},
		"a field inside":             {func(s *state) { s.Part.Inner.X = 1 }, []string{"set part.inner.x"}},
		"a new document":             {func(s *state) { s.Maybe = &statePart{} }, []string{"set maybe"}},
		"a field inside an element":  {func(s *state) { s.Parts[1].Name = "" }, []string{"set parts.1.name"}},
		"an element more":            {func(s *state) { s.Parts = append(s.Parts, statePart{}) }, []string{"set parts"}},
		"an array of texts":          {func(s *state) { s.Tags[0] = "x" }, []string{"set tags"}},
		"an array that becomes null": {func(s *state) { s.Tags = nil }, []string{"set tags"}},
		"several":                    {func(s *state) { s.Text, s.Small, s.Count = "", 1, 6 }, []string{"set count", "set small", "unset text"}},
	} {
		before, err := bson.Marshal(one)
		must(t, err)
		after := reread(t, one)
		c.change(&after)
		raw, err := bson.Marshal(after)
		must(t, err)
		change, err := shapeOf(reflect.TypeFor[state]()).difference(before, raw)
		must(t, err)
		if got := namesOf(change); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func namesOf(change Change) []string {
	names := make(map[string]bool)
	for _, set := range change.Set {
		names["set "+set.Path] = true
	}
	for _, path := range change.Unset {
		names["unset "+path] = true
	}
	for _, amount := range change.Add {
		names["add "+amount.Field+" "+ValueOf(amount.By).String()] = true
	}
	return slices.Sorted(maps.Keys(names))
}

func TestAChangeThatDoesNotFitTheDocumentIsRefused(t *testing.T) {
	document, err := bson.Marshal(bson.D{{Key: "_id", Value: int64(1)}, {Key: "text", Value: "t"}, {Key: "small", Value: int32(1)}, {Key: RevisionField, Value: int64(1)}})
	must(t, err)
	value := bson.RawValue{Type: bson.TypeBoolean, Value: []byte{1}}
	for name, change := range map[string]Change{
		"an amount for a text":          {Add: []Amount{{"text", 1}}},
		"an amount for a small integer": {Add: []Amount{{"small", 1}}},
		"a path through a text":         {Set: []Assignment{{"text.x", value}}},
	} {
		if got, err := change.Apply(document); err == nil {
			t.Errorf("%s: got %v", name, got)
		}
	}
}

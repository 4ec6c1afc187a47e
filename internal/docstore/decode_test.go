package docstore

import (
	"bytes"
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.mongodb.org/mongo-driver/v2/bson"
)

type whole struct {
	ID      int64     `bson:"_id"`
	Small   int32     `bson:"small"`
	Text    string    `bson:"text"`
	Float   float64   `bson:"float"`
	Flag    bool      `bson:"flag"`
	At      time.Time `bson:"at"`
	Part    part      `bson:"part"`
	Maybe   *part     `bson:"maybe,omitempty"`
	Choices []part    `bson:"choices"`
}

type part struct {
	Name  string `bson:"name"`
	Count int64  `bson:"count"`
}

func wholes() []whole {
	full := whole{
		ID: 1<<53 - 1, Small: -7, Text: "台北\x00\n", Float: -0.1, Flag: true, At: time.UnixMilli(-1).UTC(),
		Part: part{"甲", -1}, Maybe: &part{"", math.MaxInt64}, Choices: []part{{"a", 1}, {"b", 2}},
	}
	return []whole{full, {}, {Choices: []part{}}, {Text: string(make([]byte, 5000)), Float: math.NaN()}}
}

// planDecode decodes with the plan only, not with the driver.
func planDecode[T any](t testing.TB, raw []byte) (document T, ok bool) {
	t.Helper()
	p := planFor(reflect.TypeFor[T]())
	if p == nil {
		t.Fatal("the type has no plan")
	}
	return document, p.decode(raw, reflect.ValueOf(&document).Elem(), nil)
}

func TestAPlanDecodesStoredDocumentsLikeTheDriver(t *testing.T) {
	for _, stored := range wholes() {
		raw, err := encode(&stored, 3)
		must(t, err)
		var want whole
		must(t, bson.Unmarshal(raw, &want))
		got, ok := planDecode[whole](t, raw)
		if stored.Choices == nil {
			if ok {
				t.Error("the plan decoded null as a list")
			}
			continue
		}
		if diff := cmp.Diff(want, got); !ok || diff != "" {
			t.Errorf("decoded by the plan: %v; difference from the driver:\n%s", ok, diff)
		}
	}
}

func TestAPlanTakesAValueOfAnotherTypeOnlyIfTheDriverDoes(t *testing.T) {
	values := []any{int32(1), int64(1), 1.5, "text", true, bson.DateTime(5), bson.D{}, bson.A{}, bson.A{int64(1)}, bson.A{bson.A{}}, []byte("\x01"), bson.NewObjectID(), nil}
	for _, field := range []string{"_id", "small", "text", "float", "flag", "at", "part", "maybe", "choices"} {
		for _, value := range values {
			raw, err := bson.Marshal(bson.D{{Key: field, Value: value}})
			must(t, err)
			var want whole
			wantErr := bson.Unmarshal(raw, &want)
			if got, ok := planDecode[whole](t, raw); ok && (wantErr != nil || !cmp.Equal(want, got)) {
				t.Errorf("%s of %T: got %+v, want %+v, %v", field, value, got, want, wantErr)
			}
		}
	}
}

func TestAPlanAcceptsFieldsInAnyOrderAndSkipsUnknownOnes(t *testing.T) {
	raw, err := bson.Marshal(bson.D{{Key: "count", Value: int64(3)}, {Key: "more", Value: bson.A{1, "x"}}, {Key: "name", Value: "n"}, {Key: "_rev", Value: int64(1)}})
	must(t, err)
	if got, ok := planDecode[part](t, raw); !ok || got != (part{"n", 3}) {
		t.Errorf("got %+v, %v", got, ok)
	}
}

func TestTheDriverDecodesTypesThatNoPlanSupports(t *testing.T) {
	for _, unknown := range []any{
		struct {
			A []string `bson:"a"`
		}{},
		struct {
			A map[string]int64 `bson:"a"`
		}{},
		struct {
			A part `bson:"a,inline"`
		}{},
		struct{ A int64 }{},
		struct {
			A uint8 `bson:"a"`
		}{},
		int64(1),
	} {
		if planFor(reflect.TypeOf(unknown)) != nil {
			t.Errorf("planFor returned a plan for %T", unknown)
		}
	}
	var got struct {
		A []string `bson:"a"`
	}
	documents := core{}.as(reflect.TypeOf(got))
	raw, err := bson.Marshal(bson.D{{Key: "a", Value: []string{"x"}}})
	must(t, err)
	if err := documents.decode(raw, &got); err != nil || len(got.A) != 1 {
		t.Errorf("got %v, %v", got, err)
	}
}

// FuzzAPlanAgreesWithTheDriver checks that the driver decodes any BSON that a plan
// decodes to the same value.
func FuzzAPlanAgreesWithTheDriver(f *testing.F) {
	for _, stored := range wholes() {
		raw, err := encode(&stored, 1)
		must(f, err)
		f.Add([]byte(raw))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		kept := bytes.Clone(raw)
		got, ok := planDecode[whole](t, raw)
		if !bytes.Equal(raw, kept) {
			t.Fatal("decoding changed the document")
		}
		if !ok || bson.Raw(raw).Validate() != nil {
			return // for invalid BSON it is enough not to panic
		}
		var want whole
		if err := bson.Unmarshal(raw, &want); err != nil {
			t.Fatalf("the plan decoded %+v, but the driver failed: %v", got, err)
		}
		if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b float64) bool {
			return math.Float64bits(a) == math.Float64bits(b)
		})); diff != "" {
			t.Fatal(diff)
		}
	})
}

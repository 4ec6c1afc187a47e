package docstore

import (
	"bytes"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"pgregory.net/rapid"
)

func TestAFinderFindsWhatLookupFindsInAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfNDistinct(rapid.StringMatching("[a-f]{1,2}"), 0, 12, rapid.ID[string]).Draw(t, "names")
		fields := bson.D{}
		for i, name := range names {
			fields = append(fields, bson.E{Key: name, Value: int64(i)})
		}
		raw, err := bson.Marshal(fields)
		must(t, err)
		body, _ := elementsOf(raw)
		finder := findIn(body)
		for _, name := range rapid.SliceOf(rapid.OneOf(rapid.SampledFrom(append(names, "zz")), rapid.StringMatching("[a-g]"))).Draw(t, "wanted") {
			got, found := finder.find(name)
			want, exists := lookup(body, name)
			if found != exists || !bytes.Equal(got.name, want.name) || !bytes.Equal(got.value, want.value) {
				t.Fatalf("%q of %v: got %v %t, want %v %t", name, names, got, found, want, exists)
			}
		}
	})
}

package operation

import (
	"slices"
	"strings"
	"testing"
)

func TestADescriptionHasEveryParameter(t *testing.T) {
	described := map[string][]string{}
	table := newTable()
	for i := range table {
		d := table[i].Describe()
		for _, p := range d.Parameters {
			if !slices.Contains(described[d.Func], p.Name) {
				described[d.Func] = append(described[d.Func], p.Name)
			}
			if p.Hint == "" && p.Name != "func" {
				t.Errorf("%s: %s has no hint", d.Func, p.Name)
			}
		}
	}
	for function, want := range map[string]string{
		"addAlbum":         "albumTitle category lat lng",
		"updateAlbum":      "albumID albumTitle category delete lat lng",
		"getUserAlbumList": "after limit userID",
		"login":            "email password",
		"logout":           "",
	} {
		slices.Sort(described[function])
		if got := strings.Join(described[function], " "); got != want {
			t.Errorf("%s takes %s, want %s", function, got, want)
		}
	}
}

func TestADescriptionMarksRequiredParameters(t *testing.T) {
	table := newTable()
	for i := range table {
		d := table[i].Describe()
		if d.Func != "updateAlbum" {
			continue
		}
		var required []string
		for _, p := range d.Parameters {
			if p.IsRequired {
				required = append(required, p.Name)
			}
		}
		want := map[Variant]string{AsWritten: "albumID", Deleting: "delete albumID"}[d.Variant]
		if got := strings.Join(required, " "); got != want {
			t.Errorf("variant %d requires %s, want %s", d.Variant, got, want)
		}
	}
}

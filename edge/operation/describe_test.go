package operation

import (
	"os"
	"slices"
	"strings"
	"testing"
)

func TestADescriptionHasEveryParameter(t *testing.T) {
	described := map[string][]string{}
	for _, d := range Describe(newConfig()) {
		if d.Title[0] == "" || d.Title[1] == "" {
			t.Errorf("%s has no name in English or Chinese", d.Func)
		}
		for _, p := range d.Parameters {
			if !slices.Contains(described[d.Func], p.Name) {
				described[d.Func] = append(described[d.Func], p.Name)
			}
			if p.Hint == "" || p.Title[0] == "" || p.Title[1] == "" {
				t.Errorf("%s: %s has no hint, or no name in English or Chinese", d.Func, p.Name)
			}
		}
	}
	for function, want := range map[string]string{
		"addAlbum":         "albumTitle category lat lng",
		"updateAlbum":      "albumID albumTitle category delete lat lng",
		"getUserAlbumList": "after limit userID",
		"getNearbyPOIList": "after category lat latMax latMin limit lng lngMax lngMin radius",
		"getDatedBlogList": "after day limit month userID year",
		"login":            "email password",
		"logout":           "",
	} {
		slices.Sort(described[function])
		if got := strings.Join(described[function], " "); got != want {
			t.Errorf("%s takes %s, want %s", function, got, want)
		}
	}
}

// The words of the enumerations stand in the rules of the legacy contract.
func TestTheValuesOfADescriptionHaveTheWordsOfTheContract(t *testing.T) {
	page, err := os.ReadFile("../../docs/contract.md")
	if err != nil {
		t.Fatal(err)
	}
	contract := strings.Join(strings.Fields(string(page)), " ")
	counts := map[string]int{}
	for _, d := range Describe(newConfig()) {
		for _, p := range d.Parameters {
			if p.Type != Enum {
				continue
			}
			counts[d.Func+" "+p.Name] = len(p.Values)
			for _, value := range p.Values {
				isThere := func(text string) bool { return strings.Contains(contract, text) }
				if value.Label == "" || !isThere(value.Value+" "+value.Label) && !isThere("`"+value.Value+"` "+value.Label) &&
					!isThere(value.Value+" ("+value.Label+")") && value.Label != value.Value {
					t.Errorf("%s: the contract does not say that %s of %s is %q", d.Func, value.Value, p.Name, value.Label)
				}
				if !isThere(value.Label) {
					t.Errorf("%s: the contract does not have %q of %s", d.Func, value.Label, p.Name)
				}
			}
		}
	}
	for parameter, want := range map[string]int{
		"addAlbum category": 16, "getCategoryPOIList category": 5, "postBlog type": 9, "postBlog weather": 7, "postBlog mapType": 3,
	} {
		if counts[parameter] != want {
			t.Errorf("%s has %d values, want %d", parameter, counts[parameter], want)
		}
	}
}

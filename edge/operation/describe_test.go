package operation

import (
	"os"
	"strings"
	"testing"
)

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

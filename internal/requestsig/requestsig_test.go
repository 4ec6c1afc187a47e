package requestsig

import (
	"net/url"
	"slices"
	"strings"
	"testing"
)

// parametersOf decodes parameters from a fuzzed string. Of several parameters with the same
// name it keeps the last, like the edge.
func parametersOf(text string) []Parameter {
	last := map[string]string{}
	for line := range strings.SplitSeq(text, "\x00") {
		name, value, _ := strings.Cut(line, "\x01")
		last[name] = value
	}
	var parameters []Parameter
	for name, value := range last {
		parameters = append(parameters, Parameter{name, value})
	}
	return parameters
}

// independent computes Canonical with net/url, which sorts and escapes in the same way. Only
// its encoding of a space differs.
func independent(method, path string, parameters []Parameter) string {
	values := url.Values{}
	for _, p := range parameters {
		values.Add(p.Name, p.Value)
	}
	return method + "\n" + path + "\n" + strings.ReplaceAll(values.Encode(), "+", "%20")
}

func FuzzRequestsThatDifferAreSignedAsDifferentStrings(f *testing.F) {
	f.Add("func\x01getAlbum\x00albumID\x017", "albumID\x017\x00func\x01getAlbum")
	f.Add("a\x011b=2", "a\x011\x00b\x012")
	f.Add("a\x011&b=2", "a\x011\x00b\x012")
	f.Add("a\x01%26", "a\x01&")
	f.Add("a b\x01+", "a+b\x01 ")
	f.Add("\x01\n/API.php\n", "\x01")
	f.Add("\u00e9\x01~", "e\u0301\x01%7E")
	f.Fuzz(func(t *testing.T, one, other string) {
		a, b := parametersOf(one), parametersOf(other)
		first, second := Canonical("POST", "/API.php", a), Canonical("POST", "/API.php", b)
		if want := independent("POST", "/API.php", a); first != want {
			t.Fatalf("got %q, want %q", first, want)
		}
		if isSame := slices.Equal(sorted(a), sorted(b)); isSame != (first == second) {
			t.Fatalf("%q and %q have the canonical strings %q and %q", a, b, first, second)
		}
		// The string decodes to the parameters of the request.
		query, err := url.ParseQuery(first[strings.LastIndexByte(first, '\n')+1:])
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range a {
			if (p.Name != "" || p.Value != "") && !slices.Equal(query[p.Name], []string{p.Value}) {
				t.Fatalf("%q decodes to %q, want parameter %q", first, query, p)
			}
		}
	})
}

func TestMethodAndPathAreSigned(t *testing.T) {
	for _, other := range []string{Canonical("GET", "/API.php", nil), Canonical("POST", "/api.php", nil)} {
		if other == Canonical("POST", "/API.php", nil) {
			t.Errorf("%q is also the canonical string of another request", other)
		}
	}
}

func TestCanonicalDoesNotReorderItsArgument(t *testing.T) {
	parameters := []Parameter{{"b", "1"}, {"a", "2"}}
	if got := Canonical("GET", "/API.php", parameters); got != "GET\n/API.php\na=2&b=1" || parameters[0].Name != "b" {
		t.Errorf("got %q from %v", got, parameters)
	}
}

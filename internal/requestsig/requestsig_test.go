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

// splits returns the lists of parameters that have a text as their legacy text: all of them, or
// those that a number of steps finds.
func splits(text string, steps int) (all [][]Parameter) {
	var walk func(rest string, before []Parameter)
	walk = func(rest string, before []Parameter) {
		if rest == "" {
			all = append(all, slices.Clone(before))
			return
		}
		for i := 1; i <= len(rest) && steps > 0; i++ {
			steps--
			name, value, ok := strings.Cut(rest[:i], "=")
			if ok && (len(before) == 0 || before[len(before)-1].Name < name) {
				walk(rest[i:], append(before, Parameter{name, value}))
			}
		}
	}
	walk(text, nil)
	return all
}

// valueOf returns the value of a parameter that a request must have.
func valueOf(parameters []Parameter, name string) (string, bool) {
	at := slices.IndexFunc(parameters, func(p Parameter) bool { return p.Name == name })
	if at < 0 {
		return "", false
	}
	return parameters[at].Value, true
}

func FuzzALegacyTextIsThatOfOneOperationOnly(f *testing.F) {
	f.Add("albumID=1delete=truefunc=updateAlbumkey=ats=1")
	f.Add("a=1func=logoutgfunc=getPOIkey=ats=1")
	f.Add("a=1key=bl=1func=getPOIkey=ats=2uts=1")
	f.Fuzz(func(t *testing.T, text string) {
		var first []Parameter
		for _, each := range splits(text, 10_000) {
			if got := LegacyText(each); got != text {
				t.Fatalf("%q has the text %q, want %q", each, got, text)
			}
			function, hasFunction := valueOf(each, "func")
			_, hasKey := valueOf(each, "key")
			_, hasTime := valueOf(each, "ts")
			if !hasFunction || !hasKey || !hasTime || !BindsOperation(each) {
				continue
			}
			if first == nil {
				first = each
			}
			for _, name := range []string{"func", "key", "ts"} {
				one, _ := valueOf(first, name)
				other, _ := valueOf(each, name)
				if !strings.HasPrefix(one, other) && !strings.HasPrefix(other, one) {
					t.Fatalf("%q is the text of %q and of %q", text, first, each)
				}
			}
			if deleted, _ := valueOf(each, "delete"); function != "" && (strings.EqualFold(deleted, "true") || deleted == "1") {
				for _, p := range each[:slices.IndexFunc(each, func(p Parameter) bool { return p.Name == "delete" })] {
					if strings.Trim(p.Value, "0123456789") != "" {
						t.Fatalf("%q may have had delete in the text of %s", each, p.Name)
					}
				}
			}
		}
	})
}

func TestTheLegacyFormBindsTheOperation(t *testing.T) {
	signed := []Parameter{{"key", "a"}, {"ts", "1"}}
	for _, test := range []struct {
		name       string
		parameters []Parameter
		want       bool
	}{
		{"a read", []Parameter{{"func", "getAlbum"}, {"albumID", "12"}}, true},
		{"a write", []Parameter{{"func", "addAlbum"}, {"albumTitle", "a = b"}, {"lat", "25"}}, true},
		{"a deletion", []Parameter{{"func", "updateAlbum"}, {"albumID", "12"}, {"delete", "TRUE"}, {"lat", "25"}}, true},
		{"a deletion of nothing", []Parameter{{"func", "updateAlbum"}, {"delete", "true"}}, true},
		{"an update with the flag of a deletion", []Parameter{{"func", "updateAlbum"}, {"albumID", "12"}, {"albumTitle", "x"}, {"delete", "false"}}, true},
		{"func in a value", []Parameter{{"func", "getAlbum"}, {"a", "1func=logoutg"}}, false},
		{"func in a name", []Parameter{{"func", "logout"}, {"gfunc", "getAlbum"}}, false},
		{"key in a value", []Parameter{{"func", "getAlbum"}, {"note", "/?key=1"}}, false},
		{"ts in a name", []Parameter{{"func", "logout"}, {"uts", "1"}}, false},
		{"a deletion with a title", []Parameter{{"func", "updateAlbum"}, {"albumID", "12"}, {"albumTitle", "x"}, {"delete", "true"}}, false},
		{"a deletion with 1 and a title", []Parameter{{"func", "updateAlbum"}, {"albumID", "12"}, {"albumTitle", "x"}, {"delete", "1"}}, false},
		{"a deletion with 1", []Parameter{{"func", "updateAlbum"}, {"albumID", "12"}, {"delete", "1"}, {"lat", "25"}}, true},
		{"a deletion after a text", []Parameter{{"func", "updateAlbum"}, {"a", "x"}, {"delete", "true"}}, false},
	} {
		if got := BindsOperation(append(test.parameters, signed...)); got != test.want {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}

package form

import (
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybook/waybook/internal/text"
)

func TestAFormIsParsedAsTheContractSays(t *testing.T) {
	for _, c := range []struct {
		name, query, body string
		want              map[string]string
		broken            []string
	}{
		{name: "the body wins over the query", query: "a=1&b=2", body: "a=3", want: map[string]string{"a": "3", "b": "2"}},
		{name: "the last duplicate wins", query: "a=1&a=2", want: map[string]string{"a": "2"}},
		{name: "a semicolon is an ordinary character", query: "a=1;b=2", want: map[string]string{"a": "1;b=2", "b": ""}},
		{name: "a plus is a space and %2B a plus", body: "a=x+y%2B", want: map[string]string{"a": "x y+"}},
		{name: "names are decoded too", body: "%61lbum=1", want: map[string]string{"album": "1"}},
		{name: "text is UTF-8, encoded or not", body: "a=%E6%99%B4&b=晴", want: map[string]string{"a": "晴", "b": "晴"}},
		{name: "line breaks and tabs are text", body: "a=%0D%0A%09", want: map[string]string{"a": "\r\n\t"}},
		{name: "empty pairs are skipped", body: "&&a=&&", want: map[string]string{"a": ""}},
		{name: "a name without a value has an empty one", body: "a", want: map[string]string{"a": ""}},
		{name: "a percent sign alone is broken", body: "title=100%", broken: []string{"title"}},
		{name: "half an escape is broken", body: "title=%4", broken: []string{"title"}},
		{name: "an escape that is not hexadecimal is broken", body: "title=%zz&b=1", broken: []string{"title"}, want: map[string]string{"b": "1"}},
		{name: "invalid UTF-8 is broken", body: "title=%FF", broken: []string{"title"}},
		{name: "an encoded surrogate is broken", body: "title=%ED%A0%80", broken: []string{"title"}},
		{name: "a character that XML cannot carry is broken", body: "a=%00&b=%1B&c=%EF%BF%BE&d=%EF%BF%BD", broken: []string{"a", "b", "c"}, want: map[string]string{"d": "\uFFFD"}},
		{name: "a broken name is shortened and escaped", body: "%FF<晴" + strings.Repeat("x", 100) + "=1", broken: []string{"%FF<???" + strings.Repeat("x", 33)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var f Form
			if !f.ParseQuery(c.query) || !f.ParseBody(c.body) {
				t.Fatal("too many parameters")
			}
			for name, want := range c.want {
				got, present := f.Get(name)
				if name == "b" && want == "" {
					if present {
						t.Errorf("%s is present", name)
					}
					continue
				}
				if got != want || !present {
					t.Errorf("%s = %q, %v; want %q", name, got, present, want)
				}
			}
			if diff := cmp.Diff(c.broken, f.broken); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAFormHasAtMostAHundredParameters(t *testing.T) {
	var f Form
	if !f.ParseBody(strings.Repeat("a=1&", 99)) || !f.ParseBody("b=%FF") {
		t.Error("100 parameters were rejected")
	}
	if f.ParseBody("c=1") {
		t.Error("101 parameters were accepted")
	}
}

// Where the rules of both agree, the parser returns the same as net/url: no semicolons, and only
// valid text.
func FuzzFormAgreesWithURL(f *testing.F) {
	f.Add("func=getAlbum&albumID=1")
	f.Add("a=%E6%99%B4+x%2B&b&=&c=1=2")
	f.Add("a=%zz&b=%f&%ff=1&a=\x00")
	f.Fuzz(func(t *testing.T, encoded string) {
		var ours Form
		if !ours.ParseBody(encoded) {
			return
		}
		for _, field := range ours.parameters {
			if !text.IsValid(field.Name) || !text.IsValid(field.Value) {
				t.Fatalf("accepted %q=%q as text", field.Name, field.Value)
			}
		}
		theirs, err := url.ParseQuery(encoded)
		if strings.Contains(encoded, ";") {
			return
		}
		if err != nil && len(ours.broken) == 0 {
			t.Fatalf("accepted %q, which net/url rejects: %v", encoded, err)
		}
		for name, values := range theirs {
			if !allText(name, values) {
				if len(ours.broken) == 0 {
					t.Fatalf("accepted %q as text", encoded)
				}
				continue
			}
			if got, _ := ours.Get(name); got != values[len(values)-1] {
				t.Fatalf("%q = %q, want %q", name, got, values[len(values)-1])
			}
		}
	})
}

func allText(name string, values []string) bool {
	for _, value := range values {
		if !text.IsValid(value) {
			return false
		}
	}
	return text.IsValid(name)
}

package form

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/waybook/waybook/internal/text"
)

func TestAFormIsParsedAsTheContractSays(t *testing.T) {
	for _, c := range []struct {
		name, query, body string
		want              map[string]string
		// unreadable has the names of the unreadable parameters, a letter each.
		unreadable string
	}{
		{name: "the body wins over the query", query: "a=1&b=2", body: "a=3", want: map[string]string{"a": "3", "b": "2"}},
		{name: "the last duplicate wins", query: "a=1&a=2", want: map[string]string{"a": "2"}},
		{name: "a semicolon is an ordinary character", query: "a=1;b=2", want: map[string]string{"a": "1;b=2"}},
		{name: "a plus is a space and %2B a plus", body: "a=x+y%2B", want: map[string]string{"a": "x y+"}},
		{name: "names are decoded too", body: "%61lbum=1", want: map[string]string{"album": "1"}},
		{name: "text is UTF-8, encoded or not", body: "a=%E6%99%B4&b=晴", want: map[string]string{"a": "晴", "b": "晴"}},
		{name: "line breaks and tabs are text", body: "a=%0D%0A%09", want: map[string]string{"a": "\r\n\t"}},
		{name: "empty pairs are skipped", body: "&&a=&&", want: map[string]string{"a": ""}},
		{name: "a name without a value has an empty one", body: "a", want: map[string]string{"a": ""}},
		{name: "every hexadecimal digit is one", body: "a=%0d%0A%3f%3F%2e%79%41%61%c3%a4", want: map[string]string{"a": "\r\n??.yAaä"}},
		{name: "a percent sign alone is unreadable", body: "a=100%", unreadable: "a"},
		{name: "half an escape is unreadable", body: "a=%4", unreadable: "a"},
		{name: "an escape that is not hexadecimal is unreadable", body: "a=%zz&b=1", unreadable: "a", want: map[string]string{"b": "1"}},
		{name: "invalid UTF-8 is unreadable", body: "a=%FF", unreadable: "a"},
		{name: "an encoded surrogate is unreadable", body: "a=%ED%A0%80", unreadable: "a"},
		{name: "a character that XML cannot carry is unreadable", body: "a=%00&b=%1B&c=%EF%BF%BE&d=%EF%BF%BD", unreadable: "abc", want: map[string]string{"d": "\uFFFD"}},
		{name: "only the value that counts must be readable", query: "a=%FF&b=1", body: "a=%&a=2&b=%FF", unreadable: "b", want: map[string]string{"a": "2"}},
		{name: "a name that is no text is nobody's", body: "%FF=1&a%zz=2&%00=3&a=4", want: map[string]string{"a": "4"}},
		{name: "a line break ends the body", query: "b=1", body: "a=1\r\n", want: map[string]string{"a": "1"}},
		{name: "a bare line feed ends the body", body: "a=1\n", want: map[string]string{"a": "1"}},
		{name: "one line break ends the body", body: "a=1\r\n\r\n", want: map[string]string{"a": "1\r\n"}},
		{name: "a line break that is encoded is text", body: "a=1%0D%0A", want: map[string]string{"a": "1\r\n"}},
		{name: "a body of a line break is empty", query: "a=1", body: "\r\n", want: map[string]string{"a": "1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var f Form
			if !f.ParseQuery(c.query, UTF8) || !f.ParseBody(c.body, UTF8) {
				t.Fatal("too many parameters")
			}
			for name, want := range c.want {
				if got, found := f.Get(name); got != want || found != Readable {
					t.Errorf("%s = %q, %v; want %q", name, got, found, want)
				}
			}
			for _, name := range strings.Split(c.unreadable, "") {
				if got, found := f.Get(name); found != Unreadable {
					t.Errorf("%s = %q, %v", name, got, found)
				}
			}
		})
	}
}

// In Western any byte may be a character, so also a byte that an invalid escape is taken for.
func TestAnEscapeThatIsNotHexadecimalIsUnreadableInAnyCharset(t *testing.T) {
	for _, charset := range []Charset{UTF8, Western, Big5} {
		for _, value := range []string{"%", "%4", "%4g", "%g4", "%4G", "%G4", "%/4", "%4/", "%4:", "%@4", "%4`", "%zz"} {
			var f Form
			isForm := f.ParseBody("a="+value, charset)
			if got, found := f.Get("a"); !isForm || found != Unreadable {
				t.Errorf("%s = %q, %v in charset %v", value, got, found, charset)
			}
		}
	}
}

func TestAFormHasAtMostAHundredParameters(t *testing.T) {
	var f Form
	if !f.ParseBody(strings.Repeat("a=1&", 99), UTF8) || !f.ParseBody("b=%FF", UTF8) {
		t.Error("100 parameters were rejected")
	}
	if f.ParseBody("c=1", UTF8) {
		t.Error("101 parameters were accepted")
	}
}

// Where the rules of both agree, the parser returns the same as net/url: no semicolons, and only
// valid text. A parameter that is not valid text is unreadable.
func FuzzFormAgreesWithURL(f *testing.F) {
	f.Add("func=getAlbum&albumID=1")
	f.Add("a=%E6%99%B4+x%2B&b&=&c=1=2")
	f.Add("a=%zz&b=%f&%ff=1&a=\x00")
	f.Fuzz(func(t *testing.T, encoded string) {
		var ours Form
		if !ours.ParseQuery(encoded, UTF8) {
			return
		}
		for _, each := range ours.parameters {
			got, found := ours.Get(each.Name)
			if found == Absent || !text.IsValid(got) {
				t.Fatalf("read %q=%q, %v", each.Name, got, found)
			}
		}
		theirs, err := url.ParseQuery(encoded)
		if strings.Contains(encoded, ";") || err != nil {
			return
		}
		for name, values := range theirs {
			last := values[len(values)-1]
			got, found := ours.Get(name)
			if isValid := text.IsValid(last); (found == Readable) != isValid || isValid && got != last {
				t.Fatalf("%q = %q, %v; want %q", name, got, found, last)
			}
		}
		if len(theirs) != len(ours.Effective()) {
			t.Fatalf("read %v, want %v", ours.Effective(), theirs)
		}
	})
}

// Effective returns the parameters that count, in the bytes of the client: each name once, with its
// last value. The last parameter comes first.
func (f *Form) Effective() []Pair {
	effective := make([]Pair, 0, len(f.parameters))
	seen := make(map[string]bool, len(f.parameters))
	for i := range slices.Backward(f.parameters) {
		each := f.parameters[i].Pair
		if !seen[each.Name] {
			seen[each.Name] = true
			effective = append(effective, each)
		}
	}
	return effective
}

package form

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/waybook/waybook/internal/text"
)

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

package form

import (
	"math"
	"mime"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/waybook/waybook/edge/reply"
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

// Whatever mime accepts is read as mime reads it. A test of package edge judges what mime refuses.
func FuzzAContentTypeAgreesWithMime(f *testing.F) {
	f.Add(`multipart/form-data; boundary="a;b, c"`)
	f.Add(`Application/X-WWW-Form-URLEncoded ;charset=BIG5; Version=1;`)
	f.Add(`text/plain; charset=latin1;charset=latin1; boundary=a; x="y=z"`)
	f.Fuzz(func(t *testing.T, s string) {
		media, parameters, err := mime.ParseMediaType(s)
		isOther := func(r rune) bool { return r < ' ' || r > '~' || r == '*' || r == '\\' } // which mime reads in its own way
		if err != nil || strings.ContainsFunc(s, isOther) {
			return
		}
		charset, known := UTF8, true
		if name := parameters["charset"]; name != "" {
			charset, known = CharsetNamed(name)
		}
		got, ok := ParseContentType(s, UTF8)
		if ok != known || ok && got != (ContentType{media, charset, parameters["boundary"]}) {
			t.Errorf("%q: got %+v, %v, want %q %v", s, got, ok, media, parameters)
		}
	})
}

func FuzzNumbersFollowTheGrammarAndReadBackTheSame(f *testing.F) {
	for _, s := range []string{"25.0339639", "-0.000001", "1e5", "-5.0E-324", ".5", "0x1p4", "00", "9007199254740993", "179.99999999999999"} {
		f.Add(s)
	}
	decimal := regexp.MustCompile(`\A-?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?\z`)
	integer := regexp.MustCompile(`\A[0-9]+\z`)
	f.Fuzz(func(t *testing.T, s string) {
		value, ok := ParseDecimal(s)
		isFinite := func(f float64, err error) bool { return err == nil && !math.IsInf(f, 0) }
		if want := decimal.MatchString(s) && len(s) <= maxDecimalLength && isFinite(strconv.ParseFloat(s, 64)); ok != want {
			t.Fatalf("%q: %v, want %v", s, ok, want)
		}
		if ok {
			again, ok := ParseDecimal(written(value))
			if !ok || again != value {
				t.Fatalf("%q was written as %q", s, written(value))
			}
		}
		if _, ok := ParseInteger(s); ok && !integer.MatchString(s) {
			t.Fatalf("%q was read as an integer", s)
		}
	})
}

// written returns a value as a reply writes it.
func written(value float64) string {
	var d reply.Document
	reply.XML{Document: &d}.Decimal("n", value)
	return strings.TrimSuffix(strings.TrimPrefix(string(d.Bytes), "<n>"), "</n>")
}

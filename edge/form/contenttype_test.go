package form

import (
	"mime"
	"strings"
	"testing"
)

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

package form

import (
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/traditionalchinese"

	"github.com/waybook/waybook/internal/text"
)

func TestAValueIsDecodedExactlyOrIsUnreadable(t *testing.T) {
	for _, c := range []struct {
		charset        Charset
		encoded, value string
		found          Found
	}{
		{Western, "%61bc+1", "abc 1", Readable},
		{Western, "%E6%99%B4", "晴", Readable},
		{Western, "é", "é", Readable},
		{Western, "caf%E9+%80", "café €", Readable},
		{Western, "\xe9\xc3\xa9", "éÃ©", Readable},
		{Western, "%07", "", Unreadable},
		{Western, "%E9%07", "", Unreadable},
		{Big5, "%A5x%A5_+101", "台北 101", Readable},
		{Big5, "\xa5x\xa5_", "台北", Readable},
		{Big5, "%A6%B3%B1m%AEi", "有彩展", Readable},
		{Big5, "%B4%BA%A4%D1", "景天", Readable},
		{Big5, "plain%0D%0A", "plain\r\n", Readable},
		{Big5, "\u6674", "", Unreadable},       // UTF-8
		{Big5, "%A5", "", Unreadable},          // half a character
		{Big5, "%A5%20", "", Unreadable},       // half a character and a blank
		{Big5, "%80", "", Unreadable},          // not of Big5
		{Big5, "%FF%40", "", Unreadable},       // not of Big5
		{Big5, "%A1%FF", "", Unreadable},       // not of Big5
		{Big5, "%FA%40%81%40", "", Unreadable}, // a character of a user
		{Big5, "%A2%CC", "", Unreadable},       // 十, which Big5 writes as %A4%51
		{Big5, "%A4%51", "十", Readable},        //
		{Big5, "%88%62", "", Unreadable},       // Ê̄, which Big5 cannot write
		{Big5, "%00%A5x", "", Unreadable},      // a character that XML cannot carry
		{Big5, "%A5x%zz", "", Unreadable},      // an invalid percent-encoding
		{Big5, strings.Repeat("%A5x", 1000), strings.Repeat("台", 1000), Readable},
		{unknownCharset, "a", "", Unreadable},
	} {
		var f Form
		f.ParseBody("a="+c.encoded, c.charset)
		if value, found := f.Get("a"); value != c.value || found != c.found {
			t.Errorf("%v, %q: got %q, %v", c.charset, c.encoded, value, found)
		}
	}
}

func TestASignatureCoversTheBytesOfTheClient(t *testing.T) {
	var f Form
	f.ParseQuery("a=%A5x", Big5)
	f.ParseBody("b=100%&%FF=%4&a=%A5_", Big5)
	got := f.Effective()
	want := []Pair{{"a", "\xa5_"}, {"\xff", "%4"}, {"b", "100%"}}
	if len(got) != len(want) || got[0] != want[0] || got[1] != want[1] || got[2] != want[2] {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestTheCharsetFlagAcceptsCharsetsOfText(t *testing.T) {
	for value, want := range map[string]Charset{"": UTF8, "utf-8": UTF8, "us-ascii": UTF8, "UTF8": UTF8, "big5": Big5, "Big5": Big5, "big5-hkscs": Big5} {
		var got Charset
		if err := got.Set(value); err != nil || got != want {
			t.Errorf("%q: %v, %v", value, got, err)
		}
		var again Charset
		if err := again.Set(got.String()); err != nil || again != want {
			t.Errorf("%q reads back as %v, %v", value, again, err)
		}
	}
	for _, value := range []string{"iso-8859-1", "gb2312", "utf-16", "big 5"} {
		if err := new(Charset).Set(value); err == nil {
			t.Errorf("%q was accepted", value)
		}
	}
}

// Whatever the bytes and the charset, a readable value is valid text that stands for these bytes and
// no others.
func FuzzACharsetIsDecodedExactly(f *testing.F) {
	for _, name := range []string{"big5", "utf-8", "ISO-8859-1", "shift_jis"} {
		f.Add(name, "\xa5x\xa5_ 101")
		f.Add(name, "\u6674\xff")
		f.Add(name, "\x88\x62\xa2\xcc")
	}
	f.Fuzz(func(t *testing.T, name, value string) {
		charset, known := CharsetNamed(name)
		var form Form
		if !form.ParseQuery("a="+url.QueryEscape(value), charset) {
			t.Fatal("one parameter is too many")
		}
		got, found := form.Get("a")
		if found == Absent || !known && found == Readable {
			t.Fatalf("%q: found %v", name, found)
		}
		if sent := form.Effective()[0].Value; sent != value {
			t.Fatalf("%q was sent as %q", value, sent)
		}
		if found == Unreadable {
			if charset != Big5 && known && text.IsValid(value) {
				t.Fatalf("%q is unreadable in %q", value, name)
			}
			return
		}
		if !text.IsValid(got) {
			t.Fatalf("%q was read as %q", value, got)
		}
		back := got
		var err error
		switch {
		case charset == Big5:
			back, err = traditionalchinese.Big5.NewEncoder().String(got)
		case charset == Western && !utf8.ValidString(value):
			back, err = charmap.Windows1252.NewEncoder().String(got)
		}
		if err != nil {
			t.Fatal(err)
		}
		if back != value {
			t.Fatalf("%q was read as %q, which is %q", value, got, back)
		}
	})
}

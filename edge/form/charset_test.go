package form

import (
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"

	"github.com/waybook/waybook/internal/text"
)

// charactersOfBig5 returns the characters of Big5 by the codes that clients write for them. testdata/big5.txt has a line for each first
// byte from 81, with a character for each second byte, as index-big5.txt of https://encoding.spec.whatwg.org has it. It has a
// U+FFFD for each code that none of these writes: that standard, cp950, big5 and big5hkscs of Python 3.11, BIG5 and BIG5-HKSCS of
// glibc 2.36, and x-windows-950 (MS950), Big5 and Big5-HKSCS of Java 17.
func charactersOfBig5(tb testing.TB) map[[2]byte]string {
	table, err := os.ReadFile("testdata/big5.txt")
	if err != nil {
		tb.Fatal(err)
	}
	// The four codes of two characters end in combining marks.
	cell := regexp.MustCompile(`.[\x{304}\x{30c}]?`)
	characters := make(map[[2]byte]string, 20_000)
	for i, line := range strings.Split(strings.TrimSpace(string(table)), "\n") {
		for j, character := range cell.FindAllString(line, -1) {
			second := j + 0x40
			if second > 0x7e {
				second += 0xa1 - 0x7f
			}
			if character != "\ufffd" {
				characters[[2]byte{byte(i + 0x81), byte(second)}] = character
			}
		}
	}
	return characters
}

func TestBig5IsReadAsBrowsersReadItIfAClientWritesIt(t *testing.T) {
	characters := charactersOfBig5(t)
	if len(characters) < 18_000 {
		t.Fatalf("the table has only %d characters", len(characters))
	}
	for first := range 0x80 {
		for second := range 0x100 {
			code := [2]byte{byte(first + 0x80), byte(second)}
			want, isWritten := characters[code]
			if value, valid := Big5.decode(string(code[:])); value != want && valid || valid != isWritten {
				t.Errorf("%x: got %q, %v, want %q, %v", code, value, valid, want, isWritten)
			}
		}
	}
}

func TestTheCharsetFlagAcceptsCharsetsOfText(t *testing.T) {
	for value, want := range map[string]Charset{"": UTF8, "utf-8": UTF8, "us-ascii": UTF8, "UTF8": UTF8, "big5": Big5, "Big5": Big5, "big5-hkscs": Big5, "MS950": Big5} {
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

// The names are those of browsers, and those that Java, .NET, Python, PHP and glibc print for the same charsets.
func TestACharsetHasTheNamesThatClientsSend(t *testing.T) {
	for charset, names := range map[Charset]string{
		UTF8:    "UTF-8 utf8 utf_8 unicode-1-1-utf-8 US-ASCII ASCII ANSI_X3.4-1968",
		Western: "ISO-8859-1 iso8859-1 ISO8859_1 ISO_8859-1:1987 iso88591 iso-ir-100 csISOLatin1 l1 latin1 latin-1 cp819 IBM819 Windows-1252 cp1252 Cp1252 x-cp1252",
		Big5:    "Big5 BIG-5 Big5-HKSCS Big5_HKSCS BIG5HKSCS big5hk cn-big5 csBig5 x-x-big5 MS950 cp950 CP-950 x-windows-950 windows-950 x-MS950-HKSCS MS950_HKSCS big5-eten",
	} {
		for name := range strings.SplitSeq(names, " ") {
			if got, known := CharsetNamed(name); got != charset || !known {
				t.Errorf("%s: got %v, %v, want %v", name, got, known, charset)
			}
		}
	}
	for _, name := range []string{"", "-", "gbk", "utf-16", "utf-8 ", "iso-8859-15", "windows-1251", "cp936", "big5-uao"} {
		if got, known := CharsetNamed(name); known {
			t.Errorf("%q is %v", name, got)
		}
	}
}

// Whatever the bytes and the charset, a readable value is valid text that stands for these bytes and
// no others.
func FuzzACharsetIsDecodedExactly(f *testing.F) {
	for _, name := range []string{"big5", "utf-8", "ISO-8859-1", "shift_jis"} {
		f.Add(name, "\xa5x\xa5_ 101")
		f.Add(name, "\u6674\xff")
		f.Add(name, "\x88\x62\xb4\xb8")
	}
	characters := charactersOfBig5(f)
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
		if charset == Big5 {
			want, isWritten := readBig5(characters, value)
			if isWritten = isWritten && text.IsValid(want); got != want && isWritten || (found == Readable) != isWritten {
				t.Fatalf("%q was read as %q, %v, want %q, %v", value, got, found, want, isWritten)
			}
			return
		}
		if found == Unreadable {
			if known && text.IsValid(value) {
				t.Fatalf("%q is unreadable in %q", value, name)
			}
			return
		}
		if !text.IsValid(got) {
			t.Fatalf("%q was read as %q", value, got)
		}
		back := got
		if charset == Western && !utf8.ValidString(value) {
			var err error
			if back, err = charmap.Windows1252.NewEncoder().String(got); err != nil {
				t.Fatal(err)
			}
		}
		if back != value {
			t.Fatalf("%q was read as %q, which is %q", value, got, back)
		}
	})
}

// readBig5 returns the text of s by the table, and reports whether s is ASCII and codes of the table.
func readBig5(characters map[[2]byte]string, s string) (read string, isWritten bool) {
	for len(s) > 0 {
		if s[0] < utf8.RuneSelf {
			read, s = read+s[:1], s[1:]
			continue
		}
		if len(s) == 1 || characters[[2]byte{s[0], s[1]}] == "" {
			return "", false
		}
		read, s = read+characters[[2]byte{s[0], s[1]}], s[2:]
	}
	return read, true
}

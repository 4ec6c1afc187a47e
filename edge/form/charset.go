package form

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/traditionalchinese"

	"github.com/waybook/waybook/internal/text"
)

// Charset says which text the bytes of a parameter are. As a flag it is `big5`, or empty for UTF-8.
type Charset int

const (
	UTF8 Charset = iota
	// Western is UTF-8, and what is not is Windows-1252 as browsers have it, with all of ISO-8859-1.
	// Clients declare it by default, whatever they send.
	Western
	// Big5 is Big5 as browsers have it, with the characters of Hong Kong.
	Big5
	// unknownCharset accepts no bytes.
	unknownCharset
)

// CharsetNamed returns the charset of a name in a Content-Type, and reports whether Waybook has it.
func CharsetNamed(name string) (charset Charset, known bool) {
	switch strings.ToLower(name) {
	case "utf-8", "utf8", "us-ascii", "ascii", "ansi_x3.4-1968":
		return UTF8, true
	case "iso-8859-1", "iso8859-1", "iso_8859-1", "iso8859_1", "latin1", "windows-1252", "cp1252":
		return Western, true
	case "big5", "big5-hkscs", "cn-big5", "csbig5", "x-x-big5":
		return Big5, true
	}
	return unknownCharset, false
}

// decode returns the text of s, and reports whether s is valid text: characters of the charset that
// XML 1.0 can carry. Only bytes that Big5 would write for the same text are valid, so no two values
// in Big5 have one text.
func (c Charset) decode(s string) (decoded string, valid bool) {
	switch c {
	case UTF8:
		return s, text.IsValid(s)
	case Western:
		if utf8.ValidString(s) {
			return s, text.IsValid(s)
		}
		decoded, err := charmap.Windows1252.NewDecoder().String(s)
		return decoded, err == nil && text.IsValid(decoded)
	case Big5:
		if isASCII(s) {
			return s, text.IsValid(s)
		}
		decoded, err := traditionalchinese.Big5.NewDecoder().String(s)
		if err != nil {
			return "", false
		}
		again, err := traditionalchinese.Big5.NewEncoder().String(decoded)
		return decoded, err == nil && again == s && text.IsValid(decoded)
	}
	return "", false
}

func isASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// String returns the flag's value.
func (c Charset) String() string {
	if c == Big5 {
		return "big5"
	}
	return ""
}

// Set parses the flag's value.
func (c *Charset) Set(value string) error {
	switch charset, known := CharsetNamed(value); {
	case value == "":
		*c = UTF8
	case known && charset != Western:
		*c = charset
	default:
		return fmt.Errorf("%q is neither big5 nor utf-8", value)
	}
	return nil
}

package form

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/traditionalchinese"

	"github.com/waybook/waybook/internal/text"
)

// Charset says which text the bytes of a parameter are. As a flag it is `big5`, or empty for UTF-8.
type Charset int

const (
	UTF8 Charset = iota
	// ASCII accepts no other bytes. It also stands for the charsets of Western Europe: clients
	// declare them by default, whatever they send.
	ASCII
	// Big5 is Big5 as browsers have it, with the characters of Hong Kong.
	Big5
	// unknownCharset accepts no bytes.
	unknownCharset
)

// CharsetNamed returns the charset of a name in a Content-Type, and reports whether Waybook has it.
func CharsetNamed(name string) (charset Charset, known bool) {
	switch strings.ToLower(name) {
	case "utf-8", "utf8":
		return UTF8, true
	case "us-ascii", "ascii", "ansi_x3.4-1968", "iso-8859-1", "iso8859-1", "iso_8859-1", "iso8859_1", "latin1", "windows-1252", "cp1252":
		return ASCII, true
	case "big5", "big5-hkscs", "cn-big5", "csbig5", "x-x-big5":
		return Big5, true
	}
	return unknownCharset, false
}

// decode returns the text of s, and reports whether s is valid text: characters of the charset that
// XML 1.0 can carry. Only bytes that Big5 would write for the same text are valid, so no two values
// have one text.
func (c Charset) decode(s string) (decoded string, valid bool) {
	switch c {
	case UTF8:
		return s, text.IsValid(s)
	case ASCII:
		return s, isASCII(s) && text.IsValid(s)
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
	case known && charset != ASCII:
		*c = charset
	default:
		return fmt.Errorf("%q is neither big5 nor utf-8", value)
	}
	return nil
}

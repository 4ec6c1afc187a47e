package form

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/traditionalchinese"

	"github.com/waybook/waybook/internal/text"
)

// Charset says which text the bytes of a parameter are. As a flag it is `big5`, or empty for
// UTF-8.
type Charset int

const (
	UTF8 Charset = iota
	// Western is UTF-8, and what is not is Windows-1252 as browsers have it, with all of
	// ISO-8859-1. Clients declare it by default, whatever they send.
	Western
	// Big5 is Big5 as browsers have it, with the characters of Hong Kong.
	Big5
	// unknownCharset accepts no bytes.
	unknownCharset
)

// ignoredInNames has the characters in which libraries write the name of a charset differently.
var ignoredInNames = strings.NewReplacer("-", "", "_", "")

// CharsetNamed returns the charset of a name in a Content-Type, and reports whether Waybook has
// it.
func CharsetNamed(name string) (charset Charset, known bool) {
	switch ignoredInNames.Replace(strings.ToLower(name)) {
	case "utf8", "unicode11utf8", "usascii", "ascii", "ansix3.41968":
		return UTF8, true
	case "iso88591", "iso88591:1987", "isoir100", "csisolatin1", "latin1", "l1", "cp819", "ibm819", "windows1252",
		"cp1252", "xcp1252":
		return Western, true
	case "big5", "big5hkscs", "big5hk", "big5eten", "cnbig5", "csbig5", "xxbig5",
		"ms950", "cp950", "windows950", "xwindows950", "ms950hkscs", "xms950hkscs":
		return Big5, true
	}
	return unknownCharset, false
}

// decode returns the text of s, and reports whether s is valid text: characters of the charset
// that XML 1.0 can carry.
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
		return decoded, err == nil && !strings.ContainsRune(decoded, utf8.RuneError) && isWritten(s) &&
			text.IsValid(decoded)
	}
	return "", false
}

// isWritten reports whether clients write the codes of s, which is Big5.
func isWritten(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < utf8.RuneSelf {
			continue
		}
		// The second codes of characters that all clients write with the other one.
		switch uint16(s[i])<<8 | uint16(s[i+1]) {
		case 0x8e69, 0x8e6f, 0x8e7e, 0x8eab, 0x8eb4, 0x8ecd, 0x8ed0, 0x8f57, 0x8f69, 0x8f6e, 0x8fcb, 0x8fcc, 0x8ffe, 0x906d,
			0x907a, 0x90dc, 0x90f1, 0x91bf, 0x9244, 0x92af, 0x92b0, 0x92b1, 0x92b2, 0x92c8, 0x92d1, 0x9447, 0x94ca, 0x95d9,
			0x9644, 0x96ed, 0x96fc, 0x9b76, 0x9b78, 0x9b7b, 0x9bc6, 0x9bde, 0x9bec, 0x9bf6, 0x9c42, 0x9c53, 0x9c62, 0x9c68,
			0x9c6b, 0x9c77, 0x9cbc, 0x9cbd, 0x9cd0, 0x9d57, 0x9d5a, 0x9dc4, 0x9ea9, 0x9eef, 0x9efd, 0x9f60, 0x9f66, 0x9fcb,
			0x9fd8, 0xa063, 0xa077, 0xa0d5, 0xa0df, 0xa0e4, 0xa2cc, 0xa2ce, 0xc6de, 0xfa5f, 0xfa66, 0xfabd, 0xfac5, 0xfad5,
			0xfbb8, 0xfbf3, 0xfc4f, 0xfcb9, 0xfce2, 0xfcf1, 0xfdb7, 0xfdb8, 0xfdbb, 0xfdf1, 0xfe6f, 0xfeaa, 0xfedd:
			return false
		}
		i++
	}
	return true
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

package form

import (
	"strings"
	"unicode/utf8"

	"github.com/waybook/waybook/internal/text"
)

// decodeText decodes one name or value. It reports whether the result is text: valid UTF-8 with
// only characters that XML 1.0 can carry.
func decodeText(s string) (string, bool) {
	plain := true
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < 0x20 || c >= utf8.RuneSelf || c == '%' || c == '+' {
			plain = false
			break
		}
	}
	if plain {
		return s, true
	}
	if strings.ContainsAny(s, "%+") {
		unescaped, ok := unescape(s)
		if !ok {
			return "", false
		}
		s = unescaped
	}
	return s, text.IsValid(s)
}

func unescape(s string) (string, bool) {
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '+':
			out = append(out, ' ')
		case '%':
			if i+2 >= len(s) {
				return "", false
			}
			high, low := hexDigit(s[i+1]), hexDigit(s[i+2])
			if high < 0 || low < 0 {
				return "", false
			}
			out = append(out, byte(high<<4|low))
			i += 2
		default:
			out = append(out, s[i])
		}
	}
	return string(out), true
}

func hexDigit(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

package edge

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// maxParameters is far above what any operation takes (13) and keeps looking a
// parameter up by scanning cheap.
const maxParameters = 100

// form holds the parameters of one request, those of the query before those of
// the body. The zero form is empty and ready.
type form struct {
	fields []field
	// queryFields is how many of the fields came in the query.
	queryFields int
	// broken names the parameters whose name or value cannot be text.
	broken []string
}

type field struct{ name, value string }

// parse adds the parameters of one application/x-www-form-urlencoded string.
// It reports whether they were within maxParameters, and stops where they are
// not. Unlike net/url it takes `;` for an ordinary character, and refuses what
// XML 1.0 could not give back.
func (f *form) parse(encoded string) (within bool) {
	for encoded != "" {
		var pair string
		pair, encoded, _ = strings.Cut(encoded, "&")
		if pair == "" {
			continue
		}
		if len(f.fields)+len(f.broken) == maxParameters {
			return false
		}
		rawName, rawValue, _ := strings.Cut(pair, "=")
		name, nameOK := decodeText(rawName)
		value, valueOK := decodeText(rawValue)
		switch {
		case !nameOK:
			f.broken = append(f.broken, showName(rawName))
		case !valueOK:
			f.broken = append(f.broken, showName(name))
		default:
			f.fields = append(f.fields, field{name, value})
		}
	}
	return true
}

// get returns the last value of a parameter: the body's before the query's.
func (f *form) get(name string) (value string, present bool) {
	for i := len(f.fields) - 1; i >= 0; i-- {
		if f.fields[i].name == name {
			return f.fields[i].value, true
		}
	}
	return "", false
}

// count is how often a parameter came.
func (f *form) count(name string) (n int) {
	for i := range f.fields {
		if f.fields[i].name == name {
			n++
		}
	}
	return n
}

// inQuery reports whether the query had a parameter.
func (f *form) inQuery(name string) bool {
	return slices.ContainsFunc(f.fields[:f.queryFields], func(each field) bool { return each.name == name })
}

// reset empties the form and lets go of what it held.
func (f *form) reset() {
	clear(f.fields)
	f.fields, f.queryFields, f.broken = f.fields[:0], 0, nil
}

// decodeText undoes the encoding of one name or value and reports whether the
// outcome is text: valid UTF-8 of characters that XML 1.0 can carry.
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
	return s, isText(s)
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

// isText reports whether XML 1.0 can carry every character of s.
func isText(s string) bool {
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if !inXML(r, size) {
			return false
		}
		i += size
	}
	return true
}

// inXML reports whether XML 1.0 (2.2, Char) can carry a rune as utf8 decoded
// it: invalid UTF-8 is RuneError of size 1. Surrogates never come out valid.
func inXML(r rune, size int) bool {
	switch {
	case r < 0x20:
		return r == '\t' || r == '\n' || r == '\r'
	case r == utf8.RuneError:
		return size > 1
	}
	return r != 0xFFFE && r != 0xFFFF
}

// showName makes a name, whatever it holds, fit to be shown in a reply: at most
// 40 characters, `?` for what is not plain ASCII.
func showName(name string) string {
	const longest = 40
	shown := []byte(name[:min(len(name), longest)])
	for i, c := range shown {
		if c <= ' ' || c > '~' {
			shown[i] = '?'
		}
	}
	return string(shown)
}

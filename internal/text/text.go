// Package text defines the texts that Waybook takes: those that XML 1.0 can carry. Forms and
// requests over gRPC follow the same rule, and a reply replaces every other character.
package text

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// IsChar reports whether XML 1.0 (2.2, Char) can carry a rune. r and size come from package
// utf8, which decodes invalid UTF-8 and surrogates as RuneError of size 1.
func IsChar(r rune, size int) bool {
	switch {
	case r < 0x20:
		return r == '\t' || r == '\n' || r == '\r'
	case r == utf8.RuneError:
		return size > 1
	}
	return r != 0xFFFE && r != 0xFFFF
}

// IsValid reports whether s is valid UTF-8 and XML 1.0 can carry each of its characters.
func IsValid(s string) bool {
	for i := 0; i < len(s); {
		if c := s[i]; ' ' <= c && c < utf8.RuneSelf {
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if !IsChar(r, size) {
			return false
		}
		i += size
	}
	return true
}

// IsHalved reports whether a JSON string that encoding/json decodes to s has half of a surrogate
// pair as an escape, such as \ud800, for which s has U+FFFD.
func IsHalved(json []byte, s string) bool {
	const replaced = "\ufffd"
	count := strings.Count(s, replaced)
	if count == 0 {
		return false
	}
	escapes := bytes.ToLower(bytes.ReplaceAll(json, []byte(`\\`), nil))
	return count > bytes.Count(json, []byte(replaced))+bytes.Count(escapes, []byte(`\ufffd`))
}

// Beginning returns a text, or at most the first most bytes of it, at the end of a character, and
// an ellipsis.
func Beginning(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most] + "…"
}

// isVisible reports whether a character shows something: it is no space, no control character, and
// by Unicode's DerivedCoreProperties not Default_Ignorable_Code_Point. Other characters are blank
// by their drawing: the Braille pattern without dots, the null notehead, and the filler of Khitan.
func isVisible(r rune) bool {
	switch r {
	case 0x2800, 0x1D159, 0x16FE4:
		return false
	}
	return !unicode.IsSpace(r) && !unicode.In(r, unicode.Z, unicode.C, unicode.Other_Default_Ignorable_Code_Point,
		unicode.Variation_Selector)
}

// IsBlank reports whether s has nothing to see: only spaces, control characters and invisible
// characters such as U+200B or U+3164. An empty string is blank.
func IsBlank(s string) bool { return !strings.ContainsFunc(s, isVisible) }

// IsDisguised reports whether a name can look like another one by what shows nothing: a blank at
// an end or beside another, an invisible character, or one that changes the direction of text. The
// joiners of emoji and of scripts that need them are no disguise.
func IsDisguised(name string) bool {
	before := ' '
	for _, r := range name {
		switch {
		case isVisible(r):
		case (r == ' ' || r == '\u3000') && isVisible(before):
		case (r == '\u200c' || r == '\u200d' || unicode.Is(unicode.Variation_Selector, r)) && maySelect(before):
		default:
			return true
		}
		before = r
	}
	return !isVisible(before) && !unicode.Is(unicode.Variation_Selector, before)
}

// maySelect reports whether a joiner or a variation selector after a character may show something.
func maySelect(r rune) bool {
	if unicode.IsLetter(r) {
		return !unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Han, unicode.Hiragana,
			unicode.Katakana, unicode.Hangul, unicode.Bopomofo)
	}
	return unicode.In(r, unicode.S, unicode.M)
}

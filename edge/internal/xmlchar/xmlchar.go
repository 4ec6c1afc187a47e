// Package xmlchar defines the characters that XML 1.0 can carry. The form rejects all others,
// and a reply replaces them.
package xmlchar

import "unicode/utf8"

// Is reports whether XML 1.0 (2.2, Char) can carry a rune. r and size come from package utf8,
// which decodes invalid UTF-8 and surrogates as RuneError of size 1.
func Is(r rune, size int) bool {
	switch {
	case r < 0x20:
		return r == '\t' || r == '\n' || r == '\r'
	case r == utf8.RuneError:
		return size > 1
	}
	return r != 0xFFFE && r != 0xFFFF
}

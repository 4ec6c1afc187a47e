// Package xmlchar names the characters that XML 1.0 can carry. The form refuses others,
// and a reply replaces them.
package xmlchar

import "unicode/utf8"

// Is reports whether XML 1.0 (2.2, Char) can carry a rune as package utf8 decoded it:
// invalid UTF-8 is RuneError of size 1. Surrogates never decode as valid.
func Is(r rune, size int) bool {
	switch {
	case r < 0x20:
		return r == '\t' || r == '\n' || r == '\r'
	case r == utf8.RuneError:
		return size > 1
	}
	return r != 0xFFFE && r != 0xFFFF
}

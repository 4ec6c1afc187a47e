package form

// unescape decodes `+` and percent-encodings. An invalid encoding stands for itself; valid reports
// whether there is none.
func unescape(s string) (decoded string, valid bool) {
	for i := 0; i < len(s); i++ {
		if s[i] == '%' || s[i] == '+' {
			return unescapeFrom(s, i)
		}
	}
	return s, true
}

// unescapeFrom is unescape for a string whose first escape is at start.
func unescapeFrom(s string, start int) (decoded string, valid bool) {
	valid = true
	out := append(make([]byte, 0, len(s)), s[:start]...)
	for i := start; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '+':
			c = ' '
		case c == '%' && i+2 < len(s) && hexDigit(s[i+1]) >= 0 && hexDigit(s[i+2]) >= 0:
			c = byte(hexDigit(s[i+1])<<4 | hexDigit(s[i+2]))
			i += 2
		case c == '%':
			valid = false
		}
		out = append(out, c)
	}
	return string(out), valid
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

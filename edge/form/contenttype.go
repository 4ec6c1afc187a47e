package form

import "strings"

// ContentType is what a Content-Type says about a form or a part.
type ContentType struct {
	// Media is the type in lower case, such as text/plain.
	Media    string
	Charset  Charset
	Boundary string
}

// ParseContentType parses a Content-Type as clients write it (rule 1.32), which is more than mime
// accepts. charset counts if it names none. ok is false if it has no type, a charset that Waybook
// does not have, or two values that differ.
func ParseContentType(s string, charset Charset) (parsed ContentType, ok bool) {
	media, rest := cutAt(strings.TrimLeft(s, " \t"), ";, \t")
	parsed = ContentType{Media: strings.ToLower(media), Charset: charset}
	hasCharset := false
	for {
		rest = strings.TrimLeft(rest, ";, \t")
		if rest == "" {
			return parsed, media != ""
		}
		var name, value string
		name, rest = cutAt(rest, "=;,")
		name = strings.ToLower(name)
		if strings.HasPrefix(rest, "=") {
			if value, rest, ok = cutValue(strings.TrimLeft(rest[1:], " \t")); !ok {
				return parsed, false
			}
		} else if name != parsed.Media {
			name, value = "charset", name // some clients forget the name
		}
		switch {
		case value == "":
		case name == "charset":
			named, known := CharsetNamed(value)
			if !known || hasCharset && named != parsed.Charset {
				return parsed, false
			}
			parsed.Charset, hasCharset = named, true
		case name == "boundary":
			if parsed.Boundary != "" && parsed.Boundary != value {
				return parsed, false
			}
			parsed.Boundary = value
		}
	}
}

// cutAt returns s before the first of some bytes, without blanks at its end, and from there on.
func cutAt(s, stops string) (before, rest string) {
	end := strings.IndexAny(s, stops)
	if end < 0 {
		end = len(s)
	}
	return strings.TrimRight(s[:end], " \t"), s[end:]
}

// cutValue returns the value with which s begins, quoted or not. It reports whether a quoted one
// ends.
func cutValue(s string) (value, rest string, ok bool) {
	if !strings.HasPrefix(s, `"`) {
		value, rest = cutAt(s, ";,")
		return value, rest, true
	}
	var unquoted strings.Builder
	for i := 1; i < len(s); i++ {
		if s[i] == '"' {
			return unquoted.String(), s[i+1:], true
		}
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		unquoted.WriteByte(s[i])
	}
	return "", "", false
}

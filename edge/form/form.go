// Package form turns the bytes of a request's parameters into values. It depends on neither HTTP
// nor the operations.
package form

import (
	"slices"
	"strings"
)

// MaxParameters is the most parameters that a request may have. It is far above the 13 of the
// largest operation, and low enough to find a parameter by a scan.
const MaxParameters = 100

// Form holds the parameters of one request: those of the query, then those of the body. It decodes
// the text of a parameter only when an operation asks for it, so unread parameters may hold
// any bytes (rule 1.18). The zero Form is empty and ready. It is not safe for concurrent use.
type Form struct {
	parameters []parameter
	// queried is the number of parameters from the query.
	queried int
}

// parameter is one parameter as the client sent it.
type parameter struct {
	Pair
	charset Charset
	// isMalformed says that the value has an invalid percent-encoding.
	isMalformed bool
}

// Pair is the name and the value of a parameter, percent-decoded, in the charset of the client. An
// invalid percent-encoding stands for itself.
type Pair struct{ Name, Value string }

// Found says what a Form has of a parameter.
type Found int

const (
	Absent     Found = iota
	Readable         // a text
	Unreadable       // a value that is not valid text
)

// ParseQuery adds the parameters of a query. Call it before the body is read. It
// reports whether there are at most MaxParameters.
func (f *Form) ParseQuery(encoded string, charset Charset) (within bool) {
	within = f.parse(encoded, charset)
	f.queried = len(f.parameters)
	return within
}

// ParseBody adds the parameters of an application/x-www-form-urlencoded body, without a line break
// at its end, which some clients add. It reports whether there are at most MaxParameters.
func (f *Form) ParseBody(encoded string, charset Charset) (within bool) {
	if line, ended := strings.CutSuffix(encoded, "\n"); ended {
		encoded = strings.TrimSuffix(line, "\r")
	}
	return f.parse(encoded, charset)
}

// parse stops at MaxParameters and reports whether all fit. Unlike net/url, it reads `;` as an
// ordinary character.
func (f *Form) parse(encoded string, charset Charset) (within bool) {
	for encoded != "" {
		var pair string
		pair, encoded, _ = strings.Cut(encoded, "&")
		if pair == "" {
			continue
		}
		if len(f.parameters) == MaxParameters {
			return false
		}
		name, value, _ := strings.Cut(pair, "=")
		name, _ = unescape(name) // no name that an operation asks for has an invalid encoding
		value, valid := unescape(value)
		f.parameters = append(f.parameters, parameter{Pair{name, value}, charset, !valid})
	}
	return true
}

// Get returns the text of the last parameter of a name, which is ASCII. The body wins over the
// query.
func (f *Form) Get(name string) (value string, found Found) {
	for i := len(f.parameters) - 1; i >= 0; i-- {
		if p := &f.parameters[i]; p.Name == name {
			value, valid := p.charset.decode(p.Value)
			if p.isMalformed || !valid {
				return "", Unreadable
			}
			return value, Readable
		}
	}
	return "", Absent
}

// InQuery reports whether a parameter is in the query.
func (f *Form) InQuery(name string) bool {
	return slices.ContainsFunc(f.parameters[:f.queried], func(each parameter) bool { return each.Name == name })
}

// Reset empties the form and drops references to its values.
func (f *Form) Reset() {
	clear(f.parameters)
	f.parameters, f.queried = f.parameters[:0], 0
}

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

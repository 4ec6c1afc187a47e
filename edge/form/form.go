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

// Form holds the parameters of one request: those of the query, then those of the body. The zero
// Form is empty and ready. It is not safe for concurrent use.
type Form struct {
	parameters []Pair
	// queried is the number of parameters from the query.
	queried int
	// broken has the names of the parameters whose name or value is not valid text.
	broken []string
}

// Pair is one parameter as the client sent it, decoded.
type Pair struct{ Name, Value string }

// ParseQuery adds the parameters of a query. Call it before ParseBody. It reports whether there
// are at most MaxParameters.
func (f *Form) ParseQuery(encoded string) (within bool) {
	within = f.ParseBody(encoded)
	f.queried = len(f.parameters)
	return within
}

// ParseBody adds the parameters of one application/x-www-form-urlencoded string. It stops at
// MaxParameters and reports whether all fit. Unlike net/url, it reads `;` as an ordinary
// character, and it rejects characters that XML 1.0 cannot carry.
func (f *Form) ParseBody(encoded string) (within bool) {
	for encoded != "" {
		var pair string
		pair, encoded, _ = strings.Cut(encoded, "&")
		if pair == "" {
			continue
		}
		if len(f.parameters)+len(f.broken) == MaxParameters {
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
			f.parameters = append(f.parameters, Pair{name, value})
		}
	}
	return true
}

// Get returns the last value of a parameter. The body wins over the query.
func (f *Form) Get(name string) (value string, present bool) {
	for i := len(f.parameters) - 1; i >= 0; i-- {
		if f.parameters[i].Name == name {
			return f.parameters[i].Value, true
		}
	}
	return "", false
}

// Count returns how often a parameter occurs.
func (f *Form) Count(name string) (n int) {
	for i := range f.parameters {
		if f.parameters[i].Name == name {
			n++
		}
	}
	return n
}

// InQuery reports whether a parameter is in the query.
func (f *Form) InQuery(name string) bool {
	return slices.ContainsFunc(f.parameters[:f.queried], func(each Pair) bool { return each.Name == name })
}

// Broken returns the names of the parameters whose name or value is not valid text. Each name is
// safe to show.
func (f *Form) Broken() []string { return f.broken }

// Effective returns the parameters as operations read them: each name once, with its last value.
// The last parameter comes first.
func (f *Form) Effective() []Pair {
	effective := make([]Pair, 0, len(f.parameters))
	seen := make(map[string]bool, len(f.parameters))
	for _, each := range slices.Backward(f.parameters) {
		if !seen[each.Name] {
			seen[each.Name] = true
			effective = append(effective, each)
		}
	}
	return effective
}

// Reset empties the form and drops references to its values.
func (f *Form) Reset() {
	clear(f.parameters)
	f.parameters, f.queried, f.broken = f.parameters[:0], 0, nil
}

// showName makes any name safe to show in a reply: at most 40 bytes, with `?` for each byte that
// is not printable ASCII.
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

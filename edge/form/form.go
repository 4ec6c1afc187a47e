// Package form turns the bytes of a request's parameters into values. It knows neither
// HTTP nor the operations.
package form

import (
	"slices"
	"strings"
)

// MaxParameters is how many parameters a request may have. It is far above what any
// operation takes (13), and keeps it cheap to find a parameter by scanning.
const MaxParameters = 100

// Form holds the parameters of one request, those of the query before those of
// the body. The zero Form is empty and ready. One goroutine uses it.
type Form struct {
	parameters []Pair
	// queried is how many of the parameters came in the query.
	queried int
	// broken names the parameters whose name or value cannot be text.
	broken []string
}

// Pair is one parameter as it was sent.
type Pair struct{ Name, Value string }

// ParseQuery adds the parameters of a query, before those of the body. It reports
// whether there are at most MaxParameters.
func (f *Form) ParseQuery(encoded string) (within bool) {
	within = f.ParseBody(encoded)
	f.queried = len(f.parameters)
	return within
}

// ParseBody adds the parameters of one application/x-www-form-urlencoded string.
// It reports whether they were within MaxParameters, and stops where they are
// not. Unlike net/url it takes `;` for an ordinary character, and refuses what
// XML 1.0 could not give back.
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

// Get returns the last value of a parameter: the body's before the query's.
func (f *Form) Get(name string) (value string, present bool) {
	for i := len(f.parameters) - 1; i >= 0; i-- {
		if f.parameters[i].Name == name {
			return f.parameters[i].Value, true
		}
	}
	return "", false
}

// Count is how often a parameter came.
func (f *Form) Count(name string) (n int) {
	for i := range f.parameters {
		if f.parameters[i].Name == name {
			n++
		}
	}
	return n
}

// InQuery reports whether the query had a parameter.
func (f *Form) InQuery(name string) bool {
	return slices.ContainsFunc(f.parameters[:f.queried], func(each Pair) bool { return each.Name == name })
}

// Broken names the parameters whose name or value cannot be text, each fit to be shown.
func (f *Form) Broken() []string { return f.broken }

// Effective returns the parameters as operations read them: each name once, with its
// last value, the last parameter first.
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

// Reset empties the form and lets go of what it held.
func (f *Form) Reset() {
	clear(f.parameters)
	f.parameters, f.queried, f.broken = f.parameters[:0], 0, nil
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

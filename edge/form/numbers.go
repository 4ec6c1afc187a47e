package form

import (
	"strconv"
	"strings"
)

const (
	// maxIntegerLength is above the length of any useful integer.
	maxIntegerLength = 40
	// maxDecimalLength has room for every number that a reply may contain: without an exponent, the
	// smallest double has 327 characters.
	maxDecimalLength = 400
)

// Syntax is the form of a parameter's values. A value in another form gets a failure that says so,
// instead of a range.
type Syntax int

// The syntaxes of parameters.
const (
	AnySyntax     Syntax = iota // a text or one of a list
	IntegerSyntax               // what ParseInteger accepts, and such numbers below zero
	DecimalSyntax               // what ParseDecimal accepts, and such numbers of any size
)

// fits reports whether s has the form.
func (syntax Syntax) fits(s string) bool {
	switch syntax {
	case IntegerSyntax:
		digits := strings.TrimPrefix(s, "-")
		return digits != "" && countDigits(digits) == len(digits)
	case DecimalSyntax:
		return isDecimal(s)
	}
	return true
}

// describe returns the form in words, and then the hint of the parameter.
func (syntax Syntax) describe(hint string) string {
	switch syntax {
	case IntegerSyntax:
		return "an integer, " + hint
	case DecimalSyntax:
		return "a decimal number, " + hint
	}
	return hint
}

// ParseDecimal parses a decimal number as programming languages print it: `25.034`, `.5`, `5.`,
// `1e-07` or `5.0E-4`, with an optional minus (rule 2.3). It rejects plus signs before the number,
// blanks, hexadecimal, NaN, Inf, and a number that no double can hold. Negative zero becomes zero.
func ParseDecimal(s string) (float64, bool) {
	if len(s) > maxDecimalLength || !isDecimal(s) {
		return 0, false
	}
	value, err := strconv.ParseFloat(s, 64)
	if err != nil || value == 0 {
		return 0, err == nil
	}
	return value, true
}

// isDecimal reports whether s is `-?(digits[.[digits]]|.digits)`, with an optional exponent
// `[eE][+-]?digits`.
func isDecimal(s string) bool {
	s = strings.TrimPrefix(s, "-")
	whole, fraction := countDigits(s), 0
	s = s[whole:]
	if s != "" && s[0] == '.' {
		fraction = countDigits(s[1:])
		s = s[1+fraction:]
	}
	if whole+fraction == 0 || s == "" {
		return whole+fraction > 0
	}
	if s[0] != 'e' && s[0] != 'E' {
		return false
	}
	s = s[1:]
	if s != "" && (s[0] == '+' || s[0] == '-') {
		s = s[1:]
	}
	return s != "" && countDigits(s) == len(s)
}

// ParseInteger parses digits only; leading zeros are fine. It rejects a number that does not fit
// an int64.
func ParseInteger(s string) (int64, bool) {
	if s == "" || len(s) > maxIntegerLength || countDigits(s) != len(s) {
		return 0, false
	}
	value, err := strconv.ParseInt(s, 10, 64)
	return value, err == nil
}

// countDigits returns how many decimal digits s starts with.
func countDigits(s string) int {
	n := 0
	for n < len(s) && '0' <= s[n] && s[n] <= '9' {
		n++
	}
	return n
}

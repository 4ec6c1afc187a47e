package form

import (
	"cmp"
	"math"
	"strconv"
	"strings"

	"github.com/waybook/waybook/edge/failure"
)

// Parameter is one parameter of the interface.
type Parameter struct {
	// Name is the name in the form and in the info of a failure.
	Name string
	// Title is the name for people.
	Title Title
	// Hint tells people which values are valid.
	Hint string
	// Syntax is the form of the values.
	Syntax Syntax
	// Range is the range of a number that the Reader checks. It is nil if the services do.
	Range *Range
	// OneOf names the parameters of which one must be sent, and this is one; empty if it is the
	// only one.
	OneOf string
	// EmptyIsAbsent says that an empty value counts as not sent although the parameter is
	// required, as it does with OneOf.
	EmptyIsAbsent bool
}

// Title is a name for people, in English and in Chinese.
type Title [2]string

// Range is a range of integers, both ends included.
type Range struct{ Min, Max int64 }

// Includes reports whether s is a number in the range.
func (r *Range) Includes(s string) bool {
	n, ok := ParseDecimal(s)
	return ok && float64(r.Min) <= n && n <= float64(r.Max)
}

// Missing returns the failure of a request without the parameter.
func (p Parameter) Missing() *failure.Failure {
	return &failure.Failure{Reason: "MISSING_PARAMETER", Info: "MISSING PARAMETER: " + cmp.Or(p.OneOf, p.Name)}
}

// Invalid returns the failure of a request with an invalid value of the parameter.
func (p Parameter) Invalid() *failure.Failure {
	return &failure.Failure{Reason: "INVALID_PARAMETER", Info: "INVALID PARAMETER: " + p.Name + " (" + p.Hint + ")"}
}

// Unreadable returns the failure of a request with a value of the parameter that is not valid
// text.
func (p Parameter) Unreadable() *failure.Failure {
	return &failure.Failure{Reason: "INVALID_ENCODING", Info: "INVALID ENCODING: " + p.Name}
}

// malformed returns the failure of a request with a value that does not have the syntax.
func (p Parameter) malformed() *failure.Failure {
	p.Hint = p.Syntax.describe(p.Hint)
	return p.Invalid()
}

const (
	// maxIntegerLength is above the length of any useful integer.
	maxIntegerLength = 40
	// maxDecimalLength has room for every number that a reply may contain: without an exponent,
	// the smallest double has 327 characters.
	maxDecimalLength = 400
)

// Syntax is the form of a parameter's values. A value in another form gets a failure that says so,
// instead of a range.
type Syntax int

// The syntaxes of parameters.
const (
	AnySyntax     Syntax = iota // a text
	WordSyntax                  // one of a list
	IntegerSyntax               // what ParseInteger accepts, and such numbers below zero
	DecimalSyntax               // what ParseDecimal accepts, and such numbers of any size
)

// trim returns a value without the blanks around it, which count in texts only (rule 2.12).
func (syntax Syntax) trim(s string) string {
	if syntax == AnySyntax {
		return s
	}
	return strings.Trim(s, " \t\r\n")
}

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

// The functions below convert the text of a parameter to a value. They check the syntax; the
// services check ranges. They also reject a number that no field can hold, because the service
// would never see it.

// MaxID is the highest identifier of any kind, 2^53-1.
const MaxID = 1<<53 - 1

// Text accepts any text.
func Text(s string) (string, bool) { return s, true }

// Decimal accepts a decimal number; its range is a rule of the services.
func Decimal(s string) (float64, bool) { return ParseDecimal(s) }

// ID accepts an integer up to MaxID. That it is positive is a rule of the services.
func ID(s string) (int64, bool) {
	value, ok := ParseInteger(s)
	return value, ok && value <= MaxID
}

// Int32 accepts an integer that fits an int32.
func Int32(s string) (int32, bool) {
	value, ok := ParseInteger(s)
	if !ok || value > math.MaxInt32 {
		return 0, false
	}
	return int32(value), true
}

// Enum accepts the number of an enumeration's value. It rejects 0, which means "not given" in
// the services' contracts.
func Enum[E ~int32](s string) (E, bool) {
	value, ok := Int32(s)
	return E(value), ok && value != 0
}

// Flag accepts true or false in any letter case, 1 and 0. The check of the length rejects
// non-ASCII letters that fold to ASCII.
func Flag(s string) (bool, bool) {
	switch {
	case s == "1", len(s) == len("true") && strings.EqualFold(s, "true"):
		return true, true
	case s == "0", len(s) == len("false") && strings.EqualFold(s, "false"):
		return false, true
	}
	return false, false
}

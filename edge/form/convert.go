package form

import (
	"math"
	"strings"
)

// Conversions from the text of a parameter to a value. They judge the syntax only: ranges
// are rules of the services' contracts. What a field of a contract cannot hold is refused
// here, because the contract would never see it.

// MaxID is the highest identifier of any kind, 2^53-1.
const MaxID = 1<<53 - 1

// Text takes any text.
func Text(s string) (string, bool) { return s, true }

// Decimal takes a plain decimal.
func Decimal(s string) (float64, bool) { return ParseDecimal(s) }

// ID takes an identifier.
func ID(s string) (int64, bool) { return ParseInteger(s) }

// Int32 takes a whole number that an int32 holds.
func Int32(s string) (int32, bool) {
	value, ok := ParseInteger(s)
	if !ok || value > math.MaxInt32 {
		return 0, false
	}
	return int32(value), true
}

// Enum takes the number of a value of an enumeration. In the services' contracts 0 means
// "not given"; in a form it is no value.
func Enum[E ~int32](s string) (E, bool) {
	value, ok := Int32(s)
	return E(value), ok && value != 0
}

// Flag takes true or false in any letter case. Comparing lengths keeps out the letters
// beyond ASCII that fold to ASCII ones.
func Flag(s string) (bool, bool) {
	switch {
	case len(s) == len("true") && strings.EqualFold(s, "true"):
		return true, true
	case len(s) == len("false") && strings.EqualFold(s, "false"):
		return false, true
	}
	return false, false
}

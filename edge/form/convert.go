package form

import (
	"math"
	"strings"
)

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

package form

import "strconv"

// maxNumberLength is above the length of any useful number: a double needs at most 17
// significant digits.
const maxNumberLength = 40

// ParseDecimal parses a plain decimal, `-?digits[.digits]`. It rejects plus signs, blanks,
// exponents, hexadecimal, NaN and Inf. Negative zero becomes zero.
func ParseDecimal(s string) (float64, bool) {
	if len(s) > maxNumberLength {
		return 0, false
	}
	whole := s
	if s != "" && s[0] == '-' {
		whole = s[1:]
	}
	n := countDigits(whole)
	if n == 0 {
		return 0, false
	}
	if rest := whole[n:]; rest != "" {
		if rest[0] != '.' || len(rest) == 1 || countDigits(rest[1:]) != len(rest)-1 {
			return 0, false
		}
	}
	value, err := strconv.ParseFloat(s, 64)
	if err != nil || value == 0 {
		return 0, err == nil
	}
	return value, true
}

// ParseInteger parses digits only; leading zeros are fine. It rejects a number that does not fit
// an int64.
func ParseInteger(s string) (int64, bool) {
	if s == "" || len(s) > maxNumberLength || countDigits(s) != len(s) {
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

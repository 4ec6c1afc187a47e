// Package small has a place for each kind of mutant.
package small

import "errors"

// Count counts the numbers up to a bound. A test meets the bound.
func Count(numbers []int, bound int) (count int) {
	for i := 0; i < len(numbers); i++ {
		if numbers[i] <= bound {
			count++
		}
	}
	return count
}

// IsMeagre compares with a bound that no test meets, and with one that a test meets.
func IsMeagre(n int) bool { return n > 10 && n < 20 }

// Check returns an error that a test sees.
func Check(n int) error {
	var err error
	switch {
	case n == 0:
		err = errors.New("nothing")
	}
	return err
}

// Equal is called without a difference.
func Equal(a, b int) bool { return a == b }

// Told calls twice. A test sees one of the calls.
func Told() (told []string) {
	tell := func(text ...string) { told = append(told, text...) }
	tell("seen")
	tell()
	return told
}

// Unused is called by nobody.
func Unused(a, b bool) bool { return a || b }

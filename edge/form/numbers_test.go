package form

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/waybook/waybook/edge/reply"
)

func TestADecimalIsANumberAsLanguagesPrintIt(t *testing.T) {
	for s, want := range map[string]float64{
		"0": 0, "25.033": 25.033, "-121.5654": -121.5654, "007": 7, "90.0": 90, "0.1": 0.1,
		".5": 0.5, "-.5": -0.5, "5.": 5, "1e-07": 1e-07, "5.0E-4": 5e-4, "1E+02": 100, "1e3": 1000, "1.e1": 10, ".1e1": 1,
		strings.Repeat("0", maxDecimalLength-1) + "7": 7,
		"1e-400": 0, "0e999": 0, "2.2250738585072014e-308": 2.2250738585072014e-308,
	} {
		if value, ok := ParseDecimal(s); !ok || value != want {
			t.Errorf("%q was read as %v, %v", s, value, ok)
		}
	}
	for _, s := range []string{
		"", "-", ".", "-.", "+1", "+.5", " 1", "1 ", "e", "e1", ".e1", "1e", "1e+", "1e--1", "1e1.5", "1e1e1", "1d-7", "0x10", "0x1p-2", "NaN", "nan",
		"Inf", "-Inf", "infinity", "1_000", "1,5", "--1", "1.2.3", "1e400", "-1e400", "１", "1\n", strings.Repeat("0", maxDecimalLength) + "7",
	} {
		if value, ok := ParseDecimal(s); ok {
			t.Errorf("%q was read as %v", s, value)
		}
	}
}

func TestAnIntegerIsDigitsOnly(t *testing.T) {
	for _, s := range []string{
		"", "-1", "+1", " 1", "1 ", "1.0", "1.", ".5", "1e3", "0x10", "1_000", "１", "9223372036854775808", strings.Repeat("0", maxIntegerLength+1),
	} {
		if value, ok := ParseInteger(s); ok {
			t.Errorf("%q was read as %v", s, value)
		}
	}
	if value, ok := ParseInteger(strings.Repeat("0", maxIntegerLength-16) + "9007199254740991"); !ok || value != MaxID {
		t.Errorf("got %v, %v", value, ok)
	}
}

func TestANumberFitsItsField(t *testing.T) {
	for s, accepted := range map[string][3]bool{ // as an identifier, an int32, an enumeration
		"0": {true, true, false}, "1": {true, true, true}, "2147483647": {true, true, true}, "2147483648": {true, false, false},
		"9007199254740991": {true, false, false}, "9007199254740992": {false, false, false}, "x": {false, false, false},
	} {
		_, isID := ID(s)
		_, isInt32 := Int32(s)
		_, isEnum := Enum[int32](s)
		if got := [3]bool{isID, isInt32, isEnum}; got != accepted {
			t.Errorf("%s: accepted %v, want %v", s, got, accepted)
		}
	}
}

func TestNegativeZeroIsZero(t *testing.T) {
	value, ok := ParseDecimal("-0.0")
	if !ok || math.Signbit(value) {
		t.Errorf("got %v, %v", value, ok)
	}
	if got := written(math.Copysign(0, -1)); got != "0" {
		t.Errorf("wrote %q", got)
	}
}

func FuzzNumbersFollowTheGrammarAndReadBackTheSame(f *testing.F) {
	for _, s := range []string{"25.0339639", "-0.000001", "1e5", "-5.0E-324", ".5", "0x1p4", "00", "9007199254740993", "179.99999999999999"} {
		f.Add(s)
	}
	decimal := regexp.MustCompile(`\A-?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?\z`)
	integer := regexp.MustCompile(`\A[0-9]+\z`)
	f.Fuzz(func(t *testing.T, s string) {
		value, ok := ParseDecimal(s)
		isFinite := func(f float64, err error) bool { return err == nil && !math.IsInf(f, 0) }
		if want := decimal.MatchString(s) && len(s) <= maxDecimalLength && isFinite(strconv.ParseFloat(s, 64)); ok != want {
			t.Fatalf("%q: %v, want %v", s, ok, want)
		}
		if ok {
			again, ok := ParseDecimal(written(value))
			if !ok || again != value {
				t.Fatalf("%q was written as %q", s, written(value))
			}
		}
		if _, ok := ParseInteger(s); ok && !integer.MatchString(s) {
			t.Fatalf("%q was read as an integer", s)
		}
	})
}

// written returns a value as a reply writes it.
func written(value float64) string {
	var d reply.Document
	reply.XML{Document: &d}.Decimal("n", value)
	return strings.TrimSuffix(strings.TrimPrefix(string(d.Bytes), "<n>"), "</n>")
}

package form

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/waybook/waybook/edge/reply"
)

func TestNumbersArePlainDecimals(t *testing.T) {
	for _, s := range []string{"0", "-0", "25.033", "-121.5654", "007", "90.0", "0.1"} {
		if _, ok := ParseDecimal(s); !ok {
			t.Errorf("%q was rejected", s)
		}
	}
	for _, s := range []string{
		"", "-", ".", "1.", ".5", "-.5", "+1", " 1", "1 ", "1e3", "1E3", "0x10", "NaN", "nan", "Inf",
		"-Inf", "infinity", "1_000", "1,5", "--1", "1.2.3", "１", strings.Repeat("1", maxNumberLength+1),
	} {
		if value, ok := ParseDecimal(s); ok {
			t.Errorf("%q was read as %v", s, value)
		}
		if value, ok := ParseInteger(s); ok {
			t.Errorf("%q was read as %v", s, value)
		}
	}
	for _, s := range []string{"-1", "1.0", "9223372036854775808"} {
		if value, ok := ParseInteger(s); ok {
			t.Errorf("%q was read as %v", s, value)
		}
	}
	if value, ok := ParseInteger("0009007199254740991"); !ok || value != MaxID {
		t.Errorf("got %v, %v", value, ok)
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
	for _, s := range []string{"25.0339639", "-0.000001", "1e5", "0x1p4", "00", "9007199254740993", "179.99999999999999"} {
		f.Add(s)
	}
	decimal := regexp.MustCompile(`\A-?[0-9]+(\.[0-9]+)?\z`)
	integer := regexp.MustCompile(`\A[0-9]+\z`)
	f.Fuzz(func(t *testing.T, s string) {
		value, ok := ParseDecimal(s)
		if want := decimal.MatchString(s) && len(s) <= maxNumberLength; ok != want {
			t.Fatalf("%q: %v, want %v", s, ok, want)
		}
		if ok {
			again, ok := parseDecimalOfAnyLength(written(value))
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

func parseDecimalOfAnyLength(s string) (float64, bool) {
	value, err := strconv.ParseFloat(s, 64)
	return value, err == nil && !strings.ContainsAny(s, "eExX")
}

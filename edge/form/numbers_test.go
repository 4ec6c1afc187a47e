package form

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/waybook/waybook/edge/reply"
)

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

package operation

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/waybook/waybook/edge/form"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
)

// Each conversion accepts only the spellings of the contract, and returns the value of the
// spelling.
func FuzzAValueIsTakenOnlyAsTheContractSpellsIt(f *testing.F) {
	for _, s := range []string{
		"", "0", "16", "0007", "2147483647", "2147483648", "9223372036854775808", "1000001", "-1", "+1", "1.0", "0_8", "0_9", "有彩虹", "晴",
		"true", "FALSE", "fal\u017fe", "1 ",
	} {
		f.Add(s)
	}
	digits := regexp.MustCompile(`\A[0-9]{1,40}\z`)
	f.Fuzz(func(t *testing.T, s string) {
		want, err := strconv.ParseInt(s, 10, 64)
		isNumber := digits.MatchString(s) && err == nil

		if got, ok := form.ID(s); ok != isNumber || ok && got != want {
			t.Errorf("an id %q: %v, %v", s, got, ok)
		}
		if got, ok := form.Int32(s); ok != (isNumber && want <= math.MaxInt32) || ok && int64(got) != want {
			t.Errorf("an int32 %q: %v, %v", s, got, ok)
		}
		if got, ok := form.Enum[albumv1.AlbumCategory](s); ok != (isNumber && 0 < want && want <= math.MaxInt32) || ok && int64(got) != want {
			t.Errorf("a number %q: %v, %v", s, got, ok)
		}
		if got, ok := form.ParseInteger(s); (ok && paramLimit.Range.Includes(s)) != (isNumber && 0 < want && want <= 1_000_000) || ok && got != want {
			t.Errorf("a limit %q: %v, %v", s, got, ok)
		}
		if got, ok := asQuote(s); ok != (s == "" || isNumber) || got != 0 && got != want {
			t.Errorf("a quote %q: %v, %v", s, got, ok)
		}
		lower := strings.ToLower(s)
		if got, ok := form.Flag(s); ok != (lower == "true" || lower == "false" || s == "0" || s == "1") || got != (lower == "true" || s == "1") {
			t.Errorf("a flag %q: %v, %v", s, got, ok)
		}
		if got, ok := asBlogType(s); ok && (nameOf(blogTypes[:], got) != s || got == 0) || !ok && len(s) == 3 && strings.HasPrefix(s, "0_") && '0' <= s[2] && s[2] <= '8' {
			t.Errorf("a type %q: %v, %v", s, got, ok)
		}
		if got, ok := asWeather(s); ok && (nameOf(weathers[:], got) != s || got == 0) {
			t.Errorf("a weather %q: %v, %v", s, got, ok)
		}
	})
}

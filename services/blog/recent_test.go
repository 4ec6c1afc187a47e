package blog

import (
	"errors"
	"testing"

	"github.com/waybook/waybook/internal/docstore"
)

// A token is either rejected as bad or read as one that is the same again, of a day until today.
func FuzzParseRecent(f *testing.F) {
	const today = day(20260228)
	for _, seed := range []string{"20260228.x", "20260301.x", "020260228.x", "", ".", "20260228."} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		from, token, err := parseRecent(text, today)
		switch {
		case err != nil:
			if !errors.Is(err, docstore.ErrBadToken) {
				t.Fatalf("got error %v", err)
			}
		case from > today || text != "" && recentToken(from, token) != text:
			t.Fatalf("%q was read as %d, %q", text, from, token)
		}
	})
}

package nearby

import (
	"errors"
	"testing"

	"github.com/waybook/waybook/internal/docstore"
)

// A token is either rejected as bad or read as a position that produces the same token
// again.
func FuzzParsePosition(f *testing.F) {
	const origin = 0x01020304
	good := Position{Distance: 1234.5, ID: 7}.token(origin)
	for _, seed := range []string{
		good, good[:len(good)-1], good + "A", good + "\n", "", "!", Position{ID: 1}.token(origin + 1), Position{ID: 0}.token(origin),
		start.token(origin), Position{Distance: 1e9, ID: 1}.token(origin),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, token string) {
		p, err := parsePosition(token, origin)
		switch {
		case err != nil:
			if !errors.Is(err, docstore.ErrBadToken) {
				t.Fatalf("got error %v", err)
			}
		case token == "":
			if p != start {
				t.Fatalf("no token is %v", p)
			}
		case p.token(origin) != token || p.ID < 1 || !(p.Distance >= 0):
			t.Fatalf("%q was read as %v", token, p)
		}
	})
}

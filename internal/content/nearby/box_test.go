package nearby

import (
	"errors"
	"math"
	"testing"

	"github.com/waybook/waybook/internal/docstore"
)

var world = Box{south: -90, west: -180, north: 90, east: 180}

// A token is either rejected as bad or read as a position that produces the same token
// again.
func FuzzParseBoxToken(f *testing.F) {
	w := boxWalk[int]{box: world}
	good := w.token(cellPosition{CellOf(25, 121), 7})
	for _, seed := range []string{
		good, good[:len(good)-1], good + "A", "", "!", w.token(cellPosition{CellOf(25, 121), 0}), w.token(cellPosition{0, 1}),
		w.token(cellPosition{CellOf(25, 121), math.MaxInt64}), boxWalk[int]{box: world, category: 1}.token(cellPosition{CellOf(25, 121), 7}),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, token string) {
		p, err := w.parse(token)
		switch {
		case err != nil:
			if !errors.Is(err, docstore.ErrBadToken) {
				t.Fatalf("got error %v", err)
			}
		case token == "":
			if p != nil {
				t.Fatalf("no token is %v", p)
			}
		case w.token(*p) != token || p.id < 1 || p.id+1 < p.id || !isLeaf(p.cell):
			t.Fatalf("%q was read as %v", token, p)
		}
	})
}
